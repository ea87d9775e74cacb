/* profile.c: runs a model several times and keeps the least times of each node and operator; see
 * fxprofile.h. Called by programs and the command `bench`; profile_print.c prints the result. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/storage.h"
#include "pass/profile.h"
#include "pass/record.h"
#include "run/inputs.h"
#include "run/interpreter.h"

enum { DEFAULT_ROUNDS = 5 };

typedef struct measuring {
    fxs_profile *p;
    fxs_module *m;
    const fxs_profile_options *opt;
    fxs_value *inputs;
    fxs_least *least;
    bool first;
    bool timed;    /* the steps of this run have seconds */
    double making; /* of this run */
    size_t done;
} measuring;

/* ---- one run
 * ------------------------------------------------------------------------------------------------
 */

static fxs_status keep_row(measuring *u, const fxs_node *n, const fxs_step *step) {
    fxs_profile *p = u->p;
    const char *what = step->op ? step->op->name : fxs_kind_name(n->kind);
    const char *name = fxs_arena_dup(&p->arena, n->name, strlen(n->name));
    if (!name)
        return fxs_fail_memory(p->ctx);
    p->nodes[step->index] =
        (fxs_profile_row){.name = name,
                          .operator_name = what,
                          .calls = 1,
                          .seconds = INFINITY,
                          .flops = step->cost.flops,
                          .bytes = step->cost.bytes_read + step->cost.bytes_written};
    p->totals.failed += step->outcome != FXS_DONE;
    return FXS_OK;
}

static fxs_status after_node(void *user, fxs_node *n, const fxs_step *step) {
    measuring *u = user;
    u->making += step->making;
    if (u->first) {
        FXS_TRY(fxs_least_after(u->least, n, step));
        return keep_row(u, n, step);
    }
    fxs_profile_row *row = &u->p->nodes[step->index];
    if (!u->timed)
        return FXS_OK;
    row->seconds = step->seconds < row->seconds ? step->seconds : row->seconds;
    return FXS_OK;
}

/* Seconds of the whole run, as fxs_run would take them. */
static fxs_status run_once(measuring *u, bool stats, double *seconds) {
    fxs_observer observers[3] = {
        {fxs_record_meta, u->m->ctx}, {after_node, u}, {fxs_record_stats, u->m->ctx}};
    fxs_interpret how = {.mode = u->opt->mode,
                         .clock = u->opt->clock,
                         .train = u->opt->train,
                         .timed = u->opt->mode == FXS_RUN_EXECUTE || stats,
                         .keep_parameters = true,
                         .inputs = u->inputs,
                         .observers = observers,
                         .nobservers = stats && u->opt->mode == FXS_RUN_EXECUTE ? 3 : 2};
    u->making = 0;
    u->timed = how.timed;
    double start = fxs_now(u->opt->clock);
    FXS_TRY(fxs_interpret_graph(u->m, &how));
    double took = fxs_now(u->opt->clock) - start - u->making;
    *seconds = took < *seconds ? took : *seconds;
    if (u->opt->progress)
        u->opt->progress(u->opt->user, ++u->done, 1 + 2 * (size_t)u->p->totals.rounds);
    return FXS_OK;
}

/* ---- all runs
 * -----------------------------------------------------------------------------------------------
 */

static fxs_status add_parameters(void *user, const char *path, fxs_module *m) {
    double *bytes = user;
    (void)path;
    for (size_t i = 0; i < m->nattributes; i++) {
        const fxs_parameter *p = m->attributes[i].param;
        if (p->made_for == m && p->data && p->data->storage && p->data->storage->blocks)
            *bytes += (double)p->data->storage->piece.capacity;
    }
    return FXS_OK;
}

static fxs_status run_all(measuring *u) {
    fxs_profile_totals *t = &u->p->totals;
    t->first = t->steady = t->plain = INFINITY;
    u->first = true;
    FXS_TRY(run_once(u, true, &t->first));
    u->first = false;
    fxs_blocks_forget_peak(u->p->ctx->blocks);
    for (unsigned i = 0; i < t->rounds; i++) {
        FXS_TRY(run_once(u, false, &t->plain));
        FXS_TRY(run_once(u, true, &t->steady));
    }
    double parameters = 0;
    fxs_module_walk(u->m, add_parameters, &parameters);
    t->activations = (double)fxs_blocks_peak(u->p->ctx->blocks) - parameters;
    t->least = fxs_least_bytes(u->least);
    return FXS_OK;
}

static fxs_status measure(measuring *u, const fxs_inputs *in) {
    FXS_TRY(fxs_inputs_bind(in, u->m->graph, u->opt->mode, &u->inputs));
    FXS_TRY(fxs_least_new(u->m->ctx, u->m->graph, &u->least));
    return run_all(u);
}

/* ---- rows
 * ---------------------------------------------------------------------------------------------------
 */

static int by_time(const void *a, const void *b) {
    double x = ((const fxs_profile_row *)a)->seconds, y = ((const fxs_profile_row *)b)->seconds;
    return x < y ? 1 : x > y ? -1 : 0;
}

static fxs_status sum_up(fxs_profile *p) {
    fxs_map seen = {0}; /* operator's name -> its row */
    fxs_status s = FXS_OK;
    for (size_t i = 0; i < p->nnodes && s == FXS_OK; i++) {
        const fxs_profile_row *n = &p->nodes[i];
        fxs_profile_row *row = fxs_map_get(&seen, n->operator_name);
        if (!row) {
            row = &p->operators[p->noperators++];
            *row = (fxs_profile_row){.name = n->operator_name, .operator_name = n->operator_name};
            if (!fxs_map_put(&seen, n->operator_name, strlen(n->operator_name), row))
                s = fxs_fail_memory(p->ctx);
        }
        row->calls++;
        row->seconds += n->seconds;
        row->flops += n->flops;
        row->bytes += n->bytes;
        p->totals.seconds += n->seconds;
        p->totals.flops += n->flops;
        p->totals.bytes += n->bytes;
    }
    fxs_map_free(&seen);
    return s;
}

static void sort_rows(fxs_profile *p, fxs_profile_row *rows, size_t n) {
    for (size_t i = 0; i < n; i++)
        rows[i].share = p->totals.seconds > 0 ? rows[i].seconds / p->totals.seconds : 0;
    qsort(rows, n, sizeof *rows, by_time);
}

static fxs_status make(fxs_profile *p, fxs_module *m, const fxs_inputs *in,
                       const fxs_profile_options *opt) {
    measuring u = {.p = p, .m = m, .opt = opt};
    p->nnodes = p->totals.nodes = m->graph->len;
    p->totals.rounds = opt->rounds ? opt->rounds : DEFAULT_ROUNDS;
    p->nodes = FXS_NEW_N(&p->arena, fxs_profile_row, p->nnodes);
    p->operators = FXS_NEW_N(&p->arena, fxs_profile_row, p->nnodes);
    if (!p->nodes || !p->operators)
        return fxs_fail_memory(p->ctx);
    fxs_status s = measure(&u, in);
    fxs_least_free(u.least);
    fxs_input_values_free(u.inputs, m->graph);
    fxs_drop_parameters(m);
    FXS_TRY(s);
    FXS_TRY(sum_up(p));
    sort_rows(p, p->nodes, p->nnodes);
    sort_rows(p, p->operators, p->noperators);
    return FXS_OK;
}

fxs_status fxs_profile_run(fxs_module *m, const fxs_inputs *in, const fxs_profile_options *opt,
                           fxs_profile **out) {
    fxs_profile_options defaults = {0};
    *out = NULL;
    if (!m->graph)
        return fxs_fail(m->ctx, FXS_EINVAL, "module %s has no graph to run", m->class_name);
    fxs_profile *p = fxs_alloc0(1, sizeof *p);
    if (!p)
        return fxs_fail_memory(m->ctx);
    p->ctx = m->ctx;
    fxs_status s = make(p, m, in, opt ? opt : &defaults);
    if (s == FXS_OK)
        *out = p;
    else
        fxs_profile_free(p);
    return s;
}

void fxs_profile_free(fxs_profile *p) {
    if (!p)
        return;
    fxs_arena_clear(&p->arena);
    fxs_free(p);
}

const fxs_profile_totals *fxs_profile_all(const fxs_profile *p) { return &p->totals; }

const fxs_profile_row *fxs_profile_rows(const fxs_profile *p, fxs_profile_by by, size_t *n) {
    *n = by == FXS_BY_NODE ? p->nnodes : p->noperators;
    return by == FXS_BY_NODE ? p->nodes : p->operators;
}
