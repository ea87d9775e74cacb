/* report.c: what went wrong in a run, from the recorded facts of the nodes: in short (a few nodes
 * each with its reason), or one line each. Called by the commands after a run; changes nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "session.h"

enum { MAX_SHOWN = 5, MAX_LINE = 1000 };

static fxs_node *first_node(const cli_session *w) {
    return fxs_graph_first(fxs_module_graph(w->model));
}

static bool is_missing_input(const fxs_node *n) {
    return fxs_node_kind(n) == FXS_PLACEHOLDER && fxs_node_meta(n)->outcome == FXS_FAILED;
}

static bool is_failed(const fxs_node *n) {
    return fxs_node_meta(n)->outcome == FXS_FAILED && fxs_node_kind(n) != FXS_PLACEHOLDER;
}

static bool is_unknown(const fxs_node *n) { return fxs_node_meta(n)->outcome == FXS_UNKNOWN; }

static bool is_blocked(const fxs_node *n) { return fxs_node_meta(n)->outcome == FXS_BLOCKED; }

static size_t count(const cli_session *w, bool (*is)(const fxs_node *)) {
    size_t found = 0;
    for (const fxs_node *n = first_node(w); n; n = fxs_node_next(n))
        found += is(n);
    return found;
}

static const char *reason_of(const fxs_node *n) {
    const char *message = fxs_node_meta(n)->message;
    return message ? message : "no reason is recorded";
}

/* ---- in short
 * ------------------------------------------------------------------------------------------ */

static void report_missing_inputs(const cli_session *w) {
    size_t missing = count(w, is_missing_input);
    char names[400] = "";
    size_t len = 0;
    if (!missing)
        return;
    for (const fxs_node *n = first_node(w); n; n = fxs_node_next(n)) {
        const char *name = fxs_node_target(n);
        if (!is_missing_input(n))
            continue;
        if (len + strlen(name) + 8 > sizeof names) {
            strcpy(names + len, ", ...");
            break;
        }
        len += (size_t)snprintf(names + len, sizeof names - len, "%s%s", len ? ", " : "", name);
    }
    if (missing == 1)
        cli_error("%s: no input is given for %s: add -i %s=SHAPE, such as -i %s=1x3x224x224",
                  w->path, names, names, names);
    else
        cli_error("%s: no input is given for %s: add -i NAME=SHAPE for each", w->path, names);
}

/* "model.py:12: " for a node that knows where it was recorded, else nothing. */
static void put_place(const fxs_node *n, char *where, size_t room) {
    fxs_place at = fxs_node_place(n);
    const char *base = at.file ? strrchr(at.file, '/') : NULL;
    *where = '\0';
    if (at.file)
        snprintf(where, room, "%.200s:%d: ", base ? base + 1 : at.file, at.line);
}

/* A node as torch prints it, a message under it, and the module that was running. Without memory
 * its name has to do. */
static void say_node(const char *what, const fxs_node *n) {
    char *text = NULL, where[256];
    const fxs_scope *in = fxs_node_scope(n);
    if (fxs_node_format(n, 0, &text) != FXS_OK)
        text = NULL;
    put_place(n, where, sizeof where);
    cli_error("%s%s%.*s%s\n%s%s%s%s%s%s", where, what, MAX_LINE, text ? text : fxs_node_name(n),
              text && strlen(text) > MAX_LINE ? "..." : "", reason_of(n), in ? "\nin " : "",
              in ? in->class_name : "", in && *in->path ? ", module path '" : "",
              in ? in->path : "", in && *in->path ? "'" : "");
    fxs_free(text);
}

static void report_failed(const cli_session *w) {
    size_t found = 0;
    for (const fxs_node *n = first_node(w); n; n = fxs_node_next(n))
        if (is_failed(n) && found++ < MAX_SHOWN)
            say_node("while running ", n);
    if (found > MAX_SHOWN)
        cli_error("and %zu more failed nodes", found - MAX_SHOWN);
}

/* What an unknown node would need: its operator's, method's or layer's name. */
static const char *operator_of(const cli_session *w, const fxs_node *n) {
    if (fxs_node_kind(n) != FXS_CALL_MODULE)
        return fxs_node_target(n);
    const fxs_module *m = fxs_module_find(w->model, fxs_node_target(n));
    return m ? fxs_module_class(m) : fxs_node_target(n);
}

static bool same_operator(const cli_session *w, const fxs_node *a, const fxs_node *b) {
    return fxs_node_kind(a) == fxs_node_kind(b) &&
           strcmp(operator_of(w, a), operator_of(w, b)) == 0;
}

typedef struct group {
    const fxs_node *first;
    size_t nodes;
} group;

/* Groups unknown nodes by what they need; gives how many nodes are in none of the groups. */
static size_t group_unknown(const cli_session *w, group *groups) {
    size_t rest = 0;
    for (const fxs_node *n = first_node(w); n; n = fxs_node_next(n)) {
        size_t g = 0;
        if (!is_unknown(n))
            continue;
        while (g < MAX_SHOWN && groups[g].first && !same_operator(w, groups[g].first, n))
            g++;
        if (g == MAX_SHOWN) {
            rest++;
            continue;
        }
        if (!groups[g].first)
            groups[g].first = n;
        groups[g].nodes++;
    }
    return rest;
}

static const char *thing_of(const fxs_node *n) {
    fxs_kind kind = fxs_node_kind(n);
    return kind == FXS_CALL_MODULE ? "layer" : kind == FXS_CALL_METHOD ? "method" : "operator";
}

static void report_unknown(const cli_session *w) {
    group groups[MAX_SHOWN] = {0};
    size_t rest = group_unknown(w, groups);
    for (size_t g = 0; g < MAX_SHOWN && groups[g].first; g++) {
        const fxs_node *n = groups[g].first;
        char what[300];
        if (groups[g].nodes == 1)
            snprintf(what, sizeof what, "unknown %s %.200s: ", thing_of(n), operator_of(w, n));
        else
            snprintf(what, sizeof what, "unknown %s %.200s, %zu nodes, the first: ", thing_of(n),
                     operator_of(w, n), groups[g].nodes);
        say_node(what, n);
    }
    if (rest)
        cli_error("and %zu more unknown nodes", rest);
}

cli_exit cli_report(const cli_session *w) {
    size_t blocked = count(w, is_blocked);
    report_missing_inputs(w);
    report_failed(w);
    report_unknown(w);
    if (blocked)
        cli_note("%zu node%s could not run for want of these results", blocked,
                 blocked == 1 ? "" : "s");
    return count(w, is_missing_input) + count(w, is_failed) + count(w, is_unknown) + blocked
               ? CLI_FINDINGS
               : CLI_OK;
}

/* ---- one line each
 * ---------------------------------------------------------------------------------------- */

/* A line feed with the blanks behind it becomes one blank; NULL without memory. */
static char *flatten(const char *text) {
    char *flat = malloc(strlen(text) + 1), *to = flat;
    while (flat && *text) {
        size_t gap = *text == '\n' ? strspn(text, "\n ") : 0;
        *to++ = gap ? ' ' : *text;
        text += gap ? gap : 1;
    }
    if (flat)
        *to = '\0';
    return flat;
}

cli_exit cli_report_lines(const cli_session *w) {
    cli_exit e = CLI_OK;
    for (const fxs_node *n = first_node(w); n; n = fxs_node_next(n)) {
        fxs_outcome outcome = fxs_node_meta(n)->outcome;
        if (outcome != FXS_FAILED && outcome != FXS_UNKNOWN)
            continue;
        char *line = flatten(reason_of(n));
        cli_error("%s: %%%s: %s", w->path, fxs_node_name(n), line ? line : reason_of(n));
        free(line);
        e = CLI_FINDINGS;
    }
    return e;
}
