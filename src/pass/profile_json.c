/* profile_json.c: a profile as JSON, through jansson: totals, operators, nodes. */
#include <jansson.h>
#include <math.h>

#include "pass/profile.h"

static void put(json_t *o, const char *key, double x) {
    json_object_set_new(o, key, isfinite(x) ? json_real(x) : json_null());
}

static json_t *rows_of(const fxs_profile *p, fxs_profile_by by) {
    json_t *list = json_array();
    size_t n;
    const fxs_profile_row *rows = fxs_profile_rows(p, by, &n);
    for (size_t i = 0; i < n; i++) {
        json_t *o = json_object();
        json_object_set_new(o, "name", json_string(rows[i].name));
        if (by == FXS_BY_NODE)
            json_object_set_new(o, "operator", json_string(rows[i].operator_name));
        else
            json_object_set_new(o, "nodes", json_integer((json_int_t)rows[i].calls));
        put(o, "seconds", rows[i].seconds);
        put(o, "share", rows[i].share);
        put(o, "flops", rows[i].flops);
        put(o, "bytes", rows[i].bytes);
        json_array_append_new(list, o);
    }
    return list;
}

static int put_chunk(const char *data, size_t len, void *user) {
    fxs_buf_add(user, data, len);
    return ((fxs_buf *)user)->failed ? -1 : 0;
}

fxs_status fxs_profile_json(const fxs_profile *p, fxs_buf *b) {
    const fxs_profile_totals *t = &p->totals;
    json_t *root = json_object(), *nodes = rows_of(p, FXS_BY_NODE);
    json_object_set_new(root, "rounds", json_integer((json_int_t)t->rounds));
    json_object_set_new(root, "node_count", json_integer((json_int_t)t->nodes));
    json_object_set_new(root, "failed", json_integer((json_int_t)t->failed));
    put(root, "first_seconds", t->first);
    put(root, "seconds_with_statistics", t->steady);
    put(root, "seconds_without_statistics", t->plain);
    put(root, "node_seconds", t->seconds);
    put(root, "flops", t->flops);
    put(root, "bytes", t->bytes);
    put(root, "activation_bytes", t->activations);
    put(root, "least_activation_bytes", t->least);
    json_object_set_new(root, "operators", rows_of(p, FXS_BY_OPERATOR));
    bool whole = json_array_size(nodes) == p->nnodes; /* a lost node: memory ran out */
    json_object_set_new(root, "nodes", nodes);
    int bad = root && whole ? json_dump_callback(root, put_chunk, b, JSON_INDENT(1)) : -1;
    fxs_buf_putc(b, '\n');
    json_decref(root);
    return bad || b->failed ? fxs_fail_memory(p->ctx) : FXS_OK;
}
