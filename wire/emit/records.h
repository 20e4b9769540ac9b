/* The values that generated C makes: included once by every native.c.
 *
 * A record is an immutable mapping from a few names to values that are read by item or by attribute. Its fields are
 * set while it is made and never again; it takes no part in the garbage collector's cycles. */

#ifndef GOLDWIRE_RECORDS_H
#define GOLDWIRE_RECORDS_H

#define Py_LIMITED_API 0x030B0000
#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <structmember.h>

#include "frame.h"

#ifndef MOST_FIELDS
#define MOST_FIELDS 16
#endif
#define SPARE 64

/* One type of record: its names, interned, and the Python type. */
typedef struct {
    const char *qualified; /* "wire.zenoh.generated.native.D_FINAL" */
    int count;
    const char *names[MOST_FIELDS];
    PyTypeObject *type;
    PyObject *keys[MOST_FIELDS];
    PyMemberDef members[MOST_FIELDS + 1];
    PyObject *spare[SPARE]; /* records that nobody has any more, to be used again */
    int spares;
} kind;

typedef struct {
    PyObject_HEAD
    kind *kind;
    uint64_t byte; /* of named bits: the integer that they are of */
    PyObject *fields[1];
} record;

/* What this file needs of Python modules. */
static struct {
    PyObject *keys_view, *items_view, *values_view, *mapping; /* collections.abc */
    PyObject *refusal, *codec;                                /* wire.runtime */
} outside;

static inline record *make(kind *k, int count)
{
    record *made;
    if (k->spares > 0) {
        made = (record *)k->spare[--k->spares];
        Py_SET_REFCNT((PyObject *)made, 1);
    } else {
        made = PyObject_New(record, k->type);
        if (made == NULL)
            return NULL;
    }
    made->kind = k;
    made->byte = 0;
    for (int i = 0; i < count; i++)
        made->fields[i] = NULL;
    return made;
}

static void record_free(PyObject *self)
{
    record *r = (record *)self;
    kind *k = r->kind;
    for (int i = 0; i < k->count; i++)
        Py_XDECREF(r->fields[i]);
    if (k->spares < SPARE) {
        k->spare[k->spares++] = self; /* it keeps its reference to the type */
        return;
    }
    PyTypeObject *type = Py_TYPE(self);
    PyObject_Free(self);
    Py_DECREF(type);
}

/* The index of a key, or -1. */
static int record_index(const record *r, PyObject *key)
{
    for (int i = 0; i < r->kind->count; i++)
        if (r->kind->keys[i] == key)
            return i;
    if (PyUnicode_Check(key))
        for (int i = 0; i < r->kind->count; i++)
            if (PyUnicode_CompareWithASCIIString(key, r->kind->names[i]) == 0)
                return i;
    return -1;
}

static PyObject *record_item(PyObject *self, PyObject *key)
{
    record *r = (record *)self;
    int index = record_index(r, key);
    if (index < 0) {
        PyErr_SetObject(PyExc_KeyError, key);
        return NULL;
    }
    return Py_NewRef(r->fields[index]);
}

static PyObject *record_get(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    if (count < 1 || count > 2) {
        PyErr_SetString(PyExc_TypeError, "get takes a name and a default");
        return NULL;
    }
    record *r = (record *)self;
    int index = record_index(r, arguments[0]);
    return Py_NewRef(index >= 0 ? r->fields[index] : count == 2 ? arguments[1] : Py_None);
}

static int record_contains(PyObject *self, PyObject *key)
{
    return record_index((record *)self, key) >= 0;
}

static Py_ssize_t record_length(PyObject *self)
{
    return ((record *)self)->kind->count;
}

static PyObject *record_iterate(PyObject *self)
{
    record *r = (record *)self;
    PyObject *names = PyTuple_New(r->kind->count);
    if (names == NULL)
        return NULL;
    for (int i = 0; i < r->kind->count; i++)
        PyTuple_SetItem(names, i, Py_NewRef(r->kind->keys[i]));
    PyObject *iterator = PyObject_GetIter(names);
    Py_DECREF(names);
    return iterator;
}

static PyObject *record_dict(record *r)
{
    PyObject *dict = PyDict_New();
    for (int i = 0; dict != NULL && i < r->kind->count; i++)
        if (PyDict_SetItem(dict, r->kind->keys[i], r->fields[i]) < 0)
            Py_CLEAR(dict);
    return dict;
}

static PyObject *record_repr(PyObject *self)
{
    PyObject *dict = record_dict((record *)self);
    if (dict == NULL)
        return NULL;
    PyObject *text = PyObject_Repr(dict);
    Py_DECREF(dict);
    return text;
}

/* Pickled and copied as a dict. */
static PyObject *record_reduce(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    PyObject *dict = record_dict((record *)self);
    return dict == NULL ? NULL : Py_BuildValue("(O(N))", &PyDict_Type, dict);
}

static PyObject *record_keys(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return PyObject_CallFunctionObjArgs(outside.keys_view, self, NULL);
}

static PyObject *record_items(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return PyObject_CallFunctionObjArgs(outside.items_view, self, NULL);
}

static PyObject *record_values(PyObject *self, PyObject *nothing)
{
    (void)nothing;
    return PyObject_CallFunctionObjArgs(outside.values_view, self, NULL);
}

/* Equal to every mapping with equal items: 1, 0, or -1 with an exception. */
static int record_equal(record *r, PyObject *other)
{
    if (Py_TYPE(other) == r->kind->type) {
        record *o = (record *)other;
        for (int i = 0; i < r->kind->count; i++) {
            int same = PyObject_RichCompareBool(r->fields[i], o->fields[i], Py_EQ);
            if (same != 1)
                return same;
        }
        return 1;
    }
    Py_ssize_t length = PyObject_Size(other);
    if (length != r->kind->count)
        return length < 0 ? -1 : 0;
    for (int i = 0; i < r->kind->count; i++) {
        int there = PySequence_Contains(other, r->kind->keys[i]);
        if (there != 1)
            return there;
        PyObject *theirs = PyObject_GetItem(other, r->kind->keys[i]);
        if (theirs == NULL)
            return -1;
        int same = PyObject_RichCompareBool(r->fields[i], theirs, Py_EQ);
        Py_DECREF(theirs);
        if (same != 1)
            return same;
    }
    return 1;
}

static PyObject *record_compare(PyObject *self, PyObject *other, int operation)
{
    if (operation != Py_EQ && operation != Py_NE)
        return Py_NewRef(Py_NotImplemented);
    if (!PyDict_Check(other) && Py_TYPE(other) != Py_TYPE(self)) {
        int mapping = PyObject_IsInstance(other, outside.mapping);
        if (mapping <= 0)
            return mapping < 0 ? NULL : Py_NewRef(Py_NotImplemented);
    }
    int same = record_equal((record *)self, other);
    return same < 0 ? NULL : PyBool_FromLong(same == (operation == Py_EQ));
}

static PyMethodDef record_methods[] = {
    {"get", (PyCFunction)(void (*)(void))record_get, METH_FASTCALL, "Return a field, or a default."},
    {"keys", record_keys, METH_NOARGS, "Return the names of the fields."},
    {"items", record_items, METH_NOARGS, "Return names and values."},
    {"values", record_values, METH_NOARGS, "Return the values of the fields."},
    {"__reduce__", record_reduce, METH_NOARGS, "Pickle as a dict."},
    {NULL, NULL, 0, NULL},
};

/* Make the Python type of a kind; 0 with an exception when it fails. */
static int establish(kind *k)
{
    for (int i = 0; i < k->count; i++) {
        k->keys[i] = PyUnicode_InternFromString(k->names[i]);
        if (k->keys[i] == NULL)
            return 0;
        k->members[i].name = k->names[i];
        k->members[i].type = T_OBJECT_EX;
        k->members[i].offset = (Py_ssize_t)(offsetof(record, fields) + (size_t)i * sizeof(PyObject *));
        k->members[i].flags = READONLY;
    }
    PyType_Slot slots[] = {
        {Py_tp_dealloc, (void *)record_free},
        {Py_tp_members, k->members},
        {Py_tp_methods, record_methods},
        {Py_tp_repr, (void *)record_repr},
        {Py_tp_richcompare, (void *)record_compare},
        {Py_tp_hash, (void *)PyObject_HashNotImplemented},
        {Py_tp_iter, (void *)record_iterate},
        {Py_mp_subscript, (void *)record_item},
        {Py_mp_length, (void *)record_length},
        {Py_sq_contains, (void *)record_contains},
        {Py_tp_doc, "Fields of a frame: a mapping that cannot be changed."},
        {0, NULL},
    };
    PyType_Spec spec = {
        .name = k->qualified,
        .basicsize = (int)(offsetof(record, fields) + (size_t)(k->count ? k->count : 1) * sizeof(PyObject *)),
        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_IMMUTABLETYPE | Py_TPFLAGS_DISALLOW_INSTANTIATION,
        .slots = slots,
    };
    k->type = (PyTypeObject *)PyType_FromSpec(&spec);
    if (k->type == NULL)
        return 0;
    PyObject *known = PyObject_CallMethod(outside.mapping, "register", "O", k->type);
    Py_XDECREF(known);
    return known != NULL;
}

/* One group of bits: the same place in a byte as in the table of names. */
typedef struct {
    uint8_t mask;
    uint8_t shift;
} bits;

/* Make the shared records of the bytes that can stand somewhere. */
SOMETIMES int tabulate(kind *k, const bits *each, PyObject *table[256], const uint8_t *begins, int count)
{
    for (int index = 0; index < count; index++) {
        uint8_t byte = begins == NULL ? (uint8_t)index : begins[index];
        record *made = make(k, k->count);
        if (made == NULL)
            return 0;
        made->byte = byte;
        for (int i = 0; i < k->count; i++) {
            made->fields[i] = PyLong_FromLong((byte & each[i].mask) >> each[i].shift);
            if (made->fields[i] == NULL) {
                Py_DECREF(made);
                return 0;
            }
        }
        table[byte] = (PyObject *)made;
    }
    return 1;
}

/* The same of an integer of several bytes, of which there are too many for a table. */
typedef struct {
    uint64_t mask;
    uint8_t shift;
} word_bits;

static inline PyObject *named_bits(kind *k, const word_bits *each, uint64_t number)
{
    record *made = make(k, k->count);
    if (made == NULL)
        return NULL;
    made->byte = number;
    for (int i = 0; i < k->count; i++) {
        made->fields[i] = PyLong_FromUnsignedLongLong((number & each[i].mask) >> each[i].shift);
        if (made->fields[i] == NULL) {
            Py_DECREF(made);
            return NULL;
        }
    }
    return (PyObject *)made;
}

/* A list that is being gathered: short ones need no growing. */
#define SHORT 8

typedef struct {
    PyObject *first[SHORT];
    Py_ssize_t count;
    PyObject *list;
} gathering;

SOMETIMES int gather(gathering *g, PyObject *item)
{
    if (g->count < SHORT) {
        g->first[g->count++] = item;
        return 1;
    }
    if (g->list == NULL) {
        g->list = PyList_New(SHORT);
        if (g->list == NULL) {
            Py_DECREF(item);
            return 0;
        }
        for (Py_ssize_t i = 0; i < SHORT; i++)
            PyList_SetItem(g->list, i, g->first[i]);
    }
    int bad = PyList_Append(g->list, item);
    Py_DECREF(item);
    g->count++;
    return bad == 0;
}

SOMETIMES PyObject *gathered(gathering *g)
{
    if (g->list != NULL)
        return g->list;
    PyObject *list = PyList_New(g->count);
    if (list == NULL) {
        for (Py_ssize_t i = 0; i < g->count; i++)
            Py_DECREF(g->first[i]);
        return NULL;
    }
    for (Py_ssize_t i = 0; i < g->count; i++)
        PyList_SetItem(list, i, g->first[i]);
    return list;
}

SOMETIMES PyObject *scattered(gathering *g)
{
    if (g->list == NULL)
        for (Py_ssize_t i = 0; i < g->count; i++)
            Py_DECREF(g->first[i]);
    Py_XDECREF(g->list);
    return NULL;
}

static inline PyObject *number(uint64_t value)
{
    return value < UINT32_C(1) << 30 ? PyLong_FromLong((long)value) : PyLong_FromUnsignedLongLong(value);
}

/* Text of `count` bytes that were announced at `announced`. */
static inline PyObject *text(reader *r, size_t start, size_t count, size_t announced)
{
    PyObject *made = PyUnicode_DecodeUTF8((const char *)r->data + start, (Py_ssize_t)count, "strict");
    if (made == NULL && PyErr_ExceptionMatches(PyExc_UnicodeDecodeError)) {
        PyErr_Clear();
        refuse(r, BAD_TEXT, announced);
    }
    return made;
}

static inline PyObject *octets(const reader *r, size_t start, size_t count)
{
    return PyBytes_FromStringAndSize((const char *)r->data + start, (Py_ssize_t)count);
}

#include "writing.h"

#include "module.h"

#endif
