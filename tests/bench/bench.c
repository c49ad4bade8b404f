/* Runs the benchmark sections: all of them, or those named as arguments. Exits 1 when a goal is missed. */
#include "bench.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include <gsl/gsl_errno.h>

static const struct {
    const char *name;
    int (*run)(void);
} sections[] = {
    {"queue", bench_queue},
    {"engine", bench_engine},
    {"network", bench_network},
    {"load", bench_load},
};

double bench_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static int is_wanted(const char *name, int argc, char **argv)
{
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], name) == 0)
            return 1;
    return argc == 1;
}

int main(int argc, char **argv)
{
    gsl_set_error_handler_off();
    int missed = 0;
    for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
        if (is_wanted(sections[i].name, argc, argv)) {
            printf("== %s\n", sections[i].name);
            missed += sections[i].run();
        }
    printf("goals missed: %d\n", missed);
    return missed ? 1 : 0;
}
