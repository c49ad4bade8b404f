/* Drawing through gnuplot: see figure_draw.h. gnuplot runs without the user's start-up files and writes under other
 * names; a picture gets its name once it is whole. */
#include "figures/figure_draw.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { PATH_BYTES = 4096, LINE_BYTES = 241 };
static const size_t picture_limit_bytes = (size_t)1 << 28;

static enum status make_path(const struct figure_place *place, const struct figure_spec *spec, const char *suffix,
                             char path[PATH_BYTES], struct error *error)
{
    int length = snprintf(path, PATH_BYTES, "%s/%s%s", place->directory, spec->name, suffix);
    if (length < 0 || length >= PATH_BYTES)
        return error_set(error, STATUS_IO, "the path of the figures is too long: %.200s...", place->directory);
    return STATUS_OK;
}

/* ---- points ---- */

const char *figure_number(double value, const char *nothing, char text[UNITS_TEXT_BYTES])
{
    if (isnan(value))
        return nothing;
    units_format_number(value, text);
    return text;
}

static void write_point(struct file_writer *writer, const struct figure_spec *spec, const struct figure_points *points,
                        const struct figure_point *point)
{
    char x[UNITS_TEXT_BYTES], y[UNITS_TEXT_BYTES], half_width[UNITS_TEXT_BYTES];
    bool has_name = figure_has_categories(spec);
    csv_write(writer, has_name ? points->categories[point->category].text : figure_number(point->x, "", x));
    file_printf(writer, ",");
    csv_write(writer, points->series[point->series].text);
    file_printf(writer, ",%s,%s,%llu,", figure_number(point->y, "", y),
                figure_number(point->half_width, "", half_width), (unsigned long long)point->n);
    csv_write(writer, points->averaged_over);
    file_printf(writer, "\n");
}

enum status figure_write_points(const struct figure_place *place, const struct figure_spec *spec,
                                struct figure_points *points, struct error *error)
{
    char path[PATH_BYTES];
    struct file_writer *writer;
    TRY(make_path(place, spec, ".csv", path, error));
    TRY(file_create(path, &writer, error));
    file_printf(writer, "x,series,mean,half_width_95,n,averaged_over\n");
    for (size_t i = 0; i < points->count; i++)
        write_point(writer, spec, points, &points->points[i]);
    return file_finish(writer, error);
}

/* ---- gnuplot ---- */

/* What gnuplot reads and writes; all but the figures themselves are removed. */
enum { SCRIPT, LOG, RAW_PDF, RAW_PNG, PDF, PNG, FILE_COUNT };

struct drawing {
    char paths[FILE_COUNT][PATH_BYTES];
};

static enum status name_files(const struct figure_place *place, const struct figure_spec *spec, struct drawing *drawing,
                              struct error *error)
{
    static const char *const suffixes[FILE_COUNT] = {".gp", ".log", ".raw.pdf", ".raw.png", ".pdf", ".png"};
    for (size_t i = 0; i < FILE_COUNT; i++)
        TRY(make_path(place, spec, suffixes[i], drawing->paths[i], error));
    return STATUS_OK;
}

static enum status write_script(const struct figure_place *place, const struct figure_spec *spec,
                                struct figure_points *points, const struct drawing *drawing, struct error *error)
{
    static const char *const formats[] = {"probe", "pdf", "png"};
    char file[64];
    const char *style, *plot;
    struct arena *arena = &points->arena;
    struct file_writer *writer;
    struct file_search search = {.folder = "plots"};
    snprintf(file, sizeof file, "%s.gp", figure_plot_name(spec->plot));
    TRY(file_find(&search, "style.gp", arena, &style, error));
    TRY(file_find(&search, file, arena, &plot, error));
    TRY(file_create(drawing->paths[SCRIPT], &writer, error));
    file_printf(writer, "PDF = %s\nPNG = %s\n", figure_quote(arena, drawing->paths[RAW_PDF], false),
                figure_quote(arena, drawing->paths[RAW_PNG], false));
    enum status status = figure_script(writer, place, spec, points, error);
    if (status != STATUS_OK) {
        file_abandon(writer);
        return status;
    }
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        file_printf(writer, "FORMAT = '%s'\nload %s\nload %s\nunset output\n", formats[i],
                    figure_quote(arena, style, false), figure_quote(arena, plot, false));
    return file_finish(writer, error);
}

/* The environment with a fixed clock, so that two drawings of one figure are the same bytes. Returned owned: free. */
static char **fixed_environment(void)
{
    static char epoch[] = "SOURCE_DATE_EPOCH=0", zone[] = "TZ=UTC0";
    size_t count = 0, kept = 0;
    while (environ[count])
        count++;
    char **list = memory_alloc(count + 3, sizeof *list);
    for (size_t i = 0; i < count; i++)
        if (strncmp(environ[i], "TZ=", 3) != 0 && strncmp(environ[i], "SOURCE_DATE_EPOCH=", 18) != 0)
            list[kept++] = environ[i];
    list[kept++] = epoch;
    list[kept] = zone;
    return list;
}

static int spawn_gnuplot(const struct drawing *drawing, pid_t *child)
{
    char program[] = "gnuplot", plain[] = "-d";
    char *script = memory_text(drawing->paths[SCRIPT], strlen(drawing->paths[SCRIPT]));
    char *arguments[] = {program, plain, script, NULL};
    char **environment = fixed_environment();
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, drawing->paths[LOG], O_WRONLY | O_CREAT | O_TRUNC, 0666);
    posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    int code = posix_spawnp(child, program, &actions, NULL, arguments, environment);
    posix_spawn_file_actions_destroy(&actions);
    free(environment);
    free(script);
    return code;
}

/* What gnuplot said last: its last line that is not empty, after lines that repeat the command and point at the place.
 */
static void read_last_line(const struct drawing *drawing, char line[LINE_BYTES])
{
    char *text = NULL;
    size_t size = 0;
    snprintf(line, LINE_BYTES, "nothing");
    if (file_read(drawing->paths[LOG], 1 << 20, &text, &size, NULL) != STATUS_OK)
        return;
    while (size && (isspace((unsigned char)text[size - 1]) || iscntrl((unsigned char)text[size - 1])))
        size--;
    size_t start = size;
    while (start && text[start - 1] != '\n' && size - start < LINE_BYTES - 1)
        start--;
    for (size_t i = start; i < size; i++)
        if (iscntrl((unsigned char)text[i]))
            text[i] = ' ';
    while (start < size && text[start] == ' ')
        start++;
    if (size)
        snprintf(line, LINE_BYTES, "%.*s", (int)(size - start), text + start);
    free(text);
}

static enum status run_gnuplot(const struct drawing *drawing, const char *name, struct error *error)
{
    char line[LINE_BYTES];
    pid_t child;
    int wait_status;
    int code = spawn_gnuplot(drawing, &child);
    if (code == ENOENT || code == EACCES)
        return error_set(error, STATUS_IO,
                         "gnuplot was not found in PATH; install the package gnuplot-nox and run `ocsim plot` again "
                         "(the points are written, in figures/*.csv)");
    if (code != 0)
        return error_set(error, STATUS_IO, "cannot start gnuplot: %s", strerror(code));
    while (waitpid(child, &wait_status, 0) < 0)
        if (errno != EINTR)
            return error_set(error, STATUS_IO, "cannot wait for gnuplot: %s", strerror(errno));
    if (WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0)
        return STATUS_OK;
    /* The reason comes last and must fit, so the name of the figure stands for its long path. */
    read_last_line(drawing, line);
    return error_set(error, STATUS_IO, "gnuplot failed on figure %s (%s %d); it said: %s", name,
                     WIFSIGNALED(wait_status) ? "signal" : "exit code",
                     WIFSIGNALED(wait_status) ? WTERMSIG(wait_status) : WEXITSTATUS(wait_status), line);
}

/* cairo stamps PDFs with the time of day; the digits are overwritten, so no offset in the file moves. */
static void clear_date(char *bytes, size_t size)
{
    static const char mark[] = "/CreationDate (D:", fixed[] = "19700101000000";
    char *found = memmem(bytes, size, mark, sizeof mark - 1);
    size_t room = sizeof mark - 1 + sizeof fixed - 1;
    if (found && (size_t)(bytes + size - found) > room)
        memcpy(found + sizeof mark - 1, fixed, sizeof fixed - 1);
}

/* Gives a picture that is whole its name. */
static enum status publish_picture(const struct drawing *drawing, int from, int to, struct error *error)
{
    const char *raw = drawing->paths[from];
    char *bytes;
    size_t size;
    struct file_writer *writer;
    enum status status = file_read(raw, picture_limit_bytes, &bytes, &size, error);
    if (status != STATUS_OK) {
        char line[LINE_BYTES];
        const char *slash = strrchr(raw, '/');
        read_last_line(drawing, line);
        return error_set(error, STATUS_IO, "gnuplot left no %s; it said: %s", slash ? slash + 1 : raw, line);
    }
    clear_date(bytes, size);
    status = file_create(drawing->paths[to], &writer, error);
    if (status == STATUS_OK) {
        file_append(writer, bytes, size);
        status = file_finish(writer, error);
    }
    free(bytes);
    return status;
}

enum status figure_draw(const struct figure_place *place, const struct figure_spec *spec, struct figure_points *points,
                        struct error *error)
{
    struct drawing *drawing = memory_alloc(1, sizeof *drawing);
    enum status status = name_files(place, spec, drawing, error);
    if (status == STATUS_OK)
        status = write_script(place, spec, points, drawing, error);
    if (status == STATUS_OK) {
        status = run_gnuplot(drawing, spec->name, error);
        if (status == STATUS_OK)
            status = publish_picture(drawing, RAW_PDF, PDF, error);
        if (status == STATUS_OK)
            status = publish_picture(drawing, RAW_PNG, PNG, error);
        for (int i = SCRIPT; i < PDF; i++)
            unlink(drawing->paths[i]);
    }
    free(drawing);
    return status;
}
