/* text.h: what the parts of the text front end share: a cursor over the file, its errors, and the
 * parser of values. */
#ifndef FXS_FRONT_TEXT_H
#define FXS_FRONT_TEXT_H

#include <string.h>

#include "base/pytext.h"
#include "front/front.h"

typedef struct fxs_text {
    fxs_ctx *ctx;
    const char *file;
    const char *begin, *end; /* *end is NUL */
    const char *at;
    fxs_arena *arena;       /* values that are parsed, until they are copied into the IR */
    fxs_graph *graph;       /* whose nodes values name; NULL: they name none */
    bool complete;          /* all of its nodes are there */
    bool unknown;           /* a value named what may be a node to come; set while not complete */
    const char *class_name; /* of the module whose graph is read; NULL: not known */
    size_t modules;         /* how many were made: folded lists can ask for any number */
} fxs_text;

/* FXS_EPARSE with file, line and column of `where`. */
fxs_status fxs_text_fail(fxs_text *t, const char *where, const char *fmt, ...) FXS_PRINTF(3, 4);
/* "expected WANT, found 'what stands there'" at t->at. */
fxs_status fxs_text_expected(fxs_text *t, const char *want);
int fxs_text_line(const fxs_text *t, const char *where);
/* Steps over s where it stands at t->at. Inline: what stands there is known when it is compiled. */
static inline bool fxs_text_accept(fxs_text *t, const char *s) {
    size_t n = strlen(s);
    if ((size_t)(t->end - t->at) < n || memcmp(t->at, s, n) != 0)
        return false;
    t->at += n;
    return true;
}
void fxs_text_blanks(fxs_text *t); /* spaces and tabs, not newlines */
/* To the first character of the next line (or the end). */
void fxs_text_next_line(fxs_text *t);
/* Length of an identifier at s. */
static inline size_t fxs_word_len(const char *s) {
    size_t n = 0;
    while (fxs_is_name_byte(s[n]))
        n++;
    return n;
}

/* How values are written. */
typedef enum fxs_notation {
    FXS_IN_CALL,   /* as format_node writes arguments: nodes with %, strings without quotes */
    FXS_IN_REPR,   /* as Python's repr: nodes bare, strings quoted */
    FXS_IN_QUOTED, /* as lines "with quotes" have values: nodes with %, else repr */
    FXS_IN_LAYER,  /* as layers write their arguments: repr, but bare words are strings */
} fxs_notation;

/* Parses one value at t->at, up to a separator that belongs to what encloses it. */
fxs_status fxs_text_value(fxs_text *t, fxs_notation how, int depth, fxs_value *out);
/* The node of t->graph with that name, as a value. False: there is none, or not yet. */
bool fxs_text_node(fxs_text *t, const char *s, size_t len, fxs_value *out);
/* The value that a whole bare word stands for. */
fxs_status fxs_text_word_value(fxs_text *t, fxs_notation how, const char *s, size_t len,
                               fxs_value *out);
/* "3, 4, kernel_size=(1, 1)" in s[0..len] as a tuple and a dict. False, without error, when it is
 * something else. */
fxs_status fxs_text_arguments(fxs_text *t, const char *s, size_t len, bool *fits, fxs_value *args,
                              fxs_value *kwargs);

/* A module tree at t->at. */
fxs_status fxs_text_module(fxs_text *t, fxs_module **out);
/* The lines of a graph behind "graph(...):", into g. `indent` is that of the "graph" line. */
fxs_status fxs_text_graph(fxs_text *t, fxs_graph *g);
/* What stands before and around a graph (text_header.c). The path of the module whose graph a line
 * begins (0 letters: the root's), and a function that torch.fx.wrap was told of. */
size_t fxs_text_graph_path(const char *line, bool *is_graph);
struct fxs_text_wrap;
bool fxs_text_is_wrap(const char *line);
fxs_status fxs_text_wrap_line(fxs_text *t, struct fxs_text_wrap **list);
/* Where the nodes behind are from: what comments in a graph say (text_origin.c). */
typedef struct fxs_text_origin {
    const fxs_scope *scope; /* all in the graph's arena */
    const char *file, *stack;
    int line;
} fxs_text_origin;
/* A line that begins with '#': notes what it says. What is none of these comments is passed over.
 */
fxs_status fxs_text_origin_line(fxs_text *t, fxs_graph *g, fxs_text_origin *o);
/* A graph with t->at behind "graph(", into g. */
fxs_status fxs_text_whole_graph(fxs_text *t, fxs_graph *g, const struct fxs_text_wrap *wraps);
/* float32[1, 3] or torch.float32[1, 3] at t->at. */
fxs_status fxs_text_shape(fxs_text *t, fxs_dtype *dtype, int *ndim, int64_t *sizes);

#endif
