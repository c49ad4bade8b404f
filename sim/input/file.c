/* Files: see file.h. Reading is one pass with a growing buffer, because pipes do not tell their size; writing goes
 * through a buffer of 64 KiB, so a row of results costs no system call. */
#include "input/file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifndef OCSIM_DATADIR
#define OCSIM_DATADIR "/usr/local/share/ocsim"
#endif

enum { BUFFER_BYTES = 64 * 1024, NAME_LIMIT_BYTES = 4096 };

static enum status fail_io(struct error *error, const char *path, const char *what, int code)
{
    error_at(error, path, 0, 0, "%s: %s", what, strerror(code));
    if (error)
        error->status = STATUS_IO;
    return STATUS_IO;
}

static enum status open_to_read(const char *path, int *descriptor, struct error *error)
{
    int opened = open(path, O_RDONLY | O_CLOEXEC);
    if (opened < 0 && (errno == ENOENT || errno == ENOTDIR))
        return error_at(error, path, 0, 0, "no such file; check the name, it is looked up from the current folder");
    if (opened < 0)
        return fail_io(error, path, "cannot open it", errno);
    *descriptor = opened;
    return STATUS_OK;
}

static size_t expected_size(int descriptor, size_t limit_bytes)
{
    struct stat about;
    if (fstat(descriptor, &about) != 0 || about.st_size <= 0)
        return BUFFER_BYTES;
    size_t size = (size_t)about.st_size;
    return (size < limit_bytes ? size : limit_bytes) + 2; /* one to notice the end, one for the NUL */
}

static ssize_t read_some(int descriptor, char *to, size_t size)
{
    ssize_t got;
    do {
        got = read(descriptor, to, size);
    } while (got < 0 && errno == EINTR);
    return got;
}

enum status file_read(const char *path, size_t limit_bytes, char **text, size_t *size, struct error *error)
{
    require(path && text && size);
    int descriptor = -1;
    enum status status = open_to_read(path, &descriptor, error);
    if (status != STATUS_OK)
        return status;
    size_t capacity = 0, used = 0;
    char *bytes = memory_grow(NULL, &capacity, expected_size(descriptor, limit_bytes), 1);
    for (;;) {
        bytes = memory_grow(bytes, &capacity, used + 2, 1);
        ssize_t got = read_some(descriptor, bytes + used, capacity - used - 1);
        if (got < 0) {
            status = fail_io(error, path, "cannot read it", errno);
            break;
        }
        if (got == 0)
            break;
        used += (size_t)got;
        if (used > limit_bytes) {
            status = error_at(error, path, 0, 0, "the file is too large; at most %zu bytes are read", limit_bytes);
            break;
        }
    }
    close(descriptor);
    if (status != STATUS_OK) {
        free(bytes);
        return status;
    }
    bytes[used] = '\0';
    *text = bytes;
    *size = used;
    return STATUS_OK;
}

struct file_writer {
    int descriptor;
    int failure; /* errno of the first write that failed; 0 = none */
    char *path;
    char *temporary; /* NULL: a device or a pipe, which is written as it is */
    size_t used;
    char buffer[BUFFER_BYTES];
};

static void release(struct file_writer *writer)
{
    free(writer->path);
    free(writer->temporary);
    free(writer);
}

/* Where to write: behind symbolic links, so that they stay; a device or a pipe must not be renamed over. */
static char *temporary_for(const char *path)
{
    struct stat about;
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode) && !S_ISDIR(about.st_mode))
        return NULL;
    size_t length = strlen(path);
    char *temporary = memory_alloc(length + sizeof ".tmp", 1);
    memcpy(temporary, path, length);
    memcpy(temporary + length, ".tmp", sizeof ".tmp");
    return temporary;
}

enum status file_create(const char *path, struct file_writer **writer, struct error *error)
{
    require(path && path[0] && writer);
    struct file_writer *made = memory_alloc(1, sizeof *made);
    char *real = realpath(path, NULL);
    made->path = memory_text(real ? real : path, strlen(real ? real : path));
    free(real);
    made->temporary = temporary_for(made->path);
    const char *target = made->temporary ? made->temporary : made->path;
    made->descriptor = open(target, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (made->descriptor < 0) {
        enum status status = fail_io(error, target, "cannot write it", errno);
        release(made);
        return status;
    }
    *writer = made;
    return STATUS_OK;
}

static void write_out(struct file_writer *writer, const char *bytes, size_t size)
{
    while (size > 0 && !writer->failure) {
        ssize_t put = write(writer->descriptor, bytes, size);
        if (put < 0 && errno != EINTR)
            writer->failure = errno;
        if (put > 0) {
            bytes += put;
            size -= (size_t)put;
        }
    }
}

static void flush(struct file_writer *writer)
{
    write_out(writer, writer->buffer, writer->used);
    writer->used = 0;
}

void file_append(struct file_writer *writer, const void *bytes, size_t size)
{
    require(writer && (bytes || !size));
    if (size > BUFFER_BYTES - writer->used)
        flush(writer);
    if (size > BUFFER_BYTES) {
        write_out(writer, bytes, size);
        return;
    }
    if (size)
        memcpy(writer->buffer + writer->used, bytes, size);
    writer->used += size;
}

void file_printf(struct file_writer *writer, const char *format, ...)
{
    require(writer && format);
    va_list arguments, again;
    va_start(arguments, format);
    va_copy(again, arguments);
    size_t room = BUFFER_BYTES - writer->used;
    int needed = vsnprintf(writer->buffer + writer->used, room, format, arguments);
    va_end(arguments);
    require(needed >= 0);
    if ((size_t)needed < room) {
        writer->used += (size_t)needed;
    } else {
        char *text = memory_alloc((size_t)needed + 1, 1);
        vsnprintf(text, (size_t)needed + 1, format, again);
        file_append(writer, text, (size_t)needed);
        free(text);
    }
    va_end(again);
}

/* The rename itself must be on the disk too, or a power cut could bring the old name back. Some file systems cannot
 * sync a directory (EINVAL): there the rename is as safe as it gets. */
static int sync_directory_of(const char *path)
{
    struct arena arena = {0};
    int descriptor = open(file_directory(path, &arena), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    arena_free(&arena);
    if (descriptor < 0)
        return errno;
    int code = fsync(descriptor) != 0 && errno != EINVAL ? errno : 0;
    close(descriptor);
    return code;
}

enum status file_finish(struct file_writer *writer, struct error *error)
{
    require(writer);
    flush(writer);
    if (!writer->failure && writer->temporary && fsync(writer->descriptor) != 0)
        writer->failure = errno;
    if (close(writer->descriptor) != 0 && !writer->failure)
        writer->failure = errno;
    if (!writer->failure && writer->temporary && rename(writer->temporary, writer->path) != 0)
        writer->failure = errno;
    if (writer->failure && writer->temporary)
        unlink(writer->temporary);
    else if (writer->temporary)
        writer->failure = sync_directory_of(writer->path);
    enum status status = writer->failure ? fail_io(error, writer->path, "cannot write it", writer->failure) : STATUS_OK;
    release(writer);
    return status;
}

void file_abandon(struct file_writer *writer)
{
    if (!writer)
        return;
    close(writer->descriptor);
    if (writer->temporary)
        unlink(writer->temporary);
    release(writer);
}

static enum status make_one(const char *path, struct error *error)
{
    if (mkdir(path, 0777) == 0)
        return STATUS_OK;
    int code = errno;
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return STATUS_OK;
    return fail_io(error, path, "cannot make this folder", code);
}

enum status file_make_directory(const char *path, struct error *error)
{
    require(path && path[0]);
    char *part = memory_text(path, strlen(path));
    enum status status = STATUS_OK;
    for (char *slash = strchr(part + 1, '/'); slash && status == STATUS_OK; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        status = make_one(part, error);
        *slash = '/';
    }
    if (status == STATUS_OK)
        status = make_one(part, error);
    free(part);
    return status;
}

const char *file_directory(const char *path, struct arena *arena)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    return slash == path ? "/" : arena_text(arena, path, (size_t)(slash - path));
}

static const char *join(const char *directory, const char *name, const char *suffix, struct arena *arena)
{
    size_t size = strlen(directory) + 1 + strlen(name) + strlen(suffix) + 1;
    char *path = arena_alloc(arena, size, 1);
    bool is_here = strcmp(directory, ".") == 0;
    snprintf(path, size, "%s%s%s%s", is_here ? "" : directory, is_here ? "" : "/", name, suffix);
    return path;
}

static const char *program_directory(struct arena *arena)
{
    char path[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0)
        return ".";
    path[length] = '\0';
    return file_directory(path, arena);
}

const char *file_data_folder(const char *folder, int i, struct arena *arena)
{
    require(folder && i >= 0);
    switch (i) {
    case 0:
        return join(".", folder, "", arena);
    case 1:
        return join(program_directory(arena), folder, "", arena);
    case 2:
        return join(OCSIM_DATADIR, folder, "", arena);
    default:
        return NULL;
    }
}

static bool is_there(const char *path)
{
    struct stat about;
    return stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

static const char *try_in(const struct file_search *search, const char *directory, const char *name,
                          struct arena *arena)
{
    const char *path = join(directory, name, "", arena);
    if (is_there(path))
        return path;
    if (!search->suffix)
        return NULL;
    path = join(directory, name, search->suffix, arena);
    return is_there(path) ? path : NULL;
}

/* `topologies/x.yaml` and `x.yaml` are the same file of the folder topologies. */
static const char *name_in_folder(const char *folder, const char *name)
{
    size_t length = strlen(folder);
    return strncmp(name, folder, length) == 0 && name[length] == '/' ? name + length + 1 : name;
}

static const char *look_up(const struct file_search *search, const char *name, struct arena *arena)
{
    if (name[0] == '/')
        return try_in(search, ".", name, arena);
    const char *found = NULL;
    if (search->named_in)
        found = try_in(search, file_directory(search->named_in, arena), name, arena);
    if (!found)
        found = try_in(search, ".", name, arena);
    for (int i = 0; !found && search->folder; i++) {
        const char *directory = file_data_folder(search->folder, i, arena);
        if (!directory)
            break;
        found = try_in(search, directory, name_in_folder(search->folder, name), arena);
    }
    return found;
}

enum status file_find(const struct file_search *search, const char *name, struct arena *arena, const char **path,
                      struct error *error)
{
    require(search && name && arena && path);
    size_t length = strlen(name);
    if (length == 0 || length >= NAME_LIMIT_BYTES)
        return error_set(error, STATUS_USER, "a file name must have from 1 to %d bytes", NAME_LIMIT_BYTES - 1);
    const char *found = look_up(search, name, arena);
    if (found) {
        *path = found;
        return STATUS_OK;
    }
    if (name[0] == '/')
        return error_set(error, STATUS_USER, "no such file: '%s'", name);
    return error_set(error, STATUS_USER,
                     "no such file: '%s'; looked beside the file that names it, in the current folder%s%s%s", name,
                     search->folder ? ", and in " : "", search->folder ? search->folder : "",
                     search->folder ? "/ here, beside the program and in " OCSIM_DATADIR : "");
}
