/* A small folder of results: see sample_folder.h. */
#include "sample_folder.h"

#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cluster/metrics.h"
#include "engine/memory.h"
#include "input/file.h"

static const char template[] = "build/figures-XXXXXX";
static char root[sizeof template];

const char *sample_root(void)
{
    return root;
}

const char *sample_path(const char *name)
{
    static char path[4096];
    snprintf(path, sizeof path, "%s/%s", root, name);
    return path;
}

void sample_write(const char *name, const char *text)
{
    FILE *file = fopen(sample_path(name), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fputs(text, file);
    fclose(file);
}

char *sample_read(const char *name)
{
    char *text = NULL;
    size_t size;
    if (file_read(sample_path(name), 1 << 24, &text, &size, NULL) != STATUS_OK)
        return memory_text("", 0);
    return text;
}

bool sample_has(const char *name)
{
    return access(sample_path(name), F_OK) == 0;
}

/* runs.csv with whatever metrics there are: the blocking rate as given, one left empty, the others 1. */
FILE *sample_open_runs(void)
{
    FILE *file = fopen(sample_path("runs.csv"), "w");
    CU_ASSERT_PTR_NOT_NULL_FATAL(file);
    fprintf(file, "run,policy,load,seed,status");
    for (int i = 0; i < METRIC_COUNT; i++)
        fprintf(file, ",%s", metric_name((enum metric)i));
    fprintf(file, ",events,trace_hash\n");
    return file;
}

void sample_write_row(FILE *file, const char *start, const char *rate)
{
    fprintf(file, "%s", start);
    for (int i = 0; i < METRIC_COUNT; i++)
        fprintf(file, ",%s", i == METRIC_BLOCKING_RATE ? rate : i == METRIC_SPEEDUP_MEAN ? "" : "1");
    fprintf(file, ",99,00\n");
}

void sample_write_one_run(const char *start, const char *rate)
{
    FILE *file = sample_open_runs();
    sample_write_row(file, start, rate);
    fclose(file);
}

/* Blocking rates 0.1 0.2 0.3 and 0.5 0.5 0.8 at 10s; one run each at 20s, the second one failed. */
static void write_runs(void)
{
    static const struct {
        const char *start, *rate;
    } rows[] = {{"0000,a_b,10s,1,ok", "0.1"}, {"0001,a_b,10s,2,ok", "0.2"},    {"0002,a_b,10s,3,ok", "0.3"},
                {"0003,max,10s,1,ok", "0.5"}, {"0004,max,10s,2,ok", "0.5"},    {"0005,max,10s,3,ok", "0.8"},
                {"0006,a_b,20s,1,ok", "0.4"}, {"0007,max,20s,1,failed", "0.9"}};
    FILE *file = sample_open_runs();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        sample_write_row(file, rows[i].start, rows[i].rate);
    fclose(file);
}

void sample_write_summary(int done)
{
    char text[1024];
    snprintf(text, sizeof text,
             "{\"title\": \"<b>R&D</b>\", \"points\": ["
             "{\"settings\": {\"policy\": \"a_b\", \"load\": \"10s\"}, \"runs_done\": 3, \"runs_planned\": 3},"
             "{\"settings\": {\"policy\": \"max\", \"load\": \"10s\"}, \"runs_done\": %d, \"runs_planned\": 3},"
             "{\"settings\": {\"policy\": \"a_b\", \"load\": \"20s\"}, \"runs_done\": 1, \"runs_planned\": 1}]}",
             done);
    sample_write("summary.json", text);
}

/* Run 0: completion times 10, 20, 30 and one blocked job; run 1: 40; the other runs: one of 50 each. */
static void write_jobs(void)
{
    static const char columns[] = "job,model,arrival_s,beta,sequential_s,limit_s,degree,outcome,cause,jct_s,comm_s,"
                                  "comp_s,reconfig_s,wait_s,devices,device_list,payload_s,latency_s,"
                                  "wait_device_s,wait_network_s,energy_j,restarts\n";
    mkdir(sample_path("runs"), 0777);
    for (int run = 0; run < 7; run++) {
        char name[64], text[2048];
        snprintf(name, sizeof name, "runs/%04d", run);
        mkdir(sample_path(name), 0777);
        snprintf(name, sizeof name, "runs/%04d/jobs.csv", run);
        int used = snprintf(text, sizeof text, "%s", columns);
        if (run == 0)
            snprintf(text + used, sizeof text - (size_t)used,
                     "0,vgg16,0,0.29,100,50,2,completed,,10,1,8,1,0,2,0-0-0 0-0-1,,,0,0,,0\n"
                     "1,vgg16,0,0.5,100,50,2,completed,,20,2,16,2,0,2,0-0-0 0-0-1,,,0,0,,0\n"
                     "2,gnmt,0,0.5,100,50,2,completed,,30,3,24,3,0,2,0-0-0 0-0-1,,,0,0,,0\n"
                     "3,gnmt,0,0.5,100,50,2,blocked,late,,,,,,,,,,,,,\n");
        else
            snprintf(text + used, sizeof text - (size_t)used,
                     "0,vgg16,0,0.5,100,50,2,completed,,%d,4,32,4,0,2,0-0-0 0-0-1,,,0,0,,0\n", run == 1 ? 40 : 50);
        sample_write(name, text);
    }
}

void sample_fill(void)
{
    write_runs();
    sample_write_summary(3);
    write_jobs();
    sample_write("scenario.yaml", "figures: null\n");
}

int sample_make(void)
{
    memcpy(root, template, sizeof root);
    return mkdtemp(root) ? 0 : 1;
}

int sample_remove(void)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command) == 0 ? 0 : 1;
}

bool sample_has_gnuplot(void)
{
    return system("gnuplot --version >/dev/null 2>&1") == 0;
}
