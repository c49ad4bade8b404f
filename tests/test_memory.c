/* Statuses, errors and memory.
 *
 * Properties: a message carries its place, prefixes and status; a breach of require() exits 70 and running out of
 * memory exits 3, both with a message on stderr; blocks are zeroed, aligned and hold what was put into them. */
#include "suites.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CUnit/CUnit.h>

#include "engine/calendar.h"
#include "engine/engine.h"
#include "engine/memory.h"
#include "engine/pool.h"
#include "engine/status.h"

/* Under the address sanitizer memory runs out as it does without. */
const char *__asan_default_options(void);
const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

/* Runs act in a child; gives its exit code, and what it wrote to stderr. */
static int exit_code_of(void (*act)(void), char *text, size_t size)
{
    int ends[2];
    if (pipe(ends) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        close(ends[0]);
        act();
        _exit(0); /* without what the parent would do at its end */
    }
    close(ends[1]);
    size_t used = 0;
    ssize_t got;
    while (used + 1 < size && (got = read(ends[0], text + used, size - used - 1)) > 0)
        used += (size_t)got;
    text[used] = '\0';
    close(ends[0]);
    int code = -1;
    waitpid(child, &code, 0);
    return WIFEXITED(code) ? WEXITSTATUS(code) : -1;
}

static void breach(void)
{
    int answer = 41;
    require(answer == 42);
}

static void exhaust_alloc(void)
{
    void *volatile block = memory_alloc(SIZE_MAX / 4, 2);
    (void)block;
}

static void exhaust_grow(void)
{
    size_t capacity = 0;
    void *volatile block = memory_grow(NULL, &capacity, SIZE_MAX / 4, 2);
    (void)block;
}

static void overflow_grow(void)
{
    size_t capacity = 0;
    void *volatile block = memory_grow(NULL, &capacity, SIZE_MAX / 4, 64);
    (void)block;
}

static void overflow_arena(void)
{
    struct arena arena = {0};
    (void)arena_alloc(&arena, SIZE_MAX / 8, 64);
}

/* The address sanitizer needs memory of its own to report and to exit, so limits of the system are tested without it.
 */
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define HAS_SANITIZER
#endif
#elif defined(__SANITIZE_ADDRESS__)
#define HAS_SANITIZER
#endif
#ifdef HAS_SANITIZER
#define LIMITED exhaust_alloc
#else
#define LIMITED exhaust_pool, exhaust_days

/* From here on the system gives this process nothing. */
static void give_nothing(void)
{
    setrlimit(RLIMIT_AS, &(struct rlimit){.rlim_cur = 0, .rlim_max = 0});
}

static void exhaust_pool(void)
{
    struct pool pool;
    pool_init(&pool);
    give_nothing();
    for (int i = 0; i < 1 << 24; i++)
        (void)pool_take(&pool);
}

static void exhaust_days(void)
{
    struct calendar *calendar = calendar_create();
    struct event event = {0};
    for (; event.time < 200000; event.time++)
        (void)calendar_push(calendar, &event);
    give_nothing();
    (void)calendar_pop(calendar, &event);
}

#endif

/* What the engine's own assertions catch. */
static void schedule_nobody(void)
{
    (void)engine_schedule(engine_create(), 0, 0, 1, 0, 0);
}

static void ignore(struct engine *engine, const struct event *event, void *world)
{
    (void)engine;
    (void)event;
    (void)world;
}

static void schedule_past(void)
{
    struct engine *engine = engine_create();
    engine_on(engine, 0, ignore, NULL);
    engine_run(engine, 10);
    (void)engine_schedule(engine, 9, 0, 0, 0, 0);
}

static void step_within(struct engine *engine, const struct event *event, void *world)
{
    (void)event;
    (void)world;
    (void)engine_step(engine);
}

static void run_nested(void)
{
    struct engine *engine = engine_create();
    engine_on(engine, 0, step_within, NULL);
    (void)engine_schedule(engine, 0, 0, 0, 0, 0);
    (void)engine_step(engine);
}

static void push_before_zero(void)
{
    (void)calendar_push(calendar_create(), &(struct event){.time = -1});
}

static void test_bugs(void)
{
    char text[512];
    void (*const acts[])(void) = {schedule_nobody, schedule_past, run_nested, push_before_zero};
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        CU_ASSERT_EQUAL(exit_code_of(acts[i], text, sizeof text), STATUS_BUG);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, "a bug in ocsim"));
    }
}

static void test_exits(void)
{
    char text[512];
    CU_ASSERT_EQUAL(exit_code_of(breach, text, sizeof text), STATUS_BUG);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "answer == 42"));
    void (*const acts[])(void) = {exhaust_alloc, exhaust_grow, overflow_grow, overflow_arena, LIMITED};
    for (size_t i = 0; i < sizeof acts / sizeof *acts; i++) {
        CU_ASSERT_EQUAL(exit_code_of(acts[i], text, sizeof text), STATUS_MEMORY);
        CU_ASSERT_PTR_NOT_NULL(strstr(text, "out of memory"));
    }
}

static void test_errors(void)
{
    struct error error;
    char text[64];
    CU_ASSERT_EQUAL(error_set(NULL, STATUS_IO, "lost"), STATUS_IO);
    CU_ASSERT_EQUAL(error_at(NULL, "a", 1, 1, "lost"), STATUS_USER);
    CU_ASSERT_EQUAL(error_set(&error, STATUS_IO, "disk %d", 7), STATUS_IO);
    error_format(&error, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "disk 7");
    CU_ASSERT_EQUAL(error_wrap(&error, "reading %s", "x"), STATUS_IO);
    error_format(&error, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "reading x: disk 7");
    CU_ASSERT_EQUAL(error_at(&error, "a.yaml", 3, 5, "bad"), STATUS_USER);
    error_format(&error, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "a.yaml:3:5: bad");
    error.column = 0;
    error_format(&error, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "a.yaml:3: bad");
    error.line = 0;
    error_format(&error, text, sizeof text);
    CU_ASSERT_STRING_EQUAL(text, "a.yaml: bad");
}

static void test_blocks(void)
{
    unsigned char *block = memory_alloc(100, 3);
    unsigned sum = 0;
    for (int i = 0; i < 300; i++)
        sum += block[i];
    CU_ASSERT_EQUAL(sum, 0);
    free(block);
    void *empty = memory_alloc(0, 0);
    CU_ASSERT_PTR_NOT_NULL(empty);
    free(empty);
    size_t capacity = 0;
    int *numbers = NULL;
    for (int i = 0; i < 1000; i++) {
        numbers = memory_grow(numbers, &capacity, (size_t)i + 1, sizeof *numbers);
        numbers[i] = i;
    }
    CU_ASSERT_EQUAL(numbers[999], 999);
    CU_ASSERT_TRUE(capacity >= 1000 && capacity <= 2048);
    numbers = memory_grow(numbers, &capacity, 5000, sizeof *numbers);
    CU_ASSERT_EQUAL(capacity, 5000);
    CU_ASSERT_EQUAL(numbers[500], 500);
    free(numbers);
    char *text = memory_text("circuit", 4);
    CU_ASSERT_STRING_EQUAL(text, "circ");
    free(text);
}

static void test_arena(void)
{
    struct arena arena = {0};
    char *text = arena_text(&arena, "optical", 7);
    for (size_t i = 1; i < 3000; i++) {
        unsigned char *block = arena_alloc(&arena, i, 1);
        CU_ASSERT_EQUAL((uintptr_t)block % 16, 0);
        CU_ASSERT_EQUAL(block[0] | block[i - 1], 0);
        memset(block, 0xff, i);
    }
    unsigned char *large = arena_alloc(&arena, 1 << 20, 1);
    CU_ASSERT_EQUAL(large[(1 << 20) - 1], 0);
    CU_ASSERT_STRING_EQUAL(text, "optical");
    CU_ASSERT_TRUE(arena.total > 1 << 20);
    arena_free(&arena);
    CU_ASSERT_EQUAL(arena.total, 0);
    CU_ASSERT_PTR_NULL(arena.chunks);
}

void suite_memory(void)
{
    CU_pSuite suite = CU_add_suite("memory and status", NULL, NULL);
    CU_add_test(suite, "bugs exit 70, no memory exits 3", test_exits);
    CU_add_test(suite, "misuse of the engine exits 70", test_bugs);
    CU_add_test(suite, "errors", test_errors);
    CU_add_test(suite, "blocks", test_blocks);
    CU_add_test(suite, "arenas", test_arena);
}
