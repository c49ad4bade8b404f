/* Feeds stored inputs to a fuzz target without a fuzzer: every file named on
 * the command line, and every file of every folder named there, in the order of
 * their names. A crash is the failure; otherwise it counts what it fed. Finding
 * nothing to feed is a failure too, so that a lost corpus cannot pass.
 */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "engine/memory.h"
#include "engine/status.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int feed_file(const char *path)
{
    FILE *stream = fopen(path, "rb");
    if (!stream) {
        perror(path);
        return -1;
    }
    uint8_t *data = NULL;
    size_t capacity = 0, size = 0, got;
    do {
        data = memory_grow(data, &capacity, size + 4096, 1);
        got = fread(data + size, 1, capacity - size, stream);
        size += got;
    } while (got > 0);
    fclose(stream);
    /* A block of the exact size lets a sanitizer see one byte too far. */
    uint8_t *exact = memory_alloc(size, 1);
    memcpy(exact, data, size);
    free(data);
    LLVMFuzzerTestOneInput(exact, size);
    free(exact);
    return 1;
}

static int feed_folder(const char *path)
{
    struct dirent **entries;
    int count = scandir(path, &entries, NULL, alphasort);
    int fed = 0;
    if (count < 0) {
        perror(path);
        return -1;
    }
    for (int i = 0; i < count; i++) {
        size_t size = strlen(path) + strlen(entries[i]->d_name) + 2;
        char *name = memory_alloc(size, 1);
        snprintf(name, size, "%s/%s", path, entries[i]->d_name);
        int one = entries[i]->d_name[0] == '.' ? 0 : feed_file(name);
        fed = one < 0 || fed < 0 ? -1 : fed + one;
        free(name);
        free(entries[i]);
    }
    free(entries);
    return fed;
}

int main(int argc, char **argv)
{
    int total = 0;
    for (int i = 1; i < argc; i++) {
        struct stat status;
        int is_folder = stat(argv[i], &status) == 0 && S_ISDIR(status.st_mode);
        int fed = is_folder ? feed_folder(argv[i]) : feed_file(argv[i]);
        if (fed < 0)
            return STATUS_IO;
        total += fed;
    }
    printf("%d inputs replayed\n", total);
    return total > 0 ? STATUS_OK : STATUS_USER;
}
