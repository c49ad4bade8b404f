#include "network/waitlist.h"

#include <stdlib.h>

#include "engine/memory.h"
#include "engine/status.h"

void waitlist_add(struct waitlist *list, struct waitlist_item item)
{
    if (list->count == list->capacity)
        list->items = memory_grow(list->items, &list->capacity, list->count + 1, sizeof *list->items);
    struct waitlist_item *items = list->items;
    size_t at = list->count++;
    for (; at > 0 && turn_is_before(&item.turn, &items[(at - 1) / 2].turn); at = (at - 1) / 2)
        items[at] = items[(at - 1) / 2];
    items[at] = item;
}

uint32_t waitlist_first(const struct waitlist *list)
{
    require(list->count > 0);
    return list->items[0].what;
}

void waitlist_replace(struct waitlist *list, struct waitlist_item item)
{
    struct waitlist_item *items = list->items;
    size_t at = 0;
    for (size_t child = 1; child < list->count; child = 2 * at + 1) {
        if (child + 1 < list->count && turn_is_before(&items[child + 1].turn, &items[child].turn))
            child++;
        if (!turn_is_before(&items[child].turn, &item.turn))
            break;
        items[at] = items[child];
        at = child;
    }
    items[at] = item;
}

uint32_t waitlist_take(struct waitlist *list)
{
    uint32_t what = waitlist_first(list);
    waitlist_replace(list, list->items[--list->count]);
    return what;
}

void waitlist_free(struct waitlist *list)
{
    free(list->items);
    *list = (struct waitlist){0};
}
