/* rules.c: see rules.h. Called by the parser, when all options are known. What an option means for
 * a kind of output is stated here alone; an option without a row works always. */
#include "rules.h"

#include <stdio.h>
#include <string.h>

#include "python.h"
#include "say.h"

typedef struct rule {
    const char *command; /* NULL: each that has the option */
    const char *option;
    const char *outputs; /* kinds of files that take it; NULL: all */
    /* Options of which one has to be there: `name`, `name=word,word`; the word "default" is the
     * option that is not given. NULL: none. */
    const char *needs;
    const char *alone;  /* a kind of file for which it works without `needs`; NULL: none */
    bool python, graph; /* the model must be Python source, or must not: it is not run there */
} rule;

#define PLACED "svg png pdf graphml drawio tex"

static const rule rules[] = {
    {"draw", "layout", .outputs = PLACED " html"},
    {"draw", "layout-seconds", .outputs = PLACED " html"},
    {"draw", "columns", .outputs = PLACED},
    {"draw", "fit-width", .outputs = "svg png pdf"},
    {"draw", "dpi", .outputs = "png"},
    {"draw", "png-fit", .outputs = "png"},
    {"draw", "tile", .outputs = "png", .needs = "png-fit=scale,error,tile,strip"},
    {"draw", "force", .outputs = "png", .needs = "png-fit=scale fit-width dpi"},
    {"draw", "page", .outputs = "pdf"},
    {"draw", "landscape", .outputs = "pdf", .needs = "page"},
    {"draw", "scale", .needs = "overlay color-by=flops,params,memory,time", .alone = "html"},
    {"draw", "palette", .needs = "overlay color-by", .alone = "html"},
    {NULL, "expand", .needs = "depth collapse"},
    {"print", "torch2", .needs = "format=graph,file,code,python,default"},
    {"opt", "seed", .needs = "save-weights input"},
    {"run", "allow", .needs = "guard"},
    {"check", "input", .graph = true},
    {"check", "weights", .graph = true},
    {"check", "train", .graph = true},
    {NULL, "arg", .python = true},
    {NULL, "trace", .python = true},
    {NULL, "symbolic", .python = true},
    {NULL, "concrete", .python = true},
    {NULL, "strict", .python = true},
    {NULL, "path", .python = true},
    {NULL, "isolated", .python = true},
    {NULL, "allow", .python = true},
    {NULL, "traceback", .python = true},
};
enum { NRULES = sizeof rules / sizeof *rules };

/* ---- what is given ---- */

/* The value that was said of an option, by any of its names; NULL: none was. */
static const char *given(const cli_command *c, const cli_settings *s, const char *name,
                         size_t len) {
    const cli_option *o = c->options, *found = NULL;
    for (; o->name && !found; o++)
        if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
            found = o;
    for (size_t i = 0; found && c->options[i].name; i++)
        if (c->options[i].at == found->at && s->given[i])
            return s->given[i];
    return NULL;
}

/* Whether `word` is in a list with such a separator. */
static bool lists(const char *list, size_t len, char separator, const char *word, size_t n) {
    for (size_t at = 0; at < len;) {
        const char *end = memchr(list + at, separator, len - at);
        size_t item = end ? (size_t)(end - list) - at : len - at;
        if (item == n && memcmp(list + at, word, n) == 0)
            return true;
        at += item + 1;
    }
    return false;
}

/* One alternative of `needs`. */
static bool is_met(const cli_command *c, const cli_settings *s, const char *need, size_t len) {
    const char *words = memchr(need, '=', len);
    const char *value = given(c, s, need, words ? (size_t)(words - need) : len);
    if (!words)
        return value;
    value = value ? value : "default";
    words++;
    return lists(words, len - (size_t)(words - need), ',', value, strlen(value));
}

static bool any_met(const cli_command *c, const cli_settings *s, const char *needs) {
    for (size_t n; *needs; needs += n + (needs[n] != '\0')) {
        n = strcspn(needs, " ");
        if (is_met(c, s, needs, n))
            return true;
    }
    return false;
}

/* ---- outputs ---- */

/* A file's extension; for standard output what --format says. */
static const char *kind_of(const cli_settings *s, size_t i) {
    const char *path = s->outputs.items[i], *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    if (strcmp(path, "-") == 0)
        return s->picture_format ? s->picture_format : "";
    return dot ? dot + 1 : "";
}

static bool any_output(const cli_settings *s, const char *kinds) {
    for (size_t i = 0; i < s->outputs.len; i++) {
        const char *kind = kind_of(s, i);
        if (lists(kinds, strlen(kinds), ' ', kind, strlen(kind)))
            return true;
    }
    return s->outputs.len == 0; /* which is another error */
}

/* ---- texts ---- */

typedef struct text {
    char *at;
    size_t room;
} text;

static void put(text *t, const char *before, const char *word, size_t len) {
    int n = snprintf(t->at, t->room, "%s%.*s", before, (int)len, word);
    size_t used = n < 0 ? 0 : (size_t)n < t->room ? (size_t)n : t->room - 1;
    t->at += used;
    t->room -= used;
}

/* Words with blanks between become "a, b or c", each with that in front. */
static void put_words(text *t, const char *words, const char *front) {
    for (size_t n, i = 0; *words; i++) {
        n = strcspn(words, " ");
        bool last = words[n] == '\0';
        put(t, !i ? "" : last ? " or " : ", ", front, strlen(front));
        for (size_t k = 0; k < n; k++)
            put(t, "", words[k] == '=' ? " " : words + k, 1);
        words += n + !last;
    }
}

static void describe(const rule *r, char *out, size_t room) {
    text t = {out, room};
    *out = '\0';
    if (r->outputs) {
        put(&t, "", "for ", 4);
        put_words(&t, r->outputs, ".");
    }
    if (r->needs) {
        put(&t, r->outputs ? ", with " : "with ", "", 0);
        put_words(&t, r->needs, "--");
    }
    if (r->alone) {
        put(&t, ", or for ", "", 0);
        put_words(&t, r->alone, ".");
    }
    if (r->python)
        put(&t, "for a model in Python", "", 0);
    if (r->graph)
        put(&t, "for a model that is not Python source, which is not run", "", 0);
}

bool cli_rule_entry(size_t i, char *term, size_t term_room, char *out, size_t room) {
    if (i >= NRULES)
        return false;
    const rule *r = &rules[i];
    snprintf(term, term_room, "%s%s--%s", r->command ? r->command : "", r->command ? " " : "",
             r->option);
    describe(r, out, room);
    return true;
}

/* ---- checks ---- */

static bool holds(const rule *r, const cli_command *c, const cli_settings *s) {
    if (r->outputs && !any_output(s, r->outputs))
        return false;
    if (r->needs && !any_met(c, s, r->needs) && !(r->alone && any_output(s, r->alone)))
        return false;
    if ((!r->python && !r->graph) || c->operand != CLI_MODEL_FILE || s->operands.len == 0)
        return true;
    return cli_is_python(s->operands.items[0]) == r->python;
}

cli_exit cli_rules_check(const cli_command *c, const cli_settings *s) {
    for (const rule *r = rules; r < rules + NRULES; r++) {
        if ((r->command && (!c->name || strcmp(r->command, c->name) != 0)) ||
            !given(c, s, r->option, strlen(r->option)) || holds(r, c, s))
            continue;
        char what[400];
        describe(r, what, sizeof what);
        return cli_usage_error(c->name, "option --%s would have no effect here: it is %s",
                               r->option, what);
    }
    return CLI_OK;
}
