/* The buffer that generated C writes into, and what it writes: part of records.h.
 *
 * A record is trusted, for this module made it and nobody can change it; an item of a list is looked at first. */

#ifndef GOLDWIRE_WRITING_H
#define GOLDWIRE_WRITING_H

#include "records.h"

/* What is being written: short frames need no memory of their own. */
typedef struct {
    uint8_t *data;
    size_t size, room;
    uint8_t first[512];
} writer;

static int grow(writer *w, size_t more)
{
    size_t room = (w->size + more) * 2;
    uint8_t *data = PyMem_Malloc(room);
    if (data == NULL) {
        PyErr_NoMemory();
        return 0;
    }
    memcpy(data, w->data, w->size);
    if (w->data != w->first)
        PyMem_Free(w->data);
    w->data = data;
    w->room = room;
    return 1;
}

static inline int reserve(writer *w, size_t more)
{
    return w->room - w->size >= more || grow(w, more);
}

static inline int write_octet(writer *w, uint8_t byte)
{
    if (!reserve(w, 1))
        return 0;
    w->data[w->size++] = byte;
    return 1;
}

static inline int write_octets(writer *w, const void *data, size_t count)
{
    if (!reserve(w, count))
        return 0;
    memcpy(w->data + w->size, data, count);
    w->size += count;
    return 1;
}

static inline int write_varint(writer *w, uint64_t value)
{
    if (!reserve(w, 9))
        return 0;
    int more = 8;
    while (value > 0x7F && more-- > 0) {
        w->data[w->size++] = (uint8_t)(value | 0x80);
        value >>= 7;
    }
    w->data[w->size++] = (uint8_t)value;
    return 1;
}

static inline int write_integer(writer *w, size_t size, uint64_t value)
{
    if (!reserve(w, size))
        return 0;
    for (size_t i = 0; i < size; i++)
        w->data[w->size++] = (uint8_t)(value >> (8 * i));
    return 1;
}

/* An integer of a record; the record made it, so it is one, and fits. */
static inline uint64_t number_of(PyObject *value)
{
    return PyLong_AsUnsignedLongLong(value);
}

static inline uint64_t signed_number_of(PyObject *value)
{
    return (uint64_t)PyLong_AsLongLong(value);
}

static inline int write_integer_big(writer *w, size_t size, uint64_t value)
{
    if (!reserve(w, size))
        return 0;
    for (size_t i = size; i > 0; i--)
        w->data[w->size++] = (uint8_t)(value >> (8 * (i - 1)));
    return 1;
}

static inline int write_zeros(writer *w, size_t count)
{
    if (!reserve(w, count))
        return 0;
    memset(w->data + w->size, 0, count);
    w->size += count;
    return 1;
}

/* Items of a list are looked at before they are written: a list can be changed. 0 leaves the value to Python. */

static inline int fits_unsigned(PyObject *value, unsigned bits)
{
    if (!PyLong_CheckExact(value))
        return 0;
    uint64_t number = PyLong_AsUnsignedLongLong(value);
    if (number == UINT64_MAX && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    return bits >= 64 || !(number >> bits);
}

static inline int fits_signed(PyObject *value, unsigned bits)
{
    if (!PyLong_CheckExact(value))
        return 0;
    int64_t number = PyLong_AsLongLong(value);
    if (number == -1 && PyErr_Occurred()) {
        PyErr_Clear();
        return 0;
    }
    int64_t most = INT64_MAX >> (64 - bits);
    return number <= most && number >= -most - 1;
}

static inline int fits_text(PyObject *value, unsigned bits)
{
    Py_ssize_t count;
    if (!PyUnicode_CheckExact(value))
        return 0;
    if (PyUnicode_AsUTF8AndSize(value, &count) == NULL) {
        PyErr_Clear();
        return 0;
    }
    return bits >= 63 || !((uint64_t)count >> bits);
}

static inline int fits_bytes(PyObject *value, unsigned bits)
{
    return PyBytes_CheckExact(value) && (bits >= 63 || !((uint64_t)PyBytes_Size(value) >> bits));
}

/* Whether a content is of a size that is in a range. */
static inline int fits_counted(PyObject *value, int text, Py_ssize_t least, Py_ssize_t most)
{
    Py_ssize_t count;
    if (!text) {
        if (!PyBytes_CheckExact(value))
            return 0;
        count = PyBytes_Size(value);
    } else if (!fits_text(value, 64) || PyUnicode_AsUTF8AndSize(value, &count) == NULL) {
        return 0;
    }
    return count >= least && count <= most;
}

static inline int fits_terminated(PyObject *value, int text, Py_ssize_t most)
{
    Py_ssize_t count;
    char *data;
    if (text) {
        if (!fits_text(value, 64))
            return 0;
        data = (char *)PyUnicode_AsUTF8AndSize(value, &count);
    } else if (!fits_bytes(value, 64) || PyBytes_AsStringAndSize(value, &data, &count) < 0) {
        return 0;
    }
    return count <= most && memchr(data, 0, (size_t)count) == NULL;
}

SOMETIMES int write_text(writer *w, PyObject *value, int count_it)
{
    Py_ssize_t count;
    const char *data = PyUnicode_AsUTF8AndSize(value, &count);
    return data != NULL && (!count_it || write_varint(w, (uint64_t)count)) && write_octets(w, data, (size_t)count);
}

SOMETIMES int write_bytes(writer *w, PyObject *value, int count_it)
{
    char *data;
    Py_ssize_t count;
    if (PyBytes_AsStringAndSize(value, &data, &count) < 0)
        return 0;
    return (!count_it || write_varint(w, (uint64_t)count)) && write_octets(w, data, (size_t)count);
}

#endif
