/* conv_implicit.c: float32 convolution as a product of matrices whose right side is never written
 * down: panels of it are packed from the windows of the input. Any kernel, stride, dilation and
 * groups. Called by conv_run.c with a padded input. */
#include <string.h>

#include "base/pool.h"
#include "base/vector.h"
#include "kernels/conv.h"
#include "kernels/micro.h"
#include "kernels/panels.h"

typedef float v8 __attribute__((vector_size(32), aligned(4)));

/* The input as it is read: with a stride of s along a row, each row holds its columns 0, s, 2s, ...
 * first, then 1, s + 1, ... as far as a kernel reaches, so that what neighbouring windows need lies
 * in a row. */
typedef struct image {
    const float *x, *end; /* [batch * cin, in[0], in[1], phases, width] */
    int64_t step, phases, width;
} image;

typedef struct job {
    const fxs_conv_data *data;
    image image;
    const int64_t *offset; /* [k]: of weight k's input value from the window's corner */
    int64_t reach;         /* the largest of them */
    int64_t k, m, places;  /* weights, output channels of a group; output places */
    fxs_cut cut;
} job;

/* What pack needs: one image and group of a job. */
typedef struct source {
    const job *job;
    const float *x;
} source;

/* ---- the input in phases
 * ----------------------------------------------------------------------------------- */

typedef struct sorting {
    const fxs_window *w;
    const image *image;
    const float *from;
    float *to;
} sorting;

static void sort_planes(void *user, int64_t begin, int64_t end, int thread) {
    const sorting *s = user;
    const image *g = s->image;
    int64_t in = s->w->in[2], rows = s->w->in[0] * s->w->in[1];
    float *to = s->to + begin * rows * g->phases * g->width;
    (void)thread;
    for (int64_t row = begin * rows; row < end * rows; row++)
        for (int64_t p = 0; p < g->phases; p++, to += g->width) {
            const float *from = s->from + row * in + p;
            int64_t n = (in - p + g->step - 1) / g->step;
            for (int64_t i = 0; i < n; i++)
                to[i] = from[i * g->step];
            for (int64_t i = n < 0 ? 0 : n; i < g->width; i++)
                to[i] = 0;
        }
}

static fxs_status make_image(fxs_work *w, const fxs_conv_data *d, image *g) {
    const fxs_window *v = &d->conv->window;
    int64_t planes = d->conv->batch * d->conv->cin, extent = fxs_window_extent(v, 2);
    *g = (image){.x = d->x, .step = v->stride[2], .phases = 1, .width = v->in[2]};
    if (g->step > 1) {
        g->phases = g->step < extent ? g->step : extent;
        g->width = (v->in[2] + g->step - 1) / g->step;
        int64_t n = planes * v->in[0] * v->in[1] * g->phases * g->width;
        float *to = fxs_work_scratch(w, n, sizeof *to);
        if (!to)
            return w->status;
        sorting s = {.w = v, .image = g, .from = d->x, .to = to};
        fxs_parallel(d->ctx, planes, 1 + 32768 / fxs_volume(v->in), sort_planes, &s);
        g->x = to;
    }
    g->end = g->x + planes * v->in[0] * v->in[1] * g->phases * g->width;
    return FXS_OK;
}

/* Without a division: this is done by one thread, and a small image has fewer places than that. */
static void fill_offsets(const fxs_window *w, const image *g, int64_t k, int64_t *offset) {
    int64_t row = g->phases * g->width, i = 0;
    for (int64_t c = 0; i < k; c++)
        for (int64_t z = 0; z < w->kernel[0]; z++)
            for (int64_t y = 0; y < w->kernel[1]; y++) {
                int64_t line =
                    ((c * w->in[0] + z * w->dilation[0]) * w->in[1] + y * w->dilation[1]) * row;
                for (int64_t x = 0, at = 0; x < w->kernel[2]; x++, at += w->dilation[2])
                    offset[i++] =
                        line + (g->step == 1 ? at : at % g->step * g->width + at / g->step);
            }
}

/* ---- panels
 * -------------------------------------------------------------------------------------------------
 */

/* Neighbouring places whose windows are neighbours in memory. */
typedef struct stretch {
    int64_t corner, at, count; /* offset of the first window; place in the panel */
} stretch;

static int find_stretches(const fxs_window *w, const image *g, int64_t n0, int64_t count,
                          stretch *out) {
    int64_t row = g->phases * g->width;
    int n = 0;
    for (int64_t at = 0, take; at < count; at += take) {
        int64_t place = n0 + at, c = place % w->out[2], r = place / w->out[2] % w->out[1],
                z = place / w->out[2] / w->out[1];
        int64_t corner = (z * w->stride[0] * w->in[1] + r * w->stride[1]) * row + c;
        take = w->out[2] - c < count - at ? w->out[2] - c : count - at;
        if (n && out[n - 1].corner + out[n - 1].count == corner)
            out[n - 1].count += take;
        else
            out[n++] = (stretch){corner, at, take};
    }
    return n;
}

/* Whole vectors are moved: what is too much lies where the next stretch or line is put later. */
FXS_VECTOR static void pack_stretches(const float *x, const int64_t *offset, int64_t depth,
                                      const stretch *s, int n, int64_t tile, float *panel) {
    for (int64_t k = 0; k < depth; k++, panel += tile)
        for (int j = 0; j < n; j++) {
            const float *from = x + offset[k] + s[j].corner;
            float *to = panel + s[j].at;
            for (int64_t i = 0; i < s[j].count; i += 8)
                *(v8 *)(to + i) = *(const v8 *)(from + i);
        }
}

/* The same to the value: at the input's end. */
static void pack_exactly(const float *x, const int64_t *offset, int64_t depth, const stretch *s,
                         int n, int64_t tile, float *panel) {
    for (int64_t k = 0; k < depth; k++, panel += tile)
        for (int j = 0; j < n; j++)
            memcpy(panel + s[j].at, x + offset[k] + s[j].corner,
                   (size_t)s[j].count * sizeof *panel);
}

static void pack(const fxs_panels *p, int64_t n0, int64_t count, int64_t k0, int64_t depth,
                 int64_t tile, float *panel) {
    const source *s = p->user;
    const job *j = s->job;
    stretch stretches[FXS_MICRO_TILE];
    int n = find_stretches(&j->data->conv->window, &j->image, n0, count, stretches);
    const stretch *last = &stretches[n - 1];
    bool room = j->image.end - s->x >= j->reach + last->corner + last->count + 8;
    (room ? pack_stretches : pack_exactly)(s->x, j->offset + k0, depth, stretches, n, tile, panel);
}

static fxs_panels panels_of(const job *j, int64_t number, int64_t group, source *s) {
    const fxs_conv_data *d = j->data;
    const fxs_conv *v = d->conv;
    int64_t plane = v->window.in[0] * v->window.in[1] * j->image.phases * j->image.width;
    *s = (source){j, j->image.x + (number * v->cin + group * (v->cin / v->groups)) * plane};
    return (fxs_panels){.m = j->m,
                        .n = j->places,
                        .k = j->k,
                        .a = (const float *)d->weight + group * j->m * j->k,
                        .a_row = j->k,
                        .a_col = 1,
                        .c = (float *)d->y + (number * v->cout + group * j->m) * j->places,
                        .c_row = j->places,
                        .c_col = 1,
                        .bias = d->bias ? (const float *)d->bias + group * j->m : NULL,
                        .pack = pack,
                        .user = s};
}

static void run_pieces(void *user, int64_t begin, int64_t end, int thread) {
    const job *j = user;
    int64_t pieces = j->cut.down * j->cut.across, groups = j->data->conv->groups;
    (void)thread;
    for (int64_t i = begin; i < end; i++) {
        source s;
        int64_t product = i / pieces;
        fxs_panels p = panels_of(j, product / groups, product % groups, &s);
        fxs_panels_run(&p, &j->cut, i % pieces);
    }
}

fxs_status fxs_conv_implicit(fxs_work *w, const fxs_conv_data *d) {
    const fxs_conv *v = d->conv;
    job j = {.data = d,
             .k = v->cin / v->groups * fxs_volume(v->window.kernel),
             .m = v->cout / v->groups,
             .places = fxs_volume(v->window.out)};
    int64_t products = v->batch * v->groups;
    int64_t *offset = fxs_work_scratch(w, j.k, sizeof *offset);
    if (!offset)
        return w->status;
    FXS_TRY(make_image(w, d, &j.image));
    fill_offsets(&v->window, &j.image, j.k, offset);
    j.offset = offset;
    for (int64_t i = 0; i < j.k; i++)
        j.reach = offset[i] > j.reach ? offset[i] : j.reach;
    double work = (double)products * (double)j.m * (double)j.places * (double)j.k;
    bool parallel = work > 1 << 16;
    source s;
    fxs_panels p = panels_of(&j, 0, 0, &s);
    j.cut = fxs_panels_cut(&p, parallel ? fxs_threads(d->ctx) : 1, products - 1);
    fxs_parallel(d->ctx, products * j.cut.down * j.cut.across, parallel ? 1 : INT64_MAX, run_pieces,
                 &j);
    return FXS_OK;
}
