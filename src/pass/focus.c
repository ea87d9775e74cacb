/* focus.c: which call of a module is in focus: "layer1.0", the first call of that path, "block#2",
 * the second one, or as a picture says it, "block (call 2)". Called by outline.c. */
#include <stdlib.h>
#include <string.h>

#include "pass/outline.h"

enum { MOST_NAMES = 12 }; /* in a message */

/* Is the text the path, perhaps with the number of a call behind it? *nth from 0; SIZE_MAX: none
 * is said. */
static bool is_path(const char *text, const char *path, size_t *nth) {
    size_t len = strlen(path), before;
    char *end;
    *nth = SIZE_MAX;
    if (strncmp(text, path, len) != 0)
        return false;
    text += len;
    if (!*text)
        return true;
    before = *text == '#' ? 1 : strncmp(text, " (call ", 7) == 0 ? 7 : 0;
    if (!before || text[before] < '1' || text[before] > '9')
        return false;
    unsigned long n = strtoul(text + before, &end, 10);
    *nth = n - 1;
    return strcmp(end, before == 1 ? "" : ")") == 0;
}

bool fxs_outline_in_focus(const fxs_outline_options *opt, const char *path, size_t nth) {
    size_t wanted;
    return opt->focus && path && *path && is_path(opt->focus, path, &wanted) &&
           (wanted == SIZE_MAX || wanted == nth);
}

/* ---- what can be named ---- */

/* The innermost call that the text names something inside of; 0: the model. */
static size_t nearest(const fxs_outline_plan *p, const char *text) {
    size_t best = 0;
    for (size_t i = 1; i < p->calls.n; i++) {
        const char *path = p->calls.items[i].path;
        size_t len = strlen(path);
        if (p->calls.items[i].nth == 0 && strncmp(text, path, len) == 0 &&
            (text[len] == '.' || text[len] == '#' || text[len] == ' '))
            best = i;
    }
    return best;
}

/* What is just inside, and the calls of the module itself. */
static bool is_near(const fxs_outline_plan *p, size_t call, size_t around) {
    const fxs_module_call *items = p->calls.items;
    return items[call].parent == around ||
           (around && strcmp(items[call].path, items[around].path) == 0);
}

static void put_name(fxs_buf *b, const fxs_module_call *c, size_t n) {
    fxs_buf_printf(b, "%s%s", n ? ", " : "", c->path);
    if (c->nth)
        fxs_buf_printf(b, "#%zu", c->nth + 1);
}

static fxs_status refuse(const fxs_outline_plan *p) {
    size_t around = nearest(p, p->opt->focus), n = 0;
    fxs_buf names = {0};
    for (size_t i = 1; i < p->calls.n; i++)
        if (is_near(p, i, around) && n++ < MOST_NAMES)
            put_name(&names, &p->calls.items[i], n - 1);
    if (n > MOST_NAMES)
        fxs_buf_printf(&names, ", ... %zu more", n - MOST_NAMES);
    fxs_status s =
        names.failed ? fxs_fail_memory(p->m->ctx)
                     : fxs_fail(p->m->ctx, FXS_ENOTFOUND,
                                "no module '%s' is called that holds nodes of this graph (%s%s)",
                                p->opt->focus, n ? "there are: " : "none is", n ? names.data : "");
    fxs_buf_free(&names);
    return s;
}

/* ---- the call ---- */

static void tell_others(fxs_outline_plan *p, size_t nfocus) {
    const char *path = p->calls.items[p->focus].path;
    fxs_buf_printf(&p->notes, "%s is called %zu times; the first call is shown, %s#2 is the %s\n",
                   path, nfocus, path, nfocus == 2 ? "other" : "second");
}

fxs_status fxs_outline_find_focus(fxs_outline_plan *p) {
    size_t nfocus = 0, nth = 0;
    bool exact = false;
    p->focus = 0;
    if (!p->opt->focus || !*p->opt->focus)
        return FXS_OK;
    for (size_t i = 1; i < p->calls.n; i++) /* a path may have a '#' in it */
        exact = exact || strcmp(p->calls.items[i].path, p->opt->focus) == 0;
    for (size_t i = 1; i < p->calls.n; i++) {
        const fxs_module_call *c = &p->calls.items[i];
        if (!is_path(p->opt->focus, c->path, &nth) || exact != (nth == SIZE_MAX) ||
            (!exact && nth != c->nth))
            continue;
        p->focus = p->focus ? p->focus : i;
        nfocus++;
    }
    if (!p->focus)
        return refuse(p);
    if (nfocus > 1)
        tell_others(p, nfocus);
    return FXS_OK;
}
