/* Properties held here: the published formulas (PAC-ML simulator, section 6) by values worked out by hand, on the
 * published cluster: hop 250 ns, transceiver 4e11 B/s, 4 transceivers, roofline 2e12 B/s and 130e12 operations/s. */
#include <CUnit/Basic.h>
#include <math.h>

#include "network/published_formulas.h"
#include "oracle.h"
#include "fabric/fabrics.h"
#include "suites.h"

static struct published_network published(void)
{
    struct topology t;
    struct error error;
    struct published_network network;
    CU_ASSERT_EQUAL_FATAL(fabric_load_topology("topologies/ramp-32.yaml", &t, &error), STATUS_OK);
    published_init(&network, &t);
    topology_free(&t);
    return network;
}

static void test_message(void)
{
    struct published_network network = published();
    CU_ASSERT(oracle_is_near(network.hop_s, 250e-9, 1e-12));
    CU_ASSERT_EQUAL(network.transceiver_rate_bytes_per_s, 4e11);
    CU_ASSERT_EQUAL(published_message_s(&network, 0), 0);
    CU_ASSERT(oracle_is_near(published_message_s(&network, 4e11), 1 + 250e-9, 1e-12));
    CU_ASSERT(oracle_is_near(published_message_s(&network, 1), 250e-9 + 2.5e-12, 1e-12));
}

static double collective_s(double bytes, int64_t groups, int64_t racks, int64_t places)
{
    struct published_network network = published();
    return published_collective_s(&network, bytes, (struct published_spread){groups, racks, places});
}

static void test_collective(void)
{
    const double hops = 2 * 250e-9;
    /* Two groups: 4e11 B over four transceivers of 1e11 B/s, 1 s; halves added at 2e12 / 6 a second, 0.6 s. */
    CU_ASSERT(oracle_is_near(collective_s(8e11, 2, 1, 1), 2 + hops + 0.6, 1e-12));
    /* Two racks of one group: the same. */
    CU_ASSERT(oracle_is_near(collective_s(8e11, 1, 2, 1), 2 + hops + 0.6, 1e-12));
    /* Three groups: two transceivers per pair; two operations at 5e11 a second. */
    CU_ASSERT(oracle_is_near(collective_s(6e11, 3, 1, 1), 2 + hops + 0.4, 1e-12));
    /* Four groups: one transceiver per pair; two operations at 4e11 a second. */
    CU_ASSERT(oracle_is_near(collective_s(4e11, 4, 1, 1), 2 + hops + 0.25, 1e-12));
    /* Two groups, two racks, two places: three rounds of halves. */
    CU_ASSERT(oracle_is_near(collective_s(8e11, 2, 2, 2), 2 * 1.75 + 3 * hops + 1.05, 1e-12));
    /* Inside a rack, and on one server, nothing is paid. */
    CU_ASSERT_EQUAL(collective_s(8e11, 1, 1, 2), 0);
    CU_ASSERT_EQUAL(collective_s(8e11, 1, 1, 1), 0);
}

/* Bytes are rounded up in each round. */
static void test_rounding(void)
{
    struct published_network network = published();
    double one = published_collective_s(&network, 1, (struct published_spread){2, 1, 1});
    CU_ASSERT_EQUAL(published_collective_s(&network, 2, (struct published_spread){2, 1, 1}), one);
    CU_ASSERT(published_collective_s(&network, 3, (struct published_spread){2, 1, 1}) > one);
}

/* More places in a rack than transceivers make a fourth round. */
static void test_wide_rack(void)
{
    struct published_network network = published();
    double narrow = published_collective_s(&network, 8e11, (struct published_spread){1, 1, 4});
    double wide = published_collective_s(&network, 8e11, (struct published_spread){1, 1, 5});
    CU_ASSERT_EQUAL(narrow, 0);
    CU_ASSERT(oracle_is_near(wide, 2 + 2 * 250e-9 + 0.6, 1e-12));
}

static void test_peak(void)
{
    struct published_network network = published();
    network.peak_per_s = 1e11;
    double time_s = published_collective_s(&network, 8e11, (struct published_spread){2, 1, 1});
    CU_ASSERT(oracle_is_near(time_s, 2 + 2 * 250e-9 + 2, 1e-12));
}

void suite_published(void)
{
    CU_pSuite suite = CU_add_suite("published", NULL, NULL);
    CU_ADD_TEST(suite, test_message);
    CU_ADD_TEST(suite, test_collective);
    CU_ADD_TEST(suite, test_rounding);
    CU_ADD_TEST(suite, test_wide_rack);
    CU_ADD_TEST(suite, test_peak);
}
