/* One pass over a tensor: sums in double, extremes, exact zeros, values that are not finite, exponents.
 *
 * Sums run in eight lanes, block by block, in an order that does not depend on the width of the machine's
 * vectors and that numpy can follow: the fallback gives the same bits. */
#ifndef WHYGRAD_SCAN_H
#define WHYGRAD_SCAN_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#define LANES 8
#define BLOCK 4096
#define BINS 512 /* sign and exponent of a float32 */
#define TABLES 4 /* of counts, in turn: a run of equal ones would wait for itself otherwise */

enum Kind { FLOAT16, BFLOAT16, FLOAT32, FLOAT64, KINDS };
static const size_t WIDTH[KINDS] = {2, 2, 4, 8};

typedef struct {
    double sum, squares, low, high;
    int64_t zeros, nans, infinite;
} Scan;

static double folded(const double *lane) {
    return ((lane[0] + lane[1]) + (lane[2] + lane[3])) + ((lane[4] + lane[5]) + (lane[6] + lane[7]));
}

/* Exponents. */
static void bins_float(const float *x, int64_t n, uint32_t (*table)[BINS]) {
    const uint32_t *bits = (const uint32_t *)x;
    int64_t i = 0;
    for (; n - i >= TABLES; i += TABLES) {
        table[0][bits[i] >> 23]++;
        table[1][bits[i + 1] >> 23]++;
        table[2][bits[i + 2] >> 23]++;
        table[3][bits[i + 3] >> 23]++;
    }
    for (; i < n; i++) table[0][bits[i] >> 23]++;
}

/* The bins of a float32: what is out of its range is in its first bin, or in its last one. */
static void bins_double(const double *x, int64_t n, uint32_t (*table)[BINS]) {
    for (int64_t i = 0; i < n; i++) {
        uint64_t bits;
        memcpy(&bits, &x[i], 8);
        const int32_t raw = (int32_t)((bits >> 52) & 0x7ff);
        int32_t exponent = raw == 0x7ff ? 255 : raw - 1023 + 127;
        if (exponent < 0) exponent = 0;
        if (exponent > 254 && raw != 0x7ff) exponent = 254;
        table[i % TABLES][((bits >> 63) << 8) | (uint32_t)exponent]++;
    }
}

#include "wide.h"

/* A block in which some value is not finite, or a short one: slowly, and without the values that are not. */
#define SLOW_BLOCK(NAME, TYPE)                                                                                 \
    static void NAME(const TYPE *x, int64_t n, Scan *scan) {                                                   \
        double s[LANES] = {0}, q[LANES] = {0};                                                                 \
        for (int64_t i = 0; i < n; i++) {                                                                      \
            const double d = (double)x[i];                                                                     \
            if (isnan(d)) { scan->nans++; continue; }                                                          \
            if (isinf(d)) { scan->infinite++; continue; }                                                      \
            s[i % LANES] += d;                                                                                 \
            q[i % LANES] += d * d;                                                                             \
            if (d < scan->low) scan->low = d;                                                                  \
            if (d > scan->high) scan->high = d;                                                                \
            scan->zeros += d == 0;                                                                             \
        }                                                                                                      \
        scan->sum += folded(s);                                                                                \
        scan->squares += folded(q);                                                                            \
    }

/* A whole block, as plain C has it. */
#define PLAIN_BLOCK(NAME, TYPE, COUNT, BINS_OF)                                                                         \
    static void NAME(const TYPE *x, double *s, double *q, TYPE *low, TYPE *high, COUNT *zeros,                 \
                     uint32_t (*table)[BINS]) {                                                                \
        for (int j = 0; j < LANES; j++) s[j] = q[j] = 0, zeros[j] = 0, low[j] = high[j] = x[j];                \
        for (int i = 0; i < BLOCK; i += LANES) {                                                               \
            for (int j = 0; j < LANES; j++) {                                                                  \
                const TYPE v = x[i + j];                                                                       \
                const double d = (double)v;                                                                    \
                s[j] += d;                                                                                     \
                q[j] += d * d;                                                                                 \
                low[j] = v < low[j] ? v : low[j];                                                              \
                high[j] = v > high[j] ? v : high[j];                                                           \
                zeros[j] += v == 0;                                                                            \
            }                                                                                                  \
        }                                                                                                      \
        if (table) BINS_OF(x, BLOCK, table);                                                                   \
    }

/* If a value is not finite, the sum of squares is not either, and the block is done again. */
#define FAST_BLOCK(NAME, BLOCK_OF, SLOW, TYPE, COUNT)                                                          \
    static void NAME(const TYPE *x, Scan *scan, uint32_t (*table)[BINS]) {                                     \
        double s[LANES], q[LANES];                                                                             \
        TYPE low[LANES], high[LANES];                                                                          \
        COUNT zeros[LANES];                                                                                    \
        BLOCK_OF(x, s, q, low, high, zeros, table);                                                            \
        const double sum = folded(s), squares = folded(q);                                                     \
        if (!isfinite(squares)) { SLOW(x, BLOCK, scan); return; }                                              \
        scan->sum += sum;                                                                                      \
        scan->squares += squares;                                                                              \
        for (int j = 0; j < LANES; j++) {                                                                      \
            if ((double)low[j] < scan->low) scan->low = (double)low[j];                                        \
            if ((double)high[j] > scan->high) scan->high = (double)high[j];                                    \
            scan->zeros += (int64_t)zeros[j];                                                                  \
        }                                                                                                      \
    }

SLOW_BLOCK(slow_float, float)
SLOW_BLOCK(slow_double, double)
PLAIN_BLOCK(plain_float, float, int32_t, bins_float)
PLAIN_BLOCK(plain_double, double, int64_t, bins_double)
#if HAVE_WIDE
static int is_wide; /* set once, when the module is loaded */
#define EITHER(WIDE_ONE, PLAIN_ONE) (is_wide ? WIDE_ONE : PLAIN_ONE)
#else
#define EITHER(WIDE_ONE, PLAIN_ONE) PLAIN_ONE
#endif
FAST_BLOCK(fast_float, EITHER(wide_float, plain_float), slow_float, float, int32_t)
FAST_BLOCK(fast_double, EITHER(wide_double, plain_double), slow_double, double, int64_t)

/* Two short floats to one long one each. Exact. */
static void widen_bfloat(const uint16_t *x, int64_t n, float *out) {
    uint32_t *bits = (uint32_t *)out;
    for (int64_t i = 0; i < n; i++) bits[i] = (uint32_t)x[i] << 16;
}

static void widen_half(const uint16_t *x, int64_t n, float *out) {
    uint32_t *bits = (uint32_t *)out;
    for (int64_t i = 0; i < n; i++) {
        const uint32_t sign = (uint32_t)(x[i] & 0x8000) << 16, rest = x[i] & 0x7fff;
        const uint32_t small = rest << 13, special = rest >= 0x7c00 ? 0x70000000u : 0; /* inf and nan */
        float value;
        memcpy(&value, &small, 4);
        value *= 0x1p112f; /* the exponent's other bias; right for denormals, too */
        memcpy(&bits[i], &value, 4);
        bits[i] = (rest >= 0x7c00 ? small + special : bits[i]) | sign;
    }
}

/* The elements from `at` on, at most a block, as float or double; `room` holds what has to be converted. */
static const void *block_of(const char *data, int64_t at, int64_t n, int kind, float *room) {
    const char *here = data + (size_t)at * WIDTH[kind];
    if (kind == FLOAT16) { widen_half((const uint16_t *)here, n, room); return room; }
    if (kind == BFLOAT16) { widen_bfloat((const uint16_t *)here, n, room); return room; }
    return here;
}

static void scan_tensor(const char *data, int64_t count, int kind, Scan *scan, uint32_t *bins) {
    float room[BLOCK];
    uint32_t table[TABLES][BINS], (*counts)[BINS] = bins ? table : NULL;
    memset(scan, 0, sizeof *scan);
    scan->low = INFINITY;
    scan->high = -INFINITY;
    if (bins) memset(table, 0, sizeof table);
    for (int64_t at = 0; at < count; at += BLOCK) {
        const int64_t n = count - at < BLOCK ? count - at : BLOCK;
        const void *x = block_of(data, at, n, kind, room);
        if (kind == FLOAT64) {
            if (n == BLOCK) { fast_double(x, scan, counts); continue; }
            slow_double(x, n, scan);
            if (bins) bins_double(x, n, table);
        } else {
            if (n == BLOCK) { fast_float(x, scan, counts); continue; }
            slow_float(x, n, scan);
            if (bins) bins_float(x, n, table);
        }
    }
    for (int i = 0; bins && i < BINS; i++) bins[i] = table[0][i] + table[1][i] + table[2][i] + table[3][i];
}

/* Sum and sum of squares of x * a * b - shift, over the finite ones: for the few tensors whose first pass has
 * overflowed, or has lost the spread to a mean that is far larger. */
static void moments(const char *data, int64_t count, int kind, double a, double b, double shift, double *sum,
                    double *squares) {
    float room[BLOCK];
    *sum = *squares = 0;
    for (int64_t at = 0; at < count; at += BLOCK) {
        const int64_t n = count - at < BLOCK ? count - at : BLOCK;
        const void *x = block_of(data, at, n, kind, room);
        double s[LANES] = {0}, q[LANES] = {0};
        for (int64_t i = 0; i < n; i++) {
            const double v = kind == FLOAT64 ? ((const double *)x)[i] : (double)((const float *)x)[i];
            if (!isfinite(v)) continue;
            const double d = v * a * b - shift;
            s[i % LANES] += d;
            q[i % LANES] += d * d;
        }
        *sum += folded(s);
        *squares += folded(q);
    }
}

/* mean, std, min, max, norm, share of exact zeros, number of values that are not finite. `total` counts the
 * zeros of a sparse tensor, too, which are not in memory. */
static void figures(const char *data, int64_t count, int64_t total, int kind, double *row, uint32_t *bins) {
    Scan scan;
    scan_tensor(data, count, kind, &scan, bins);
    const int64_t unstored = total - count, finite = total - scan.nans - scan.infinite;
    if (unstored > 0) {
        if (scan.low > 0) scan.low = 0;
        if (scan.high < 0) scan.high = 0;
        if (bins) bins[0] += (uint32_t)unstored;
    }
    row[5] = total ? (double)(scan.zeros + unstored) / (double)total : 0;
    row[6] = (double)(scan.nans + scan.infinite);
    if (!finite) {
        row[0] = row[1] = row[2] = row[3] = NAN;
        row[4] = total ? NAN : 0;
        return;
    }
    const double many = (double)finite, largest = fmax(fabs(scan.low), fabs(scan.high));
    double a = 1, b = 1, sum = scan.sum, squares = scan.squares;
    if (largest > 0 && (!isfinite(squares) || !isfinite(sum) || squares < 1e-280)) {
        const int power = -ilogb(largest);
        a = ldexp(1, power / 2);
        b = ldexp(1, power - power / 2);
        moments(data, count, kind, a, b, 0, &sum, &squares);
    }
    const double mean = sum / many;
    double variance = squares / many - mean * mean;
    if (variance < 1e-4 * mean * mean) {
        double rest, spread;
        moments(data, count, kind, a, b, mean, &rest, &spread);
        rest += (double)unstored * -mean;
        spread += (double)unstored * (mean * mean);
        variance = spread / many - (rest / many) * (rest / many);
    }
    row[0] = mean / a / b;
    row[1] = sqrt(variance > 0 ? variance : 0) / a / b;
    row[2] = scan.low;
    row[3] = scan.high;
    row[4] = sqrt(squares) / a / b;
}

/* The elements of a large tensor whose movement is measured: sixteen stretches, evenly spread. */
#define STRETCHES 16
static int64_t stretch(int64_t count, int64_t most, int64_t number, int64_t *start) {
    if (count <= most) {
        *start = 0;
        return number ? 0 : count;
    }
    *start = number * ((count - most / STRETCHES) / (STRETCHES - 1));
    return most / STRETCHES;
}

/* Squares of movement, of what was and of what is; in four lanes, so that no sum waits for itself. */
#if HAVE_WIDE
#define HEAD_float is_wide ? (wide_movement(x, y, n, far, before, after), n / 4 * 4) : 0
#else
#define HEAD_float 0
#endif
#define HEAD_double 0
#define MOVEMENT(NAME, TYPE)                                                                                   \
    static void NAME(const TYPE *x, const TYPE *y, int64_t n, double *sums) {                                  \
        double far[4] = {0}, before[4] = {0}, after[4] = {0};                                                  \
        for (int64_t i = HEAD_##TYPE; i < n; i++) {                                                            \
            const double now = (double)x[i], then = (double)y[i];                                              \
            far[i % 4] += (now - then) * (now - then);                                                         \
            before[i % 4] += then * then;                                                                      \
            after[i % 4] += now * now;                                                                         \
        }                                                                                                      \
        sums[0] += (far[0] + far[1]) + (far[2] + far[3]);                                                      \
        sums[1] += (before[0] + before[1]) + (before[2] + before[3]);                                          \
        sums[2] += (after[0] + after[1]) + (after[2] + after[3]);                                              \
    }
MOVEMENT(movement_float, float)
MOVEMENT(movement_double, double)

/* How far it has moved, next to how large it was; to how large it is now, if it was nothing. */
static double moved_by(const char *data, const char *old, int64_t count, int64_t most, int kind) {
    double sums[3] = {0};
    float now[BLOCK], then[BLOCK];
    for (int64_t number = 0; number < STRETCHES; number++) {
        int64_t start;
        const int64_t all = stretch(count, most, number, &start);
        const char *here = data + (size_t)start * WIDTH[kind];
        for (int64_t at = 0; at < all; at += BLOCK) {
            const int64_t n = all - at < BLOCK ? all - at : BLOCK;
            const void *x = block_of(here, at, n, kind, now), *y = block_of(old, at, n, kind, then);
            if (kind == FLOAT64) movement_double(x, y, n, sums);
            else movement_float(x, y, n, sums);
        }
        old += (size_t)all * WIDTH[kind];
    }
    const double size = sums[1] > 0 ? sums[1] : sums[2];
    return size > 0 ? sqrt(sums[0] / size) : sums[0];
}

#endif
