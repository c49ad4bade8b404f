/* Properties held here: ranks are distinct; shortest remaining time gives shorter costs higher ranks and, among equals,
 * the one placed later; first in first out follows the order of placement alone; names find schedulers. */
#include <CUnit/Basic.h>
#include <stdbool.h>

#include "engine/random.h"
#include "schedule/schedule.h"
#include "strategies.h"
#include "suites.h"

enum { MANY = 1000 };

static void test_by_hand(void)
{
    static const double cost[] = {3, 1, 2, 1, 0, 3};
    static const uint32_t srpt[] = {0, 3, 2, 4, 5, 1}, fifo[] = {5, 4, 3, 2, 1, 0};
    uint32_t rank[6];
    schedule_srpt.rank(cost, 6, rank);
    for (int i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(rank[i], srpt[i]);
    schedule_fifo.rank(cost, 6, rank);
    for (int i = 0; i < 6; i++)
        CU_ASSERT_EQUAL(rank[i], fifo[i]);
}

static void check_ranks(const double *cost, const uint32_t *rank)
{
    bool is_seen[MANY] = {false};
    for (uint32_t i = 0; i < MANY; i++) {
        CU_ASSERT_FATAL(rank[i] < MANY && !is_seen[rank[i]]);
        is_seen[rank[i]] = true;
        for (uint32_t j = 0; j < i; j += 37)
            if (cost[i] <= cost[j])
                CU_ASSERT(rank[i] > rank[j]);
    }
}

static void test_random_costs(void)
{
    static double cost[MANY];
    static uint32_t rank[MANY];
    struct random_stream *random = random_open(3, "costs", 0);
    for (uint32_t i = 0; i < MANY; i++)
        cost[i] = (double)random_below(random, 50);
    schedule_srpt.rank(cost, MANY, rank);
    check_ranks(cost, rank);
    random_close(random);
}

void suite_schedule(void)
{
    CU_pSuite suite = CU_add_suite("schedule", NULL, NULL);
    CU_ADD_TEST(suite, test_by_hand);
    CU_ADD_TEST(suite, test_random_costs);
}
