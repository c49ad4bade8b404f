/* Runs every suite, or the one that OCSIM_SUITE names; exits non-zero when any test fails or none is run. */
#include <CUnit/Basic.h>
#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "suites.h"

static void run_suites(const char *only)
{
    CU_pSuite suite = only ? CU_get_suite(only) : NULL;
    if (!only)
        CU_basic_run_tests();
    else if (suite)
        CU_basic_run_suite(suite);
    else
        fprintf(stderr, "no suite is called '%s'\n", only);
}

int main(void)
{
    gsl_set_error_handler_off();
    if (CU_initialize_registry() != CUE_SUCCESS)
        return 1;
    suite_memory();
    suite_engine();
    suite_engine_calendar();
    suite_graph();
    suite_input();
    suite_input_keys();
    suite_scenario();
    suite_plan();
    suite_task_graph();
    suite_topology();
    suite_published();
    suite_schedule();
    suite_partition();
    suite_step();
    suite_stepper();
    suite_traffic();
    suite_circuit();
    suite_sharing();
    suite_failures();
    suite_deployment();
    suite_whole_step();
    suite_place();
    suite_cluster();
    suite_open_cluster();
    suite_cluster_workload();
    suite_cli();
    suite_results();
    suite_house();
    suite_trace();
    suite_trace_circuits();
    suite_help();
    suite_runner();
    suite_claim();
    suite_compare();
    suite_figures();
    suite_figures_drawing();
    suite_network();
    suite_network_queues();
    suite_network_collective();
    suite_network_reduction();
    suite_network_chooser();
    suite_network_forms();
    suite_network_reference();
    suite_network_lanes();
    suite_network_observer();
    suite_fabric_ring();
    suite_fabric_rotor();
    suite_fabric_awgr();
    suite_fabric_static();
    suite_fabric_static_jobs();
    suite_fabric_packet();
    CU_basic_set_mode(CU_BRM_NORMAL);
    run_suites(getenv("OCSIM_SUITE"));
    unsigned failed = CU_get_number_of_failures() + CU_get_number_of_suites_failed();
    unsigned run = CU_get_number_of_tests_run();
    CU_cleanup_registry();
    return failed || !run ? 1 : 0;
}
