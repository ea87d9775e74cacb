/* norm_rows.h: row functions of normalisation for one element type, included by norm.c with T and
 * NAME(x) defined. Sums run in eight lanes of double: the lanes vectorise, and double keeps
 * float32's digits over any row. */

FXS_VECTOR static double NAME(row_sum)(const T *x, int64_t n) {
    double lane[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            lane[k] += (double)x[i + k];
    for (; i < n; i++)
        lane[0] += (double)x[i];
    return (lane[0] + lane[1]) + (lane[2] + lane[3]) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

FXS_VECTOR static double NAME(row_squares)(const T *x, int64_t n, double mean) {
    double lane[8] = {0};
    int64_t i = 0;
    for (; i + 8 <= n; i += 8)
        for (int k = 0; k < 8; k++)
            lane[k] += ((double)x[i + k] - mean) * ((double)x[i + k] - mean);
    for (; i < n; i++)
        lane[0] += ((double)x[i] - mean) * ((double)x[i] - mean);
    return (lane[0] + lane[1]) + (lane[2] + lane[3]) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

/* y may be x in both. */
FXS_VECTOR static void NAME(row_scale)(const T *x, int64_t n, T scale, T shift, T *y) {
    FXS_INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        y[i] = x[i] * scale + shift;
}

FXS_VECTOR static void NAME(row_affine)(const T *x, int64_t n, T mean, T scale, const T *weight,
                                        const T *bias, T *y) {
    if (weight && bias) {
        FXS_INDEPENDENT
        for (int64_t i = 0; i < n; i++)
            y[i] = (x[i] - mean) * scale * weight[i] + bias[i];
        return;
    }
    FXS_INDEPENDENT
    for (int64_t i = 0; i < n; i++)
        y[i] = (x[i] - mean) * scale;
    for (int64_t i = 0; weight && i < n; i++)
        y[i] *= weight[i];
    for (int64_t i = 0; bias && i < n; i++)
        y[i] += bias[i];
}
