/* The native part of watching: called once before an update and once after it, for all its tensors. */
#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <stdlib.h>

#include "scan.h"
#include "wire.h"

#define FIGURES 7
#define LARGE 65536 /* elements from which on other threads may run meanwhile */

typedef struct {
    Py_ssize_t many;
    const char **data; /* NULL: there is no such tensor in this update */
    Py_buffer *held;   /* of those that were not given as addresses */
    Py_ssize_t holding;
} Tensors;

static void release(Tensors *tensors) {
    for (Py_ssize_t i = 0; i < tensors->holding; i++) PyBuffer_Release(&tensors->held[i]);
    free(tensors->data);
    free(tensors->held);
}

/* A list of addresses, buffers and None. */
static int take(PyObject *list, Tensors *tensors) {
    tensors->many = PyList_Size(list);
    tensors->holding = 0;
    if (tensors->many < 0) return -1;
    tensors->data = calloc((size_t)tensors->many + 1, sizeof *tensors->data);
    tensors->held = calloc((size_t)tensors->many + 1, sizeof *tensors->held);
    if (!tensors->data || !tensors->held) {
        release(tensors);
        PyErr_NoMemory();
        return -1;
    }
    for (Py_ssize_t i = 0; i < tensors->many; i++) {
        PyObject *item = PyList_GetItem(list, i);
        if (item == Py_None) continue;
        if (PyLong_Check(item)) {
            tensors->data[i] = PyLong_AsVoidPtr(item);
            if (!PyErr_Occurred()) continue;
        } else if (!PyObject_GetBuffer(item, &tensors->held[tensors->holding], PyBUF_C_CONTIGUOUS)) {
            tensors->data[i] = tensors->held[tensors->holding++].buf;
            continue;
        }
        release(tensors);
        return -1;
    }
    return 0;
}

/* Does a buffer hold so many bytes? Nothing is written past its end. */
static int enough(const Py_buffer *buffer, Py_ssize_t bytes) {
    if (buffer->len >= bytes) return 1;
    PyErr_SetString(PyExc_ValueError, "a buffer is too short");
    return 0;
}

static PyObject *measure(PyObject *self, PyObject *args) {
    PyObject *list, *result = NULL;
    Py_buffer counts, totals, kinds, out, bins;
    Tensors tensors;
    if (!PyArg_ParseTuple(args, "Oy*y*y*w*w*", &list, &counts, &totals, &kinds, &out, &bins)) return NULL;
    if (take(list, &tensors)) goto done;
    const Py_ssize_t many = tensors.many;
    if (enough(&counts, many * 8) && enough(&totals, many * 8) && enough(&kinds, many) &&
        enough(&out, many * FIGURES * 8) && (!bins.len || enough(&bins, many * BINS * 4))) {
        const int64_t *count = counts.buf, *total = totals.buf;
        const unsigned char *kind = kinds.buf;
        double *row = out.buf;
        uint32_t *table = bins.len ? bins.buf : NULL;
        int64_t work = 0;
        for (Py_ssize_t i = 0; i < many; i++) work += count[i];
        PyThreadState *state = work > LARGE ? PyEval_SaveThread() : NULL;
        for (Py_ssize_t i = 0; i < many; i++) {
            uint32_t *here = table ? table + i * BINS : NULL;
            if (tensors.data[i] || !count[i]) {
                if (tensors.data[i]) figures(tensors.data[i], count[i], total[i], kind[i], row + i * FIGURES, here);
                else {
                    if (here) memset(here, 0, BINS * 4);
                    figures("", 0, total[i], FLOAT32, row + i * FIGURES, here);
                }
                continue;
            }
            for (int k = 0; k < FIGURES; k++) row[i * FIGURES + k] = NAN;
            if (here) memset(here, 0, BINS * 4);
        }
        if (state) PyEval_RestoreThread(state);
        result = Py_NewRef(Py_None);
    }
    release(&tensors);
done:
    PyBuffer_Release(&counts), PyBuffer_Release(&totals), PyBuffer_Release(&kinds);
    PyBuffer_Release(&out), PyBuffer_Release(&bins);
    return result;
}

/* keep(tensors, counts, kinds, most, store): remember the elements whose movement is measured. */
static PyObject *keep(PyObject *self, PyObject *args) {
    PyObject *list, *result = NULL;
    Py_buffer counts, kinds, store;
    Py_ssize_t most;
    Tensors tensors;
    if (!PyArg_ParseTuple(args, "Oy*y*nw*", &list, &counts, &kinds, &most, &store)) return NULL;
    if (take(list, &tensors)) goto done;
    if (enough(&counts, tensors.many * 8) && enough(&kinds, tensors.many) &&
        enough(&store, tensors.many * most * 8)) {
        const int64_t *count = counts.buf;
        const unsigned char *kind = kinds.buf;
        for (Py_ssize_t i = 0; i < tensors.many; i++) {
            char *to = (char *)store.buf + i * most * 8;
            for (int64_t number = 0; tensors.data[i] && number < STRETCHES; number++) {
                int64_t start;
                const size_t bytes = (size_t)stretch(count[i], most, number, &start) * WIDTH[kind[i]];
                memcpy(to, tensors.data[i] + (size_t)start * WIDTH[kind[i]], bytes);
                to += bytes;
            }
        }
        result = Py_NewRef(Py_None);
    }
    release(&tensors);
done:
    PyBuffer_Release(&counts), PyBuffer_Release(&kinds), PyBuffer_Release(&store);
    return result;
}

/* moved(tensors, counts, kinds, most, store, out): how far each has moved since `keep`, next to its size. */
static PyObject *moved(PyObject *self, PyObject *args) {
    PyObject *list, *result = NULL;
    Py_buffer counts, kinds, store, out;
    Py_ssize_t most;
    Tensors tensors;
    if (!PyArg_ParseTuple(args, "Oy*y*ny*w*", &list, &counts, &kinds, &most, &store, &out)) return NULL;
    if (take(list, &tensors)) goto done;
    if (enough(&counts, tensors.many * 8) && enough(&kinds, tensors.many) &&
        enough(&store, tensors.many * most * 8) && enough(&out, tensors.many * 8)) {
        const char *old = store.buf;
        for (Py_ssize_t i = 0; i < tensors.many; i++, old += most * 8) {
            const char *data = tensors.data[i];
            const int64_t count = ((int64_t *)counts.buf)[i];
            ((double *)out.buf)[i] = data ? moved_by(data, old, count, most, ((unsigned char *)kinds.buf)[i]) : NAN;
        }
        result = Py_NewRef(Py_None);
    }
    release(&tensors);
done:
    PyBuffer_Release(&counts), PyBuffer_Release(&kinds), PyBuffer_Release(&store), PyBuffer_Release(&out);
    return result;
}

/* fold(values, low, high, total, seen): take a row of numbers into the extremes and sums of its bucket. */
static PyObject *fold(PyObject *self, PyObject *args) {
    PyObject *result = NULL;
    Py_buffer values, low, high, total, seen;
    if (!PyArg_ParseTuple(args, "y*w*w*w*w*", &values, &low, &high, &total, &seen)) return NULL;
    const Py_ssize_t many = values.len / 8;
    if (enough(&low, many * 4) && enough(&high, many * 4) && enough(&total, many * 8) && enough(&seen, many * 4)) {
        const double *value = values.buf;
        for (Py_ssize_t i = 0; i < many; i++) {
            const float v = (float)value[i];
            if (isnan(v)) continue;
            float *lowest = (float *)low.buf + i, *highest = (float *)high.buf + i;
            uint32_t *times = (uint32_t *)seen.buf + i;
            if (!*times || v < *lowest) *lowest = v;
            if (!*times || v > *highest) *highest = v;
            ((double *)total.buf)[i] += value[i];
            (*times)++;
        }
        result = Py_NewRef(Py_None);
    }
    PyBuffer_Release(&values), PyBuffer_Release(&low), PyBuffer_Release(&high);
    PyBuffer_Release(&total), PyBuffer_Release(&seen);
    return result;
}

/* join(low, high, total, seen, width): neighbouring buckets become one, in the first half of the room. */
static PyObject *join(PyObject *self, PyObject *args) {
    PyObject *result = NULL;
    Py_buffer low, high, total, seen;
    Py_ssize_t width;
    if (!PyArg_ParseTuple(args, "w*w*w*w*n", &low, &high, &total, &seen, &width)) return NULL;
    const Py_ssize_t cells = low.len / 4, rows = width > 0 ? cells / width : 0;
    if (enough(&high, cells * 4) && enough(&total, cells * 8) && enough(&seen, cells * 4)) {
        float *l = low.buf, *h = high.buf;
        double *t = total.buf;
        uint32_t *n = seen.buf;
        for (Py_ssize_t row = 0; row < rows / 2; row++) {
            for (Py_ssize_t i = 0; i < width; i++) {
                const Py_ssize_t a = 2 * row * width + i, b = a + width, to = row * width + i;
                const float lowest = !n[b] || (n[a] && l[a] < l[b]) ? l[a] : l[b];
                const float highest = !n[b] || (n[a] && h[a] > h[b]) ? h[a] : h[b];
                const double sum = t[a] + t[b];
                const uint32_t times = n[a] + n[b];
                l[to] = lowest, h[to] = highest, t[to] = sum, n[to] = times;
            }
        }
        for (Py_ssize_t i = rows / 2 * width; i < cells; i++) l[i] = h[i] = 0, t[i] = 0, n[i] = 0;
        result = Py_NewRef(Py_None);
    }
    PyBuffer_Release(&low), PyBuffer_Release(&high), PyBuffer_Release(&total), PyBuffer_Release(&seen);
    return result;
}

/* record(template, places, values, wall, step): the record of one update; place -1 means: not in this one. */
static PyObject *record(PyObject *self, PyObject *args) {
    PyObject *result = NULL;
    Py_buffer template, places, values;
    double wall;
    long long step;
    if (!PyArg_ParseTuple(args, "y*y*y*dL", &template, &places, &values, &wall, &step)) return NULL;
    const Py_ssize_t many = places.len / 4;
    if (enough(&values, many * 8) && enough(&template, HEADER + EVENT_HEAD + 4)) {
        result = PyBytes_FromStringAndSize(template.buf, template.len);
        char *bytes = result ? PyBytes_AsString(result) : NULL;
        for (Py_ssize_t i = 0; bytes && i < many; i++) {
            const int32_t place = ((int32_t *)places.buf)[i];
            if (place >= 0 && place + 4 <= template.len) put_float(bytes + place, ((double *)values.buf)[i]);
        }
        if (bytes) {
            put_double(bytes + WALL_AT, wall);
            put_wide_varint(bytes + STEP_AT, (uint64_t)step);
            seal(bytes, (size_t)template.len - HEADER - 4);
        }
    }
    PyBuffer_Release(&template), PyBuffer_Release(&places), PyBuffer_Release(&values);
    return result;
}

/* The buckets of one histogram, from the most negative up; an empty one marks where a gap ends. */
static int buckets_of(const uint32_t *bins, double *limit, double *bucket, double *number) {
    int many = 0, last = -2;
    *number = 0;
    for (int order = 0; order < 509; order++) {
        const int exponent = order < 254 ? 254 - order : order - 254;
        uint32_t found = order < 254 ? bins[256 + exponent] : bins[exponent];
        if (order == 254) found += bins[256];
        if (!found) continue;
        if (many && last != order - 1) {
            limit[many] = order < 254 ? -ldexp(1, exponent - 126) : order == 254 ? -0x1p-126 : ldexp(1, exponent - 127);
            bucket[many++] = 0;
        }
        limit[many] = order < 254 ? -ldexp(1, exponent - 127) : order == 254 ? 0x1p-126 : ldexp(1, exponent - 126);
        bucket[many++] = found;
        *number += found;
        last = order;
    }
    return many;
}

static char *put_histogram(char *p, const char *tag, Py_ssize_t length, const double *row, const uint32_t *bins) {
    double limit[2 * BINS], bucket[2 * BINS], number;
    const uint64_t many = (uint64_t)buckets_of(bins, limit, bucket, &number);
    const uint64_t packed = 8 * many;
    const uint64_t inner = 5 * 9 + 2 * (1 + (uint64_t)varint_size(packed) + packed);
    const uint64_t outer = 1 + (uint64_t)varint_size((uint64_t)length) + (uint64_t)length + 1 +
                           (uint64_t)varint_size(inner) + inner;
    if (!many || isnan(row[2])) return p;
    *p++ = 0x0a, p = put_varint(p, outer);
    *p++ = 0x0a, p = put_varint(p, (uint64_t)length);
    memcpy(p, tag, (size_t)length), p += length;
    *p++ = 0x2a, p = put_varint(p, inner);
    *p++ = 0x09, p = put_double(p, row[2]);
    *p++ = 0x11, p = put_double(p, row[3]);
    *p++ = 0x19, p = put_double(p, number);
    *p++ = 0x21, p = put_double(p, row[0] * number);
    *p++ = 0x29, p = put_double(p, row[4] * row[4]);
    *p++ = 0x32, p = put_varint(p, packed);
    for (uint64_t i = 0; i < many; i++) p = put_double(p, limit[i]);
    *p++ = 0x3a, p = put_varint(p, packed);
    for (uint64_t i = 0; i < many; i++) p = put_double(p, bucket[i]);
    return p;
}

/* histograms(tags, rows, bins, wall, step): one record with the histograms of all tensors that were there. */
static PyObject *histograms(PyObject *self, PyObject *args) {
    PyObject *tags, *result = NULL;
    Py_buffer rows, bins;
    double wall;
    long long step;
    if (!PyArg_ParseTuple(args, "Oy*y*dL", &tags, &rows, &bins, &wall, &step)) return NULL;
    const Py_ssize_t many = PyList_Size(tags);
    char *record = NULL;
    if (many < 0 || !enough(&rows, many * FIGURES * 8) || !enough(&bins, many * BINS * 4)) goto done;
    size_t room = HEADER + EVENT_HEAD + 16;
    for (Py_ssize_t i = 0; i < many; i++) {
        const Py_ssize_t length = PyBytes_Size(PyList_GetItem(tags, i));
        if (length < 0) goto done;
        room += (size_t)length + 2 * BINS * 16 + 128;
    }
    record = malloc(room);
    if (!record) { PyErr_NoMemory(); goto done; }
    char *const summary = record + HEADER + EVENT_HEAD + 6, *p = summary;
    for (Py_ssize_t i = 0; i < many; i++) {
        PyObject *tag = PyList_GetItem(tags, i);
        p = put_histogram(p, PyBytes_AsString(tag), PyBytes_Size(tag), (double *)rows.buf + i * FIGURES,
                          (uint32_t *)bins.buf + i * BINS);
    }
    record[HEADER] = 0x09, put_double(record + WALL_AT, wall);
    record[STEP_AT - 1] = 0x10, put_wide_varint(record + STEP_AT, (uint64_t)step);
    record[HEADER + EVENT_HEAD] = 0x2a;
    char *size = record + HEADER + EVENT_HEAD + 1; /* five bytes for the length of the summary */
    uint64_t length = (uint64_t)(p - summary);
    for (int i = 0; i < 4; i++, length >>= 7) *size++ = (char)((length & 127) | 128);
    *size = (char)(length & 127);
    seal(record, (size_t)(p - record) - HEADER);
    result = PyBytes_FromStringAndSize(record, p - record + 4);
done:
    free(record);
    PyBuffer_Release(&rows), PyBuffer_Release(&bins);
    return result;
}

static PyObject *checksum(PyObject *self, PyObject *args) {
    Py_buffer data;
    if (!PyArg_ParseTuple(args, "y*", &data)) return NULL;
    const uint32_t crc = crc32c(data.buf, (size_t)data.len);
    PyBuffer_Release(&data);
    return PyLong_FromUnsignedLong(crc);
}

static PyMethodDef methods[] = {
    {"measure", measure, METH_VARARGS, "Statistics of all tensors of an update."},
    {"keep", keep, METH_VARARGS, "Remember values, to see how far they move."},
    {"moved", moved, METH_VARARGS, "How far values have moved since they were kept."},
    {"fold", fold, METH_VARARGS, "Take a row of numbers into a bucket of the history."},
    {"join", join, METH_VARARGS, "Make room in a history: two buckets become one."},
    {"record", record, METH_VARARGS, "The bytes of an event with numbers."},
    {"histograms", histograms, METH_VARARGS, "The bytes of an event with histograms."},
    {"crc32c", checksum, METH_VARARGS, "The checksum of event files."},
    {NULL, NULL, 0, NULL},
};

static int prepare(PyObject *module) {
    crc_prepare();
#if HAVE_WIDE
    is_wide = __builtin_cpu_supports("avx2");
#endif
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, prepare}, {0, NULL}};
static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "whygrad.summaries._kernel", "The native part of watching.", 0, methods, slots, NULL, NULL, NULL};

PyMODINIT_FUNC PyInit__kernel(void) { return PyModuleDef_Init(&definition); }
