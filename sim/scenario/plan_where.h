/* Conditions on combinations: `where: "load <= 1000 or strategy != random"`.
 *
 *   condition   a comparison, `not c`, `c and c`, `c or c`, `( c )`; not binds
 *               tighter than and, and tighter than or
 *   comparison  two operands and one of == != < <= > >=
 *   operand     the name of an axis, a number, a number with its unit, a text in
 *               quotes, or a bare word that is a value of the axis it stands
 *               against
 *
 * A bare number against an axis with a unit is in seconds, bytes or bytes per
 * second. Kinds are checked once, while reading: a time is not compared with a
 * size, a text not with a number, and texts have no order. Every value is taken
 * as written, whether it has an effect in the combination or not.
 *
 * Kept in postfix order, so holding costs O(length) without recursion.
 * Private to sim/scenario.
 */
#ifndef SCENARIO_PLAN_WHERE_H
#define SCENARIO_PLAN_WHERE_H

#include "scenario/plan_axes.h"

enum { PLAN_WHERE_LIMIT_BYTES = 4096, PLAN_WHERE_DEPTH_LIMIT = 64 };

struct plan_where;

/* Reads the condition into the arena; the result lives until the arena is freed and borrows the sweep. */
STATUS_MUST_USE enum status plan_where_read(const struct yaml_node *text, const struct sweep *sweep,
                                            struct arena *arena, const struct plan_where **where, struct error *error);

/* Does it hold for the combination with these positions along the sweep's dimensions? */
bool plan_where_holds(const struct plan_where *where, const size_t *positions);

#endif
