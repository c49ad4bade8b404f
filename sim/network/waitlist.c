#include "network/waitlist.h"

#include <stdlib.h>

#include "engine/memory.h"
#include "engine/status.h"

void waitlist_add(struct waitlist *list, struct waitlist_item item)
{
    if (list->count == list->capacity)
        list->items = memory_grow(list->items, &list->capacity, list->count + 1, sizeof *list->items);
    size_t at = list->count++;
    for (; at > 0 && turn_is_before(&item.turn, &list->items[(at - 1) / 2].turn); at = (at - 1) / 2)
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
        if (child + 1 < count && turn_is_before(&list->items[child + 1].turn, &list->items[child].turn))
            child++;
        if (!turn_is_before(&list->items[child].turn, &last.turn))
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
