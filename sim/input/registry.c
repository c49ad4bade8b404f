#include "input/registry.h"

#include <string.h>

const struct strategy *registry_find(const struct registry *registry, const char *name)
{
    require(registry && registry->count > 0 && name);
    for (size_t i = 0; i < registry->count; i++)
        if (strcmp(registry->strategies[i]->name, name) == 0)
            return registry->strategies[i];
    return NULL;
}
