/* Properties held here: servers are numbered by group, rack and place, and named so; every topology of the repo loads;
 * a file that RAMP cannot be built from is refused with its name. */
#include <CUnit/Basic.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"
#include "suites.h"
#include "topology/topology.h"

static void test_published_cluster(void)
{
    struct topology t;
    struct error error;
    char name[TOPOLOGY_NAME_BYTES];
    CU_ASSERT_EQUAL_FATAL(topology_load("topologies/ramp-32.yaml", &t, &error), STATUS_OK);
    CU_ASSERT_EQUAL(t.server_count, 32);
    CU_ASSERT_EQUAL(t.device.memory_bytes, 80e9);
    CU_ASSERT_EQUAL(t.node_rate_bytes_per_s, 1.6e12);
    CU_ASSERT_EQUAL(t.propagation_ps, 50000);
    CU_ASSERT_EQUAL(t.io_latency_ps, 100000);
    CU_ASSERT_STRING_EQUAL(t.device.name, "A100");
    CU_ASSERT_EQUAL(topology_name(&t, 0, name), 5);
    CU_ASSERT_STRING_EQUAL(name, "0-0-0");
    topology_name(&t, 3, name);
    CU_ASSERT_STRING_EQUAL(name, "0-1-1");
    topology_name(&t, 31, name);
    CU_ASSERT_STRING_EQUAL(name, "3-3-1");
    topology_free(&t);
}

static void test_all_files(void)
{
    glob_t found;
    CU_ASSERT_EQUAL_FATAL(glob("topologies/*.yaml", 0, NULL, &found), 0);
    CU_ASSERT(found.gl_pathc >= 7);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        struct topology t;
        struct error error;
        CU_ASSERT_EQUAL_FATAL(topology_load(found.gl_pathv[i], &t, &error), STATUS_OK);
        /* The number of a file named ramp-<servers> is that of its servers. */
        const char *number = strstr(found.gl_pathv[i], "ramp-");
        if (number)
            CU_ASSERT_EQUAL(t.server_count, strtoul(number + 5, NULL, 10));
        for (uint32_t server = 0; server < t.server_count; server++) {
            uint32_t group = topology_group(&t, server), rack = topology_rack(&t, server);
            if (group >= t.groups || rack >= t.racks_per_group ||
                ((int64_t)group * t.racks_per_group + rack) * t.servers_per_rack + topology_place(&t, server) != server)
                CU_FAIL("a server's place does not give back its number");
        }
        topology_free(&t);
    }
    globfree(&found);
}

static void test_refusals(void)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"groups: 2\nracks_per_group: 3\nservers_per_rack: 2\n", "racks_per_group is 3, groups is 2"},
        {"groups: 1\nracks_per_group: 1\nservers_per_rack: 3\n", "at most 2 servers a rack"},
        {"groups: 4\nracks_per_group: 2\nservers_per_rack: 2\nramp: {planes: 3}\n",
         "ramp.planes is 3, racks_per_group is 2"},
        {"groups: 2\nracks_per_group: 2\n", "servers_per_rack"},
        {"groups: 2\nracks_per_group: 2\nservers_per_rack: 2\nnode_rate: 5\n", "node_rate"},
        {"groups: 0\nracks_per_group: 2\nservers_per_rack: 2\n", "groups"},
        {"groups: 2\nracks_per_group: 2\nservers_per_rack: 65\n", "servers_per_rack"},
        {"groups: 2\nracks_per_group: 2\nservers_per_rack: 2\ngrups: 2\n", "did you mean"},
        {"groups: [", ""},
    };
    char *folder = oracle_folder();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char *path = oracle_write(folder, "t.yaml", cases[i].text);
        struct topology t = {.server_count = 77};
        struct error error = {0};
        CU_ASSERT_EQUAL(topology_load(path, &t, &error), STATUS_USER);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, cases[i].said));
        CU_ASSERT_STRING_EQUAL(error.file, path);
        CU_ASSERT_EQUAL(t.server_count, 77);
        free(path);
    }
    oracle_remove(folder);
    free(folder);
}

void suite_topology(void)
{
    CU_pSuite suite = CU_add_suite("topology", NULL, NULL);
    CU_ADD_TEST(suite, test_published_cluster);
    CU_ADD_TEST(suite, test_all_files);
    CU_ADD_TEST(suite, test_refusals);
}
