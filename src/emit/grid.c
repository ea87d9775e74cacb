/* grid.c: see grid.h. */
#include "emit/grid.h"

#include <string.h>

#include "base/pytext.h"

fxs_status fxs_grid_init(fxs_ctx *ctx, fxs_grid *g, size_t columns, const char *const *headers) {
    *g = (fxs_grid){.ctx = ctx, .columns = columns, .headers = headers};
    return FXS_OK;
}

void fxs_grid_free(fxs_grid *g) {
    for (size_t i = 0; i < g->rows * g->columns; i++)
        fxs_buf_free(&g->cells[i]);
    fxs_free(g->cells);
    g->cells = NULL;
    g->rows = 0;
}

fxs_buf *fxs_grid_row(fxs_grid *g) {
    if (g->rows == g->cap) {
        size_t cap = g->cap ? g->cap * 2 : 32;
        fxs_buf *p = fxs_realloc(g->cells, cap, g->columns * sizeof *p);
        if (!p) {
            g->failed = true;
            return NULL;
        }
        g->cells = p;
        g->cap = cap;
    }
    fxs_buf *row = &g->cells[g->rows++ * g->columns];
    memset(row, 0, g->columns * sizeof *row);
    return row;
}

static const char *cell(const fxs_grid *g, size_t row, size_t column) {
    const char *s = g->cells[row * g->columns + column].data;
    return s ? s : "";
}

/* Characters, not bytes: columns line up for any UTF-8. */
static size_t width_of(const char *s, size_t len) {
    size_t n = 0;
    for (size_t i = 0; i < len; n++) {
        size_t k = fxs_utf8_len(s + i, len - i);
        i += k ? k : 1;
    }
    return n;
}

static size_t widest_line(const char *s) {
    size_t widest = 0;
    for (;;) {
        size_t len = strcspn(s, "\n"), w = width_of(s, len);
        widest = w > widest ? w : widest;
        if (!s[len])
            return widest;
        s += len + 1;
    }
}

static bool is_numeric(const fxs_grid *g, size_t column) {
    for (size_t r = 0; r < g->rows; r++) {
        int64_t i;
        const char *s = cell(g, r, column);
        if (!fxs_read_int(s, strlen(s), &i))
            return false;
    }
    return g->rows > 0;
}

static void trim_line(fxs_buf *b) {
    size_t n = b->len;
    while (n && b->data[n - 1] == ' ')
        n--;
    fxs_buf_cut(b, n);
}

static void put_padded(fxs_buf *out, const char *s, size_t len, size_t width, bool right) {
    size_t have = width_of(s, len), pad = width > have ? width - have : 0;
    if (right)
        fxs_buf_fill(out, ' ', pad);
    fxs_buf_add(out, s, len);
    if (!right)
        fxs_buf_fill(out, ' ', pad);
}

/* One row; cells with newlines take several lines. */
static void put_row(const fxs_grid *g, fxs_buf *out, size_t r, const size_t *width,
                    const bool *right) {
    bool more = true;
    for (size_t line = 0; more; line++) {
        more = false;
        for (size_t c = 0; c < g->columns; c++) {
            const char *s = cell(g, r, c);
            size_t skip = line;
            while (skip && *s) {
                s += strcspn(s, "\n");
                s += *s == '\n';
                skip--;
            }
            size_t len = strcspn(s, "\n");
            more |= s[len] == '\n';
            if (c)
                fxs_buf_puts(out, "  ");
            put_padded(out, s, len, width[c], right[c]);
        }
        if (!out->failed)
            trim_line(out);
        fxs_buf_putc(out, '\n');
    }
}

void fxs_grid_simple(const fxs_grid *g, fxs_buf *out) {
    enum { MAX_COLUMNS = 32 };
    size_t width[MAX_COLUMNS];
    bool right[MAX_COLUMNS];
    for (size_t c = 0; c < g->columns; c++) {
        width[c] = strlen(g->headers[c]) + 2;
        right[c] = is_numeric(g, c);
        for (size_t r = 0; r < g->rows; r++) {
            size_t w = widest_line(cell(g, r, c));
            width[c] = w > width[c] ? w : width[c];
        }
    }
    for (size_t c = 0; c < g->columns; c++) {
        if (c)
            fxs_buf_puts(out, "  ");
        put_padded(out, g->headers[c], strlen(g->headers[c]), width[c], right[c]);
    }
    if (!out->failed)
        trim_line(out);
    fxs_buf_putc(out, '\n');
    for (size_t c = 0; c < g->columns; c++) {
        if (c)
            fxs_buf_puts(out, "  ");
        fxs_buf_fill(out, '-', width[c]);
    }
    fxs_buf_putc(out, '\n');
    for (size_t r = 0; r < g->rows; r++)
        put_row(g, out, r, width, right);
    out->failed |= g->failed;
}

static void put_csv(fxs_buf *out, const char *s) {
    if (!strpbrk(s, "\",\n\r")) {
        fxs_buf_puts(out, s);
        return;
    }
    fxs_buf_putc(out, '"');
    for (; *s; s++) {
        if (*s == '"')
            fxs_buf_putc(out, '"');
        fxs_buf_putc(out, *s);
    }
    fxs_buf_putc(out, '"');
}

void fxs_grid_csv(const fxs_grid *g, fxs_buf *out) {
    for (size_t c = 0; c < g->columns; c++) {
        if (c)
            fxs_buf_putc(out, ',');
        put_csv(out, g->headers[c]);
    }
    fxs_buf_putc(out, '\n');
    for (size_t r = 0; r < g->rows; r++) {
        for (size_t c = 0; c < g->columns; c++) {
            if (c)
                fxs_buf_putc(out, ',');
            put_csv(out, cell(g, r, c));
        }
        fxs_buf_putc(out, '\n');
    }
    out->failed |= g->failed;
}

void fxs_grid_tsv(const fxs_grid *g, fxs_buf *out) {
    for (size_t c = 0; c < g->columns; c++)
        fxs_buf_printf(out, c ? "\t%s" : "%s", g->headers[c]);
    fxs_buf_putc(out, '\n');
    for (size_t r = 0; r < g->rows; r++) {
        for (size_t c = 0; c < g->columns; c++)
            fxs_buf_printf(out, c ? "\t%s" : "%s", cell(g, r, c));
        fxs_buf_putc(out, '\n');
    }
    out->failed |= g->failed;
}

static void put_markdown(fxs_buf *out, const char *s) {
    for (; *s; s++) {
        if (*s == '\n') {
            fxs_buf_puts(out, "<br>");
            continue;
        }
        if (strchr("|\\`*_<>[]#", *s))
            fxs_buf_putc(out, '\\');
        fxs_buf_putc(out, *s);
    }
}

void fxs_grid_markdown(const fxs_grid *g, fxs_buf *out) {
    for (size_t c = 0; c < g->columns; c++)
        fxs_buf_printf(out, "| %s ", g->headers[c]);
    fxs_buf_puts(out, "|\n");
    for (size_t c = 0; c < g->columns; c++)
        fxs_buf_puts(out, is_numeric(g, c) ? "| ---: " : "| --- ");
    fxs_buf_puts(out, "|\n");
    for (size_t r = 0; r < g->rows; r++) {
        for (size_t c = 0; c < g->columns; c++) {
            fxs_buf_puts(out, "| ");
            put_markdown(out, cell(g, r, c));
            fxs_buf_putc(out, ' ');
        }
        fxs_buf_puts(out, "|\n");
    }
    out->failed |= g->failed;
}
