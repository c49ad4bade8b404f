/* Fuzz target: scenario files and overrides.
 *
 * The input is a scenario, then overrides, each behind a byte 1. Whatever the
 * bytes: a mistake is STATUS_USER with a message; a scenario that is accepted
 * keeps its promises, and its resolved list reads back to the same list.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "engine/memory.h"
#include "scenario/scenario.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { OVERRIDE_LIMIT = 16 };

static char *resolved(const struct scenario *scenario)
{
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    require(stream);
    keys_resolved(&scenario->keys, stream);
    require(fclose(stream) == 0);
    return text;
}

static void check_promises(const struct settings *settings)
{
    require(settings->run.horizon_s >= 0 && settings->run.tick_ps >= 1 && settings->run.seed >= 0);
    require(settings->workload.models.count > 0 && settings->workload.interarrival_s > 0);
    require(settings->workload.steps >= 1 && settings->workload.jobs >= 0);
    require(settings->partition.max_degree >= 1 && settings->partition.quantum_ps >= 1);
    require(settings->topology && settings->workload.beta.strategy && settings->partition.strategy.strategy);
}

static void check_round_trip(const struct scenario *scenario)
{
    char *text = resolved(scenario);
    struct scenario *again = NULL;
    struct error error = {0};
    enum status status = scenario_parse(text, strlen(text), "written", (struct scenario_overrides){0}, &again, &error);
    if (status != STATUS_OK)
        fprintf(stderr, "%s\n%s\n", error.message, text);
    require(status == STATUS_OK);
    char *text_again = resolved(again);
    require(strcmp(text, text_again) == 0);
    free(text_again);
    free(text);
    scenario_free(again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char *text = memory_text(size ? (const char *)data : "", size);
    const char *overrides[OVERRIDE_LIMIT];
    size_t count = 0, length = size;
    for (size_t i = 0; i < size && count < OVERRIDE_LIMIT; i++) {
        if (text[i] != 1)
            continue;
        if (count == 0)
            length = i;
        text[i] = '\0';
        overrides[count++] = text + i + 1;
    }
    struct scenario *scenario = NULL;
    struct error error = {0};
    struct scenario_overrides all = {overrides, count};
    enum status status = scenario_parse(text, length, "fuzz.yaml", all, &scenario, &error);
    require((status == STATUS_OK) == (scenario != NULL));
    if (status == STATUS_OK) {
        check_promises(&scenario->settings);
        check_round_trip(scenario);
        scenario_free(scenario);
    } else {
        require(status == STATUS_USER && error.status == status && error.message[0]);
    }
    free(text);
    return 0;
}
