/* pooling_planes.h: the loops of pooling for one element type, included by pooling_run.c once a
 * type with T, NAME(x), LOWEST (what nothing is smaller than) and NOT_A_NUMBER(x) defined. A window
 * is reduced down first, row by row, which vectorises, and then across. */

FXS_VECTOR static void NAME(max_row)(const T *x, int64_t n, T *line) {
    for (int64_t i = 0; i < n; i++)
        line[i] = x[i] > line[i] || NOT_A_NUMBER(x[i]) ? x[i] : line[i]; /* NaN wins */
}

FXS_VECTOR static void NAME(add_row)(const T *x, int64_t n, T *line) {
    for (int64_t i = 0; i < n; i++)
        line[i] = (T)(line[i] + x[i]);
}

/* The same for every second or step-th value. */
FXS_VECTOR static void NAME(max_steps)(const T *x, int64_t step, int64_t n, T *y) {
    if (step == 2)
        for (int64_t i = 0; i < n; i++)
            y[i] = x[2 * i] > y[i] || NOT_A_NUMBER(x[2 * i]) ? x[2 * i] : y[i];
    else
        for (int64_t i = 0; i < n; i++)
            y[i] = x[step * i] > y[i] || NOT_A_NUMBER(x[step * i]) ? x[step * i] : y[i];
}

FXS_VECTOR static void NAME(add_steps)(const T *x, int64_t step, int64_t n, T *y) {
    if (step == 2)
        for (int64_t i = 0; i < n; i++)
            y[i] = (T)(y[i] + x[2 * i]);
    else
        for (int64_t i = 0; i < n; i++)
            y[i] = (T)(y[i] + x[step * i]);
}

static void NAME(max_places)(const fxs_taps *t, int64_t from, int64_t to, const T *line, T *y) {
    for (int64_t i = from; i < to; i++) {
        const T *x = line + t->start[i];
        T best = t->count[i] ? x[0] : LOWEST;
        for (int64_t k = 1; k < t->count[i]; k++)
            best = x[k * t->step] > best || NOT_A_NUMBER(x[k * t->step]) ? x[k * t->step] : best;
        y[i] = best;
    }
}

static void NAME(sum_places)(const fxs_taps *t, int64_t from, int64_t to, const T *line, T *y) {
    for (int64_t i = from; i < to; i++) {
        const T *x = line + t->start[i];
        y[i] = 0;
        for (int64_t k = 0; k < t->count[i]; k++)
            y[i] = (T)(y[i] + x[k * t->step]);
    }
}

/* Places with whole windows tap by tap, which vectorises; those at the ends one by one. */
static void NAME(reduce_across)(const fxs_taps *t, int64_t n, const T *line, bool average, T *y) {
    int64_t from = t->whole_from, count = t->whole_to - from;
    const T *x = line + (count > 0 ? t->start[from] : 0);
    (average ? NAME(sum_places) : NAME(max_places))(t, 0, count > 0 ? from : n, line, y);
    if (count <= 0)
        return;
    (average ? NAME(sum_places) : NAME(max_places))(t, t->whole_to, n, line, y);
    for (int64_t i = 0; i < count; i++)
        y[from + i] = x[i * t->stride];
    for (int64_t k = 1; k < t->count[from]; k++) {
        const T *tap = x + k * t->step;
        if (t->stride == 1)
            (average ? NAME(add_row) : NAME(max_row))(tap, count, y + from);
        else
            (average ? NAME(add_steps) : NAME(max_steps))(tap, t->stride, count, y + from);
    }
}

static void NAME(average_across)(const fxs_taps *t, int64_t n, const T *line, int64_t divisor,
                                 bool fixed, T *y) {
    NAME(reduce_across)(t, n, line, true, y);
    for (int64_t i = 0; i < n; i++)
        y[i] = y[i] / (T)(fixed ? divisor : divisor * t->extent[i]);
}

/* The reduced rows of output row (z, r) in `line`. */
static void NAME(reduce_rows)(const run *j, const T *plane, int64_t z, int64_t r, T *line) {
    const fxs_pooling *p = j->p;
    const fxs_taps *d = &p->taps[0], *h = &p->taps[1];
    bool first = true;
    for (int64_t a = 0; a < d->count[z]; a++)
        for (int64_t b = 0; b < h->count[r]; b++) {
            const T *x =
                plane +
                ((d->start[z] + a * d->step) * p->in[1] + h->start[r] + b * h->step) * p->in[2];
            if (first)
                memcpy(line, x, (size_t)p->in[2] * sizeof *line);
            else if (j->average)
                NAME(add_row)(x, p->in[2], line);
            else
                NAME(max_row)(x, p->in[2], line);
            first = false;
        }
    for (int64_t i = 0; first && i < p->in[2]; i++) /* a dilated window may miss the input */
        line[i] = j->average ? 0 : LOWEST;
}

/* The place of a window's largest value, in the plane's row-major order; the first of equals. Where
 * a dilated window misses the input it is where the window begins, as in PyTorch. */
static int64_t NAME(largest)(const fxs_pooling *p, const T *plane, int64_t z, int64_t r,
                             int64_t i) {
    const fxs_taps *d = &p->taps[0], *h = &p->taps[1], *w = &p->taps[2];
    if (!d->count[z] || !h->count[r] || !w->count[i])
        return (d->outside[z] * p->in[1] + h->outside[r]) * p->in[2] + w->outside[i];
    int64_t at = (d->start[z] * p->in[1] + h->start[r]) * p->in[2] + w->start[i];
    for (int64_t a = 0; a < d->count[z]; a++)
        for (int64_t b = 0; b < h->count[r]; b++)
            for (int64_t k = 0; k < w->count[i]; k++) {
                int64_t now = ((d->start[z] + a * d->step) * p->in[1] + h->start[r] + b * h->step) *
                                  p->in[2] +
                              w->start[i] + k * w->step;
                if (plane[now] > plane[at] || NOT_A_NUMBER(plane[now]))
                    at = now;
            }
    return at;
}

static void NAME(one_row)(const run *j, const T *plane, int64_t z, int64_t r, T *line, T *y,
                          int64_t *indices) {
    const fxs_pooling *p = j->p;
    if (indices) {
        for (int64_t i = 0; i < p->out[2]; i++) {
            bool hits = p->taps[0].count[z] && p->taps[1].count[r] && p->taps[2].count[i];
            indices[i] = NAME(largest)(p, plane, z, r, i);
            y[i] = hits ? plane[indices[i]] : LOWEST;
        }
        return;
    }
    NAME(reduce_rows)(j, plane, z, r, line);
    if (j->average) {
        int64_t divisor = p->divisor ? p->divisor : p->taps[0].extent[z] * p->taps[1].extent[r];
        NAME(average_across)(&p->taps[2], p->out[2], line, divisor, p->divisor != 0, y);
    } else {
        NAME(reduce_across)(&p->taps[2], p->out[2], line, false, y);
    }
}

static void NAME(run_planes)(void *user, int64_t begin, int64_t end, int thread) {
    const run *j = user;
    const fxs_pooling *p = j->p;
    T *line = (T *)j->lines + thread * j->line;
    int64_t rows = p->out[0] * p->out[1];
    for (int64_t c = begin; c < end; c++)
        for (int64_t r = 0; r < rows; r++) {
            int64_t at = (c * rows + r) * p->out[2];
            NAME(one_row)
            (j, (const T *)j->x + c * p->in[0] * p->in[1] * p->in[2], r / p->out[1], r % p->out[1],
             line, (T *)j->y + at, j->indices ? j->indices + at : NULL);
        }
}
