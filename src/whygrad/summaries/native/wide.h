/* The fast blocks of scan.h for machines with AVX2: the same lanes in the same order, so the same bits. */
#ifndef WHYGRAD_WIDE_H
#define WHYGRAD_WIDE_H

#if defined(__x86_64__) && defined(__GNUC__)
#include <immintrin.h>
#define HAVE_WIDE 1
#define AVX2 __attribute__((target("avx2")))

/* Elements eight at a time: lanes 0 to 3 and 4 to 7 of the sums are one register each. Exponents are counted
 * on the way, if somebody wants them: the counting waits for memory where the sums do not. */
AVX2 static inline __attribute__((always_inline)) void wide_pass(const float *x, double *s, double *q, float *low,
                                                                 float *high, int32_t *zeros,
                                                                 uint32_t (*table)[BINS]) {
    __m256d s0 = _mm256_setzero_pd(), s1 = s0, q0 = s0, q1 = s0;
    __m256 lo = _mm256_loadu_ps(x), hi = lo;
    const __m256 nothing = _mm256_setzero_ps();
    __m256i none = _mm256_setzero_si256();
    for (int i = 0; i < BLOCK; i += LANES) {
        const __m256 v = _mm256_loadu_ps(x + i);
        const __m256d a = _mm256_cvtps_pd(_mm256_castps256_ps128(v));
        const __m256d b = _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1));
        s0 = _mm256_add_pd(s0, a);
        s1 = _mm256_add_pd(s1, b);
        q0 = _mm256_add_pd(q0, _mm256_mul_pd(a, a));
        q1 = _mm256_add_pd(q1, _mm256_mul_pd(b, b));
        lo = _mm256_min_ps(v, lo);
        hi = _mm256_max_ps(v, hi);
        none = _mm256_sub_epi32(none, _mm256_castps_si256(_mm256_cmp_ps(v, nothing, _CMP_EQ_OQ)));
        for (int j = 0; table && j < LANES; j++) {
            uint32_t bits;
            memcpy(&bits, &x[i + j], 4);
            table[j % TABLES][bits >> 23]++;
        }
    }
    _mm256_storeu_pd(s, s0), _mm256_storeu_pd(s + 4, s1);
    _mm256_storeu_pd(q, q0), _mm256_storeu_pd(q + 4, q1);
    _mm256_storeu_ps(low, lo), _mm256_storeu_ps(high, hi);
    _mm256_storeu_si256((__m256i *)zeros, none);
}

AVX2 static void wide_float(const float *x, double *s, double *q, float *low, float *high, int32_t *zeros,
                            uint32_t (*table)[BINS]) {
    if (table) wide_pass(x, s, q, low, high, zeros, table);
    else wide_pass(x, s, q, low, high, zeros, NULL);
}

AVX2 static void wide_double(const double *x, double *s, double *q, double *low, double *high, int64_t *zeros,
                             uint32_t (*table)[BINS]) {
    __m256d sum[2], squares[2], lo[2], hi[2];
    __m256i none[2];
    const __m256d nothing = _mm256_setzero_pd();
    for (int k = 0; k < 2; k++) {
        sum[k] = squares[k] = nothing;
        lo[k] = hi[k] = _mm256_loadu_pd(x + 4 * k);
        none[k] = _mm256_setzero_si256();
    }
    for (int i = 0; i < BLOCK; i += LANES) {
        for (int k = 0; k < 2; k++) {
            const __m256d v = _mm256_loadu_pd(x + i + 4 * k);
            sum[k] = _mm256_add_pd(sum[k], v);
            squares[k] = _mm256_add_pd(squares[k], _mm256_mul_pd(v, v));
            lo[k] = _mm256_min_pd(v, lo[k]);
            hi[k] = _mm256_max_pd(v, hi[k]);
            none[k] = _mm256_sub_epi64(none[k], _mm256_castpd_si256(_mm256_cmp_pd(v, nothing, _CMP_EQ_OQ)));
        }
    }
    for (int k = 0; k < 2; k++) {
        _mm256_storeu_pd(s + 4 * k, sum[k]), _mm256_storeu_pd(q + 4 * k, squares[k]);
        _mm256_storeu_pd(low + 4 * k, lo[k]), _mm256_storeu_pd(high + 4 * k, hi[k]);
        _mm256_storeu_si256((__m256i *)(zeros + 4 * k), none[k]);
    }
    if (table) bins_double(x, BLOCK, table);
}
/* Squares of movement, of what was and of what is; lane i % 4 of each sum. */
AVX2 static void wide_movement(const float *x, const float *y, int64_t n, double *far, double *before, double *after) {
    __m256d f = _mm256_setzero_pd(), b = f, a = f;
    for (int64_t i = 0; i + 4 <= n; i += 4) {
        const __m256d now = _mm256_cvtps_pd(_mm_loadu_ps(x + i)), then = _mm256_cvtps_pd(_mm_loadu_ps(y + i));
        const __m256d d = _mm256_sub_pd(now, then);
        f = _mm256_add_pd(f, _mm256_mul_pd(d, d));
        b = _mm256_add_pd(b, _mm256_mul_pd(then, then));
        a = _mm256_add_pd(a, _mm256_mul_pd(now, now));
    }
    _mm256_storeu_pd(far, f), _mm256_storeu_pd(before, b), _mm256_storeu_pd(after, a);
}
#else
#define HAVE_WIDE 0
#endif

#endif
