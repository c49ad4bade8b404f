/* Fuzz target: streams of jobs to replay.
 *
 * Whatever the bytes: a mistake is STATUS_USER with a message; otherwise there is a job, arrivals never go back, and
 * every beta is above 0 and at most 1.
 */
#include <stdint.h>

#include "cluster/workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct workload workload = {.clock = {1}};
    struct models models = {0};
    struct error error = {0};
    enum status status = workload_parse(&workload, size ? (const char *)data : "", size, &models, &error);
    if (status == STATUS_OK) {
        struct job job;
        bool has_job = true;
        sim_time last = 0;
        require(workload.row_count > 0);
        while (workload_next(&workload, &job, &has_job, &error) == STATUS_OK && has_job) {
            require(job.arrival >= last && job.beta > 0 && job.beta <= 1 && job.model < models.count);
            last = job.arrival;
        }
    } else {
        require((status == STATUS_USER || status == STATUS_IO) && error.message[0]);
    }
    workload_free(&workload);
    models_free(&models);
    return 0;
}
