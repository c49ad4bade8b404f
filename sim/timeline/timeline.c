/* Timelines: see timeline.h. The array is closed only in timeline_finish, so a file with its name is whole. */
#include "timeline/timeline.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "input/file.h"
#include "input/units.h"

__extension__ typedef unsigned __int128 wide;

struct timeline {
    struct file_writer *writer;
    struct timeline_options options;
    struct timeline_totals totals;
};

struct timeline_lane_end {
    sim_time end;
    uint32_t lane;
};

enum status timeline_create(const char *path, const struct timeline_options *options, struct timeline **timeline,
                            struct error *error)
{
    require(path && options && options->clock.tick_ps >= 1 && options->window_start <= options->window_end);
    struct file_writer *writer;
    enum status status = file_create(path, &writer, error);
    if (status != STATUS_OK)
        return status;
    struct timeline *made = memory_alloc(1, sizeof *made);
    *made = (struct timeline){.writer = writer, .options = *options};
    file_printf(writer, "[");
    *timeline = made;
    return STATUS_OK;
}

/* ---- pieces of JSON ---- */

static void put_json_text(struct timeline *timeline, const char *text)
{
    file_append(timeline->writer, "\"", 1);
    for (; *text; text++) {
        size_t plain = 0;
        while ((unsigned char)text[plain] >= 0x20 && text[plain] != '"' && text[plain] != '\\')
            plain++;
        file_append(timeline->writer, text, plain);
        text += plain;
        if (!*text)
            break;
        file_printf(timeline->writer, "\\u%04x", (unsigned)(unsigned char)*text);
    }
    file_append(timeline->writer, "\"", 1);
}

/* Ticks as microseconds, exactly: a double would lose picoseconds after some hours. */
static void put_microseconds(struct timeline *timeline, sim_time time)
{
    require(time >= 0);
    const wide ps_per_us = 1000000;
    wide time_ps = (wide)time * (wide)timeline->options.clock.tick_ps, whole = time_ps / ps_per_us;
    char digits[40];
    size_t at = sizeof digits;
    do {
        digits[--at] = (char)('0' + (int)(whole % 10));
        whole /= 10;
    } while (whole);
    file_append(timeline->writer, digits + at, sizeof digits - at);
    unsigned rest = (unsigned)(time_ps % ps_per_us);
    if (rest)
        file_printf(timeline->writer, ".%06u", rest);
}

static void put_json_args(struct timeline *timeline, struct timeline_args args)
{
    for (size_t i = 0; i < args.count; i++) {
        char number[UNITS_TEXT_BYTES] = "null";
        file_printf(timeline->writer, i ? "," : ",\"args\":{");
        put_json_text(timeline, args.items[i].name);
        file_printf(timeline->writer, ":");
        if (isfinite(args.items[i].number))
            units_format_number(args.items[i].number, number);
        if (args.items[i].text)
            put_json_text(timeline, args.items[i].text);
        else
            file_printf(timeline->writer, "%s", number);
    }
    file_printf(timeline->writer, args.count ? "}" : "");
}

struct event {
    char phase;
    const char *name;
    uint64_t process;
    const uint64_t *thread; /* NULL = none */
    sim_time start, end;    /* start < 0 = none; end = start: it takes no time */
    struct timeline_args args;
};

static void put_event(struct timeline *timeline, const struct event *event)
{
    struct file_writer *writer = timeline->writer;
    file_printf(writer, "%s{\"ph\":\"%c\",\"name\":", timeline->totals.written++ ? ",\n" : "\n", event->phase);
    put_json_text(timeline, event->name);
    file_printf(writer, ",\"pid\":%" PRIu64, event->process);
    if (event->thread)
        file_printf(writer, ",\"tid\":%" PRIu64, *event->thread);
    if (event->start >= 0) {
        file_printf(writer, ",\"ts\":");
        put_microseconds(timeline, event->start);
    }
    if (event->phase == 'X') {
        file_printf(writer, ",\"dur\":");
        put_microseconds(timeline, event->end - event->start);
    }
    file_printf(writer, event->phase == 'i' ? ",\"s\":\"t\"" : "");
    put_json_args(timeline, event->args);
    file_printf(writer, "}");
}

/* ---- what is written ---- */

bool timeline_is_full(const struct timeline *timeline)
{
    return timeline->totals.written >= timeline->options.limit;
}

bool timeline_wants(const struct timeline *timeline, sim_time start, sim_time end)
{
    require(start <= end);
    return !timeline_is_full(timeline) && end >= timeline->options.window_start &&
           start <= timeline->options.window_end;
}

bool timeline_has_room(const struct timeline *timeline)
{
    return timeline->totals.written < timeline->options.limit / 2;
}

void timeline_leave_out(struct timeline *timeline, sim_time start, sim_time end)
{
    bool is_outside = end < timeline->options.window_start || start > timeline->options.window_end;
    if (!is_outside && timeline->totals.left_out++ == 0)
        timeline->totals.full_at = start;
}

/* Counts what the limit keeps out. */
static void put_if_wanted(struct timeline *timeline, const struct event *event)
{
    if (timeline_wants(timeline, event->start, event->end))
        put_event(timeline, event);
    else
        timeline_leave_out(timeline, event->start, event->end);
}

static void put_name(struct timeline *timeline, const char *what, uint64_t process, const uint64_t *thread,
                     const char *name)
{
    const struct timeline_arg arg = {.name = "name", .text = name};
    if (!timeline_is_full(timeline)) /* else no bar that bears it will follow */
        put_event(timeline, &(struct event){'M', what, process, thread, -1, -1, {&arg, 1}});
}

void timeline_name_process(struct timeline *timeline, uint64_t process, const char *name)
{
    put_name(timeline, "process_name", process, NULL, name);
}

void timeline_name_thread(struct timeline *timeline, struct timeline_track track, const char *name)
{
    put_name(timeline, "thread_name", track.process, &track.thread, name);
}

void timeline_bar(struct timeline *timeline, struct timeline_track track, const char *name, sim_time start,
                  sim_time end, struct timeline_args args)
{
    put_if_wanted(timeline, &(struct event){'X', name, track.process, &track.thread, start, end, args});
}

void timeline_mark(struct timeline *timeline, struct timeline_track track, const char *name, sim_time time,
                   struct timeline_args args)
{
    put_if_wanted(timeline, &(struct event){'i', name, track.process, &track.thread, time, time, args});
}

void timeline_count(struct timeline *timeline, uint64_t process, const char *name, sim_time time, double value)
{
    const struct timeline_arg arg = {.name = name, .number = value};
    put_if_wanted(timeline, &(struct event){'C', name, process, NULL, time, time, {&arg, 1}});
}

enum status timeline_finish(struct timeline *timeline, struct timeline_totals *totals, struct error *error)
{
    file_printf(timeline->writer, "\n]\n");
    enum status status = file_finish(timeline->writer, error);
    if (status == STATUS_OK)
        *totals = timeline->totals;
    free(timeline);
    return status;
}

void timeline_abandon(struct timeline *timeline)
{
    file_abandon(timeline->writer);
    free(timeline);
}

/* ---- lanes ---- */

static bool is_free_before(struct timeline_lane_end a, struct timeline_lane_end b)
{
    return a.end != b.end ? a.end < b.end : a.lane < b.lane;
}

/* The top got a later end: it sinks to its place. */
static void sink(struct timeline_lanes *lanes)
{
    struct timeline_lane_end moved = lanes->heap[0];
    uint32_t hole = 0;
    for (uint32_t child = 1; child < lanes->count; child = 2 * hole + 1) {
        if (child + 1 < lanes->count && is_free_before(lanes->heap[child + 1], lanes->heap[child]))
            child++;
        if (is_free_before(moved, lanes->heap[child]))
            break;
        lanes->heap[hole] = lanes->heap[child];
        hole = child;
    }
    lanes->heap[hole] = moved;
}

uint32_t timeline_lane(struct timeline_lanes *lanes, sim_time start, sim_time end, bool *is_new)
{
    require(start <= end);
    *is_new = !lanes->count || lanes->heap[0].end > start;
    if (!*is_new) {
        uint32_t lane = lanes->heap[0].lane;
        lanes->heap[0].end = end;
        sink(lanes);
        return lane;
    }
    lanes->heap = memory_grow(lanes->heap, &lanes->capacity, lanes->count + 1, sizeof *lanes->heap);
    struct timeline_lane_end added = {end, lanes->count};
    uint32_t hole = lanes->count++;
    for (; hole > 0 && is_free_before(added, lanes->heap[(hole - 1) / 2]); hole = (hole - 1) / 2)
        lanes->heap[hole] = lanes->heap[(hole - 1) / 2];
    lanes->heap[hole] = added;
    return added.lane;
}

void timeline_lanes_fini(struct timeline_lanes *lanes)
{
    free(lanes->heap);
    *lanes = (struct timeline_lanes){0};
}
