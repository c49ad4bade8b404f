#include "fabric/waitlist.h"

#include <stdbool.h>
#include <stdlib.h>

#include "engine/memory.h"
#include "engine/status.h"

static bool is_before(const struct waitlist_item *left, const struct waitlist_item *right)
{
    return left->key < right->key || (left->key == right->key && left->sequence < right->sequence);
}

void waitlist_add(struct waitlist *list, uint64_t key, uint64_t sequence, uint32_t what)
{
    struct waitlist_item item = {key, sequence, what};
    if (list->count == list->capacity)
        list->items = memory_grow(list->items, &list->capacity, list->count + 1, sizeof *list->items);
    size_t at = list->count++;
    for (; at > 0 && is_before(&item, &list->items[(at - 1) / 2]); at = (at - 1) / 2)
        list->items[at] = list->items[(at - 1) / 2];
    list->items[at] = item;
}

uint32_t waitlist_first(const struct waitlist *list)
{
    require(list->count > 0);
    return list->items[0].what;
}

uint32_t waitlist_take(struct waitlist *list)
{
    uint32_t what = waitlist_first(list);
    size_t count = --list->count, at = 0;
    struct waitlist_item last = list->items[count];
    for (size_t child = 1; child < count; child = 2 * at + 1) {
        if (child + 1 < count && is_before(&list->items[child + 1], &list->items[child]))
            child++;
        if (!is_before(&list->items[child], &last))
            break;
        list->items[at] = list->items[child];
        at = child;
    }
    list->items[at] = last;
    return what;
}

void waitlist_free(struct waitlist *list)
{
    free(list->items);
    *list = (struct waitlist){0};
}
