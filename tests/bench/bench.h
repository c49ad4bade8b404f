/* Benchmarks: one section a file, each a function that prints its table and returns how many of its goals were missed.
 *
 * Times are CPU time of this process, best of a few, and what counts is the ratio of two things measured in turn in
 * the same process: the machine is often shared. To add a section, declare it here and add its line to bench.c.
 */
#ifndef TESTS_BENCH_H
#define TESTS_BENCH_H

#include <stdint.h>

/* CPU time of the process. */
double bench_now_ns(void);

/* The calendar against the reference heap, hold model, seven distributions. */
int bench_queue(void);

/* The engine's loop with dispatch and trace hash. */
int bench_engine(void);

/* The network end to end: random transfers, and all-reduces of up to 65,536 servers. */
int bench_network(void);

/* One transfer under way for each server, on four fabrics. */
int bench_load(void);

#endif
