/* One function a test file: each registers its CUnit suite. tests/main.c calls them all. */
#ifndef TESTS_SUITES_H
#define TESTS_SUITES_H

void suite_memory(void);
void suite_engine(void);
void suite_engine_calendar(void);
void suite_graph(void);
void suite_input(void);
void suite_input_keys(void);
void suite_scenario(void);
void suite_plan(void);

void suite_task_graph(void);
void suite_traffic(void);
void suite_topology(void);
void suite_deployment(void);
void suite_whole_step(void);
void suite_place(void);
void suite_published(void);
void suite_schedule(void);
void suite_partition(void);
void suite_step(void);
void suite_stepper(void);
void suite_circuit(void);
void suite_sharing(void);
void suite_cluster(void);
void suite_open_cluster(void);
void suite_cluster_workload(void);
void suite_results(void);
void suite_cli(void);
void suite_compare(void);
void suite_figures(void);
void suite_figures_drawing(void);
void suite_house(void);
void suite_trace(void);
void suite_trace_circuits(void);
void suite_help(void);
void suite_network(void);
void suite_network_queues(void);
void suite_network_collective(void);
void suite_network_reduction(void);
void suite_network_chooser(void);
void suite_network_forms(void);
void suite_network_lanes(void);
void suite_network_reference(void);
void suite_network_observer(void);
void suite_fabric_ring(void);
void suite_fabric_rotor(void);
void suite_fabric_awgr(void);
void suite_fabric_static(void);
void suite_fabric_static_jobs(void);
void suite_fabric_packet(void);
void suite_runner(void);
void suite_claim(void);
void suite_failures(void);

#endif
