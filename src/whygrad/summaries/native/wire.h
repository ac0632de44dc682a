/* The bytes of event files: CRC32C, records, and the few fields of protocol buffers that are needed. */
#ifndef WHYGRAD_WIRE_H
#define WHYGRAD_WIRE_H

#include <stdint.h>
#include <string.h>

static uint32_t crc_table[8][256];

static void crc_prepare(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t c = i;
        for (int k = 0; k < 8; k++) c = (c >> 1) ^ (c & 1 ? 0x82f63b78u : 0);
        crc_table[0][i] = c;
    }
    for (int t = 1; t < 8; t++)
        for (int i = 0; i < 256; i++)
            crc_table[t][i] = (crc_table[t - 1][i] >> 8) ^ crc_table[0][crc_table[t - 1][i] & 255];
}

static uint32_t crc_by_table(uint32_t crc, const unsigned char *p, size_t n) {
    for (; n >= 8; p += 8, n -= 8) {
        crc ^= p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
        crc = crc_table[7][crc & 255] ^ crc_table[6][crc >> 8 & 255] ^ crc_table[5][crc >> 16 & 255] ^
              crc_table[4][crc >> 24] ^ crc_table[3][p[4]] ^ crc_table[2][p[5]] ^ crc_table[1][p[6]] ^
              crc_table[0][p[7]];
    }
    for (; n; p++, n--) crc = (crc >> 8) ^ crc_table[0][(crc ^ *p) & 255];
    return crc;
}

#if defined(__x86_64__) && defined(__GNUC__)
__attribute__((target("sse4.2"))) static uint32_t crc_by_machine(uint32_t crc, const unsigned char *p, size_t n) {
    uint64_t c = crc, word;
    for (; n >= 8; p += 8, n -= 8) {
        memcpy(&word, p, 8);
        c = __builtin_ia32_crc32di(c, word);
    }
    for (; n; p++, n--) c = __builtin_ia32_crc32qi((uint32_t)c, *p);
    return (uint32_t)c;
}
#endif

static uint32_t crc32c(const void *data, size_t n) {
#if defined(__x86_64__) && defined(__GNUC__)
    if (__builtin_cpu_supports("sse4.2")) return ~crc_by_machine(~0u, data, n);
#endif
    return ~crc_by_table(~0u, data, n);
}

static uint32_t masked(uint32_t crc) { return ((crc >> 15) | (crc << 17)) + 0xa282ead8u; }

static char *put_fixed(char *p, uint64_t value, int bytes) {
    for (int i = 0; i < bytes; i++) *p++ = (char)(value >> 8 * i);
    return p;
}

static char *put_varint(char *p, uint64_t value) {
    for (; value >= 128; value >>= 7) *p++ = (char)(value | 128);
    *p++ = (char)value;
    return p;
}

/* A varint of six bytes, whatever its value: its place does not move. */
static char *put_wide_varint(char *p, uint64_t value) {
    for (int i = 0; i < 5; i++, value >>= 7) *p++ = (char)((value & 127) | 128);
    *p++ = (char)(value & 127);
    return p;
}

static char *put_double(char *p, double value) {
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return put_fixed(p, bits, 8);
}

static char *put_float(char *p, double value) {
    const float small = (float)value;
    uint32_t bits;
    memcpy(&bits, &small, 4);
    return put_fixed(p, bits, 4);
}

static int varint_size(uint64_t value) {
    int size = 1;
    for (; value >= 128; value >>= 7) size++;
    return size;
}

#define HEADER 12       /* length, and its checksum */
#define WALL_AT 13      /* 0x09, then the time */
#define STEP_AT 22      /* 0x10, then the step, six bytes */
#define EVENT_HEAD 16   /* both of them */

static void seal(char *record, size_t payload) {
    put_fixed(record, payload, 8);
    put_fixed(record + 8, masked(crc32c(record, 8)), 4);
    put_fixed(record + HEADER + payload, masked(crc32c(record + HEADER, payload)), 4);
}

#endif
