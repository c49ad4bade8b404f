/* Properties held here: each partitioner on hand-made requests, without any legal degree too; an answer is 0 or one of
 * the legal degrees whatever the request. */
#include <CUnit/Basic.h>
#include <stddef.h>

#include "partition/partition.h"
#include "strategies.h"
#include "suites.h"

static const uint32_t degrees[] = {1, 2, 4, 6, 8, 16};

/* Degrees of at least *context meet the limit. */
static bool is_at_least(void *context, uint32_t degree)
{
    const uint32_t *least = context;
    return degree >= *least;
}

static struct partition_request request_of(uint32_t legal_count, double beta)
{
    return (struct partition_request){
        .legal = degrees, .legal_count = legal_count, .sequential_s = 1000, .limit_s = beta * 1000};
}

static uint32_t min_sufficient(uint32_t legal_count, double beta)
{
    struct partition_request request = request_of(legal_count, beta);
    return partition_min_sufficient.choose(&request);
}

static void test_min_sufficient(void)
{
    CU_ASSERT_EQUAL(min_sufficient(6, 1), 1);
    CU_ASSERT_EQUAL(min_sufficient(6, 0.99), 2);
    CU_ASSERT_EQUAL(min_sufficient(6, 0.5), 2); /* as published, though communication makes it late */
    CU_ASSERT_EQUAL(min_sufficient(6, 0.49), 4);
    CU_ASSERT_EQUAL(min_sufficient(6, 0.2), 6);
    CU_ASSERT_EQUAL(min_sufficient(6, 0.1), 16);
    CU_ASSERT_EQUAL(min_sufficient(6, 0.01), 16); /* none would do: the largest */
    CU_ASSERT_EQUAL(min_sufficient(3, 0.1), 4);
    CU_ASSERT_EQUAL(min_sufficient(0, 0.5), 0);
}

static void test_max_and_fixed(void)
{
    struct partition_request request = request_of(6, 1);
    CU_ASSERT_EQUAL(partition_max.choose(&request), 16);
    int64_t fixed_degree = 8;
    request.settings = &fixed_degree;
    CU_ASSERT_EQUAL(partition_fixed.choose(&request), 8);
    fixed_degree = 5;
    CU_ASSERT_EQUAL(partition_fixed.choose(&request), 4);
    fixed_degree = 100;
    CU_ASSERT_EQUAL(partition_fixed.choose(&request), 16);
    request.legal_count = 2;
    CU_ASSERT_EQUAL(partition_max.choose(&request), 2);
    CU_ASSERT_EQUAL(partition_fixed.choose(&request), 2);
    request.legal_count = 0;
    CU_ASSERT_EQUAL(partition_max.choose(&request), 0);
    CU_ASSERT_EQUAL(partition_fixed.choose(&request), 0);
}

static void test_exact_min(void)
{
    uint32_t least = 5;
    struct partition_request request = request_of(6, 0.2);
    request.meets_limit = is_at_least;
    request.context = &least;
    CU_ASSERT_EQUAL(partition_exact_min.choose(&request), 6);
    least = 1;
    CU_ASSERT_EQUAL(partition_exact_min.choose(&request), 1);
    least = 17; /* no degree can save it */
    CU_ASSERT_EQUAL(partition_exact_min.choose(&request), 0);
}

static void test_trace(void)
{
    struct partition_request request = request_of(5, 1);
    request.trace_degree = 8;
    CU_ASSERT_EQUAL(partition_trace.choose(&request), 8);
    request.trace_degree = 16; /* not legal now */
    CU_ASSERT_EQUAL(partition_trace.choose(&request), 0);
    request.trace_degree = 0;
    CU_ASSERT_EQUAL(partition_trace.choose(&request), 0);
}

/* Each legal degree in its turn: 6000 draws, 1000 expected each, 5 standard deviations of 29 allowed. */
static void test_random(void)
{
    struct random_stream *random = random_open(1, "test", 0);
    struct partition_request request = request_of(6, 1);
    int counts[17] = {0};
    request.random = random;
    for (int i = 0; i < 6000; i++) {
        uint32_t degree = partition_random.choose(&request);
        CU_ASSERT_FATAL(degree <= 16);
        counts[degree]++;
    }
    for (size_t i = 0; i < 6; i++)
        CU_ASSERT(counts[degrees[i]] > 1000 - 145 && counts[degrees[i]] < 1000 + 145);
    request.legal_count = 0;
    CU_ASSERT_EQUAL(partition_random.choose(&request), 0);
    random_close(random);
}

static void test_answers_are_legal(void)
{
    struct random_stream *random = random_open(2, "test", 0);
    for (size_t i = 0; i < partitioners.count; i++) {
        const struct partitioner *partitioner = (const struct partitioner *)partitioners.strategies[i];
        for (uint32_t legal = 0; legal <= 6; legal++)
            for (uint32_t least = 1; least <= 17; least += 4) {
                struct partition_request request = request_of(legal, 1.0 / least);
                request.random = random;
                int64_t fixed_degree = least;
                request.settings = &fixed_degree; /* of the one that has any */
                request.trace_degree = least;
                request.meets_limit = is_at_least;
                request.context = &least;
                uint32_t degree = partitioner->choose(&request);
                bool is_legal = degree == 0;
                for (uint32_t d = 0; d < legal; d++)
                    is_legal = is_legal || degrees[d] == degree;
                CU_ASSERT(is_legal);
            }
    }
    random_close(random);
}

void suite_partition(void)
{
    CU_pSuite suite = CU_add_suite("partition", NULL, NULL);
    CU_ADD_TEST(suite, test_min_sufficient);
    CU_ADD_TEST(suite, test_max_and_fixed);
    CU_ADD_TEST(suite, test_exact_min);
    CU_ADD_TEST(suite, test_trace);
    CU_ADD_TEST(suite, test_random);
    CU_ADD_TEST(suite, test_answers_are_legal);
}
