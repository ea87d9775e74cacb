/* spread.h: what nodes and boxes that are drawn once for several have together (fxs_spread). */
#ifndef FXS_PASS_SPREAD_H
#define FXS_PASS_SPREAD_H

#include "pass/outline.h"
#include "pass/sum.h"

/* `made` is n's copy in the outline: gives it what all nodes that n is drawn for have. */
fxs_status fxs_spread_node(fxs_outline_writing *w, const fxs_node *n, fxs_node *made);
/* Of a node that gets the results of several that are drawn as one, [a1, a2, a3]: it gets the one
 * once, and its arguments say how many it stands for. */
fxs_status fxs_spread_join(fxs_outline_writing *w, const fxs_node *n, fxs_node *made);
/* `box` is the box of that call, which may be one that only gets what is drawn for several, and has
 * the sums of all calls that it is drawn for, but no parameters yet; outputs are the nodes whose
 * results leave it. */
fxs_status fxs_spread_box(fxs_outline_writing *w, size_t call, fxs_node *box,
                          const fxs_outline_found *outputs);
/* A node whose results leave a box or a level, and how many blocks the runs have that they leave
 * with it (fxs_runs_left). */
typedef struct fxs_leaving {
    const fxs_node *node;
    size_t runs;
} fxs_leaving;
/* The same for a box whose members are drawn for several already; `sum` has added them. */
fxs_status fxs_spread_again(const fxs_sum *sum, const fxs_leaving *outputs, size_t n);
/* spread_each.c: fills s->each: of the nodes that n is drawn for; of a box that is drawn for that
 * many calls; and of one whose members are drawn for several already. */
fxs_status fxs_spread_each(const fxs_outline_plan *p, const fxs_node *n, fxs_spread *s,
                           fxs_arena *arena);
fxs_status fxs_spread_each_box(const fxs_outline_plan *p, const fxs_outline_found *outputs,
                               size_t calls, fxs_spread *s, fxs_arena *arena);
fxs_status fxs_spread_each_again(fxs_ctx *ctx, const fxs_leaving *out, size_t n, fxs_spread *s,
                                 fxs_arena *arena);
/* The first one of the results that leave, as a box or level that is drawn once shows it. */
const fxs_value *fxs_leaving_first(const fxs_leaving *out);
/* The values with the least or greatest sizes of those of all nodes that n is drawn for; counted.
 */
fxs_status fxs_spread_extreme(const fxs_outline_plan *p, const fxs_node *n, bool most,
                              fxs_value *out);
/* Elements of the parameters of the modules that a call is drawn for, each once. */
fxs_status fxs_spread_parameters(const fxs_outline_plan *p, size_t call, int64_t *count);
/* The statistics of all nodes that n is drawn for as one, behind those that `to` has. */
fxs_status fxs_spread_stats(const fxs_outline_plan *p, const fxs_node *n, fxs_node *to);

#endif
