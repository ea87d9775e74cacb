/* theme.h: colours. A theme is one const row; a node's style follows from its kind, or from what
 * became of it. */
#ifndef FXS_RENDER_THEME_H
#define FXS_RENDER_THEME_H

#include "fxscope.h"

/* X(NAME, class in SVG and DOT): the kinds in the order of FXS_KIND_MAP, then the bad outcomes */
#define FXS_STYLE_MAP(X)                                                                           \
    X(PLACEHOLDER, "kind-placeholder")                                                             \
    X(GET_ATTR, "kind-get_attr")                                                                   \
    X(CALL_FUNCTION, "kind-call_function")                                                         \
    X(CALL_MODULE, "kind-call_module")                                                             \
    X(CALL_METHOD, "kind-call_method")                                                             \
    X(OUTPUT, "kind-output")                                                                       \
    X(FAILED, "failed")                                                                            \
    X(UNKNOWN, "unknown")                                                                          \
    X(BLOCKED, "blocked")

typedef enum fxs_style {
#define X(name, text) FXS_STYLE_##name,
    FXS_STYLE_MAP(X)
#undef X
        FXS_STYLE_COUNT
} fxs_style;

/* How a text is written. */
typedef enum fxs_ink {
    FXS_INK_NAME,
    FXS_INK_TEXT,
    FXS_INK_KEY,
    FXS_INK_ERROR,
    FXS_INK_TITLE,
    FXS_INK_COUNT
} fxs_ink;

typedef unsigned fxs_color; /* 0xRRGGBB */

typedef struct fxs_theme {
    const char *name;
    fxs_color background, body; /* of the page, of a table's cells */
    fxs_color ink[FXS_INK_COUNT];
    fxs_color edge, nontensor;
    struct {
        fxs_color head, line; /* fill of the name's row, colour of the table's lines */
    } style[FXS_STYLE_COUNT];
} fxs_theme;

/* NULL: the first theme; NULL is returned for a name that is not known. */
const fxs_theme *fxs_theme_find(const char *name);
/* "light, dark, grey" */
const char *fxs_theme_names(void);
/* "kind-call_module", "failed" */
const char *fxs_style_class(fxs_style s);
fxs_style fxs_style_of(fxs_kind kind, fxs_outcome outcome);

#endif
