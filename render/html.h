/* html.h: what the parts of the page's writer share: a page is a fixed text (render/html, put into
 * the library when it is built) with one block of data in it, a JSON object of numbers that point
 * into one list of texts. docs/page-format.md describes it. */
#ifndef FXS_RENDER_HTML_H
#define FXS_RENDER_HTML_H

#include "canvas.h"

typedef struct fxs_html {
    fxs_ctx *ctx;
    fxs_sink *sink;
    fxs_buf buf;     /* not written yet */
    fxs_arena arena; /* texts */
    fxs_map known;   /* text -> its number + 1 */
    const char **texts;
    size_t ntexts, cap;
    fxs_buf raw, clean; /* scratch */
    bool times;         /* time spent is a fact that was asked for: it is never the same twice */
    bool after_number;  /* a number was written last */
    bool failed;        /* memory is out */
} fxs_html;

/* The page's three fixed parts: up to the title, up to the data, the rest. NUL-terminated. */
extern const char *const fxs_html_parts[3];

/* Numbers and brackets of the data; a comma is put between two numbers. */
void fxs_html_puts(fxs_html *h, const char *text);
void fxs_html_int(fxs_html *h, long long n);
/* A JSON string that may stand in a script element. */
void fxs_html_json(fxs_html *h, const char *s, size_t len);
/* Number of a clean text in the page's list, entered when it is new. */
size_t fxs_html_text(fxs_html *h, const char *s, size_t len);
/* The same for what h->raw holds, cleaned; empties it. */
size_t fxs_html_raw(fxs_html *h);
void fxs_html_flush(fxs_html *h, size_t over);

/* html_facts.c: all that is known of a node: "count, fact, text, fact, text, ...". */
void fxs_html_facts(fxs_html *h, const fxs_module *root, const fxs_node *n);
/* The names of the facts, as a JSON list. */
void fxs_html_fact_names(fxs_html *h);

/* html_level.c: one level with its places. `what` says what the nodes of v's graph are. */
struct fxs_level_node;
void fxs_html_level(fxs_html *h, const fxs_module *root, const fxs_scene *s,
                    const struct fxs_level_node *what);

#endif
