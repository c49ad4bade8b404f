/* Progress: see progress.h. */
#include "run/progress.h"

#include <time.h>
#include <unistd.h>

static const double terminal_period_s = 0.2, plain_period_s = 60;

double progress_now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

void progress_start(struct progress *progress, FILE *out, size_t workers)
{
    *progress = (struct progress){.out = out, .workers = workers, .start_s = progress_now_s()};
    progress->is_terminal = out && isatty(fileno(out));
    progress->shown_s = progress->start_s;
}

const char *progress_duration(double time_s, char text[PROGRESS_TIME_BYTES])
{
    const double most_s = 1e15; /* more hours than anybody waits, and few enough for a long */
    long seconds = (long)(time_s < most_s ? time_s + 0.5 : most_s);
    if (time_s < 10)
        snprintf(text, PROGRESS_TIME_BYTES, "%.2fs", time_s);
    else if (seconds < 60)
        snprintf(text, PROGRESS_TIME_BYTES, "%lds", seconds);
    else if (seconds < 3600)
        snprintf(text, PROGRESS_TIME_BYTES, "%ldm%02lds", seconds / 60, seconds % 60);
    else
        snprintf(text, PROGRESS_TIME_BYTES, "%ldh%02ldm", seconds / 3600, seconds % 3600 / 60);
    return text;
}

void progress_format(const struct progress *progress, double now_s, char *text, size_t size)
{
    char digits[32], eta[PROGRESS_TIME_BYTES] = "?";
    int width = snprintf(digits, sizeof digits, "%zu", progress->total);
    double passed_s = now_s - progress->start_s;
    size_t done_now = progress->done - progress->done_before;
    double rate = passed_s > 0 ? (double)done_now / passed_s : 0;
    if (rate > 0)
        progress_duration((double)(progress->total - progress->done) / rate, eta);
    snprintf(text, size, "[%*zu/%zu] %zu%% | %zu worker%s | %.3g runs/s | ETA %s", width, progress->done,
             progress->total, progress->total ? 100 * progress->done / progress->total : 100, progress->workers,
             progress->workers == 1 ? "" : "s", rate, eta);
}

void progress_show(struct progress *progress)
{
    char line[160];
    if (!progress->out)
        return;
    double now_s = progress_now_s();
    if (now_s - progress->shown_s < (progress->is_terminal ? terminal_period_s : plain_period_s))
        return;
    progress->shown_s = now_s;
    progress_format(progress, now_s, line, sizeof line);
    if (progress->is_terminal)
        fprintf(progress->out, "\r%-79s", line);
    else
        fprintf(progress->out, "%s\n", line);
    fflush(progress->out);
    progress->is_line_open = progress->is_terminal;
}

void progress_clear(struct progress *progress)
{
    if (!progress->is_line_open)
        return;
    fprintf(progress->out, "\r%79s\r", "");
    fflush(progress->out);
    progress->is_line_open = false;
}
