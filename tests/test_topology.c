/* Properties held here: servers are numbered by group, rack and place, and named so; every topology of the repo loads;
 * a file that RAMP cannot be built from is refused with its name. */
#include <CUnit/Basic.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "oracle.h"
#include "network/collective.h"
#include "network_world.h"
#include "suites.h"
#include "fabric/fabrics.h"
#include "topology/topology.h"

static void test_published_cluster(void)
{
    struct topology t;
    struct error error;
    char name[TOPOLOGY_NAME_BYTES];
    CU_ASSERT_EQUAL_FATAL(fabric_load_topology("topologies/ramp-32.yaml", &t, &error), STATUS_OK);
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
        CU_ASSERT_EQUAL_FATAL(fabric_load_topology(found.gl_pathv[i], &t, &error), STATUS_OK);
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
        {"groups: 1\nracks_per_group: 1\nservers_per_rack: 3\n", "at most 2 servers per rack"},
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
        CU_ASSERT_EQUAL(fabric_load_topology(path, &t, &error), STATUS_USER);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, cases[i].said));
        CU_ASSERT_STRING_EQUAL(error.file, path);
        CU_ASSERT_EQUAL(t.server_count, 77);
        free(path);
    }
    oracle_remove(folder);
    free(folder);
}

/* ---- layouts ---- */

static void parse(const char *text, struct topology *topology)
{
    struct error error = {0};
    enum status status = fabric_parse_topology(text, strlen(text), "t.yaml", topology, &error);
    if (status != STATUS_OK)
        printf("\n  %s\n", error.message);
    CU_ASSERT_EQUAL_FATAL(status, STATUS_OK);
}

static void check_name(const struct topology *topology, uint32_t device, const char *expected)
{
    char name[TOPOLOGY_NAME_BYTES];
    CU_ASSERT_EQUAL(topology_device_name(topology, device, name), (int)strlen(expected));
    CU_ASSERT_STRING_EQUAL(name, expected);
}

static void test_hosts(void)
{
    struct topology t;
    parse("layout: hosts\nhosts: {count: 3, devices: 4}\ndevice.memory: 16GB\nfabric: packet\n", &t);
    CU_ASSERT_EQUAL(t.server_count, 3);
    CU_ASSERT_EQUAL_FATAL(t.device_count, 12);
    CU_ASSERT_EQUAL(t.class_count, 1);
    CU_ASSERT_FALSE(t.has_grid);
    for (uint32_t device = 0; device < 12; device++) {
        CU_ASSERT_EQUAL(topology_host(&t, device), device / 4);
        CU_ASSERT_EQUAL(topology_class(&t, device)->memory_bytes, 16e9);
        CU_ASSERT_EQUAL(topology_class(&t, device)->speed, 1);
    }
    check_name(&t, 0, "0.0");
    check_name(&t, 11, "2.3");
    topology_free(&t);
}

static void test_machines(void)
{
    struct topology t;
    parse("layout: machines\nfabric: ocs\ndevice: {memory: 10GB, peak: 7}\nmachines:\n"
          "  - {name: big, count: 2, devices: 2, speed: 2.5, memory: 32GB, site: 3}\n  - {name: small, device: K80}\n",
          &t);
    static const char *const names[] = {"big-0.0", "big-0.1", "big-1.0", "big-1.1", "small.0"};
    CU_ASSERT_EQUAL(t.server_count, 3);
    CU_ASSERT_EQUAL_FATAL(t.device_count, 5);
    CU_ASSERT_EQUAL_FATAL(t.class_count, 2);
    for (uint32_t device = 0; device < 5; device++) {
        bool is_big = device < 4;
        const struct device_class *class = topology_class(&t, device);
        check_name(&t, device, names[device]);
        CU_ASSERT_EQUAL(topology_host(&t, device), device / 2);
        CU_ASSERT_EQUAL(t.devices[device].site, is_big ? 3 : 0);
        CU_ASSERT_EQUAL(class->memory_bytes, is_big ? 32e9 : 10e9);
        CU_ASSERT_EQUAL(class->speed, is_big ? 2.5 : 1);
        CU_ASSERT_EQUAL(t.speeds[t.devices[device].class], class->speed);
        CU_ASSERT_EQUAL(class->peak_per_s, 7);
        CU_ASSERT_STRING_EQUAL(class->name, is_big ? "" : "K80");
    }
    topology_free(&t);
}

static void test_layout_refusals(void)
{
    static const struct {
        const char *text, *said;
    } cases[] = {
        {"layout: hosts\nfabric: packet\n", "hosts.count"},
        {"layout: hosts\nhosts.count: 2\n", "fabric: ramp needs layout: grid"},
        {"layout: hosts\nhosts.count: 2\ngroups: 2\nfabric: ocs\n", "it counts only with layout: grid"},
        {"layout: hosts\nhosts: {count: 65536, devices: 1024}\nfabric: ocs\nocs.scope: half\n",
         "expected port or switch"},
        {"layout: hosts\nhosts: {count: 65536, devices: 1025}\nfabric: ocs\n", "out of range"},
        {"layout: machines\nfabric: ocs\n", "machines"},
        {"layout: machines\nfabric: ocs\nmachines: []\n", "a list of machines"},
        {"layout: machines\nfabric: ocs\nmachines: {name: x}\n", "a list of machines"},
        {"layout: machines\nfabric: ocs\nmachines: [x]\n", "expected {name"},
        {"layout: machines\nfabric: ocs\nmachines: [{count: 2}]\n", "name is missing"},
        {"layout: machines\nfabric: ocs\nmachines: [{name: \"x y,z\"}]\n", "is no name"},
        {"layout: machines\nfabric: ocs\nmachines: [{name: \"\"}]\n", "is no name"},
        {"layout: machines\nfabric: ocs\nmachines: [{name: a}, {name: a}]\n", "two are called a"},
        {"layout: machines\nfabric: ocs\nmachines: [{name: a-1}, {name: a, count: 2}]\n", "two are called a-1"},
        {"layout: hosts\nhosts.count: 1\ninside.rate: 1e20B/s\nfabric: ocs\n", "out of range"},
        {"layout: hosts\nhosts.count: 1\ninside.latency: 9000000s\nfabric: ocs\n", "out of range"},
        {"layout: machines\nfabric: ocs\nmachines: [{name: x, cuont: 2}]\n", "did you mean count"},
        {"layout: machines\nfabric: ocs\nmachines: [{name: x, speed: 0}]\n", "more than 0"},
        {"layout: machines\nfabric: ocs\nmachines: [{name: abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz}]\n",
         "at most 40"},
        {"layout: machines\nfabric: ocs\nmachines: [{name: a, count: 65536, devices: 1024}, {name: b}]\n", "too many"},
        {"layout: heap\n", "expected grid, hosts or machines"},
        {"groups: 2\nracks_per_group: 2\nservers_per_rack: 2\ninside.rate: 1GB/s\n", "layout: hosts or machines"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct topology t;
        struct error error = {0};
        enum status status = fabric_parse_topology(cases[i].text, strlen(cases[i].text), "t.yaml", &t, &error);
        CU_ASSERT_EQUAL(status, STATUS_USER);
        if (!strstr(error.message, cases[i].said))
            printf("\n  %s  said: %s\n", cases[i].text, error.message);
        CU_ASSERT_PTR_NOT_NULL(strstr(error.message, cases[i].said));
    }
}

/* Between devices of one server: inside.latency + bytes / inside.rate, whatever else goes on there; between servers the
 * fabric, which devices of a server share. */
static void test_inside(void)
{
    struct topology t;
    struct error error = {0};
    struct network *network;
    struct transfer_report reports[4];
    const struct transfer_request requests[] = {{.source = 0, .target = 1, .bytes = 3000000},
                                                {.source = 1, .target = 0, .bytes = 3000000},
                                                {.source = 0, .target = 2, .bytes = 3000000},
                                                {.source = 1, .target = 3, .bytes = 3000000}};
    parse("layout: hosts\nhosts: {count: 2, devices: 2}\ninside: {rate: 300GB/s, latency: 1us}\nfabric: ocs\n"
          "node_rate: 100GB/s\npropagation: 50ns\nio_latency: 100ns\nocs: {switches: 1, reconfiguration: 20us}\n",
          &t);
    struct engine *engine = engine_create();
    CU_ASSERT_EQUAL_FATAL(network_create(engine, &t, &(struct network_options){0}, &network, &error), STATUS_OK);
    for (size_t i = 0; i < 4; i++) {
        struct transfer_request request = requests[i];
        request.done = world_keep;
        request.context = &reports[i];
        CU_ASSERT_EQUAL(network_send(network, &request, NULL, &error), STATUS_OK);
    }
    engine_run(engine, SIM_TIME_MAX);
    for (size_t i = 0; i < 2; i++) {
        CU_ASSERT_EQUAL(reports[i].end, 1000000 + 10000000);
        CU_ASSERT_EQUAL(reports[i].latency, 1000000);
        CU_ASSERT_EQUAL(reports[i].payload, 10000000);
    }
    CU_ASSERT_EQUAL(reports[2].end, 20000000 + 250000 + 30000000);
    CU_ASSERT_EQUAL(reports[3].wait, 50000000);                    /* one port, until the last bit has left */
    CU_ASSERT_EQUAL(reports[3].end, 50000000 + 30000000 + 250000); /* and it stays lit */
    network_destroy(network);
    engine_destroy(engine);
    topology_free(&t);
}

static void keep_collective(void *context, const struct collective_report *report)
{
    *(struct collective_report *)context = *report;
}

/* A reduction takes the time of the class of the device that does it: a slow one holds up the ring. */
static sim_time reduce_on(const char *machines)
{
    struct topology t;
    struct error error = {0};
    char text[400];
    struct collective_report report = {0};
    static const uint32_t members[] = {0, 1, 2, 3};
    snprintf(text, sizeof text, "layout: machines\nfabric: packet\nmachines: [%s]\n", machines);
    parse(text, &t);
    struct engine *engine = engine_create();
    struct network *network;
    CU_ASSERT_EQUAL_FATAL(network_create(engine, &t, &(struct network_options){0}, &network, &error), STATUS_OK);
    struct collectives *collectives = collectives_create(network, NETWORK_KINDS);
    struct collective_request request = {.algorithm = COLLECTIVE_RING,
                                         .members = members,
                                         .member_count = 4,
                                         .bytes = 1000000,
                                         .done = keep_collective,
                                         .context = &report};
    CU_ASSERT_EQUAL(collective_start(collectives, &request, &error), STATUS_OK);
    engine_run(engine, SIM_TIME_MAX);
    collectives_destroy(collectives);
    network_destroy(network);
    engine_destroy(engine);
    topology_free(&t);
    return report.end;
}

static void test_unlike_reductions(void)
{
    sim_time fast = reduce_on("{name: a, count: 4, memory_rate: 2TB/s}");
    sim_time slow = reduce_on("{name: a, count: 4, memory_rate: 1GB/s}");
    sim_time mixed = reduce_on("{name: a, count: 3, memory_rate: 2TB/s}, {name: b, memory_rate: 1GB/s}");
    CU_ASSERT(slow > 10 * fast);
    CU_ASSERT(mixed > 2 * fast && mixed <= slow);
}

/* Load is a share of what all devices can compute: twice the speed, twice the jobs. */
static void test_load_of_fast_devices(void)
{
    struct cluster_result results[2];
    char *folder = oracle_folder();
    for (int fast = 0; fast < 2; fast++) {
        char text[200], key[400];
        snprintf(text, sizeof text, "layout: machines\nfabric: packet\nmachines: [{name: a, count: 8, speed: %d}]\n",
                 1 + fast);
        char *path = oracle_write(folder, fast ? "fast.yaml" : "slow.yaml", text);
        snprintf(key, sizeof key, "topology=%s", path);
        const char *const assignments[] = {key,
                                           "network.model=circuit",
                                           "place.strategy=first_fit",
                                           "workload.load=0.5",
                                           "workload.jobs=10",
                                           "workload.time_unit=ms",
                                           NULL};
        oracle_run(assignments, &results[fast]);
        free(path);
    }
    for (size_t i = 1; i < 10; i++) {
        const struct job_record *slow = &results[0].jobs[i], *fast = &results[1].jobs[i];
        CU_ASSERT(oracle_is_near(slow->arrival_s, 2 * fast->arrival_s, 1e-9));
        CU_ASSERT(oracle_is_near(slow->limit_s, 2 * fast->limit_s, 1e-9));
    }
    cluster_result_free(&results[0]);
    cluster_result_free(&results[1]);
    oracle_remove(folder);
    free(folder);
}

void suite_topology(void)
{
    CU_pSuite suite = CU_add_suite("topology", NULL, NULL);
    CU_ADD_TEST(suite, test_published_cluster);
    CU_ADD_TEST(suite, test_all_files);
    CU_ADD_TEST(suite, test_refusals);
    CU_ADD_TEST(suite, test_hosts);
    CU_ADD_TEST(suite, test_machines);
    CU_ADD_TEST(suite, test_layout_refusals);
    CU_ADD_TEST(suite, test_inside);
    CU_ADD_TEST(suite, test_unlike_reductions);
    CU_ADD_TEST(suite, test_load_of_fast_devices);
}
