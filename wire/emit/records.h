/* The values that generated C makes, and the buffer that it writes into: included once by every native.c.
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

#define MOST_FIELDS 16
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
    int byte; /* of flags: the byte that these bits are */
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
static int tabulate(kind *k, const bits *each, PyObject *table[256], const uint8_t *begins, int count)
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

/* A list that is being gathered: short ones need no growing. */
#define SHORT 8

typedef struct {
    PyObject *first[SHORT];
    Py_ssize_t count;
    PyObject *list;
} gathering;

static int gather(gathering *g, PyObject *item)
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

static PyObject *gathered(gathering *g)
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

static PyObject *scattered(gathering *g)
{
    if (g->list == NULL)
        for (Py_ssize_t i = 0; i < g->count; i++)
            Py_DECREF(g->first[i]);
    Py_XDECREF(g->list);
    return NULL;
}

/* `value >> by`, as Python has it: nothing is left when more is shifted out than there is. */
static inline int64_t shifted(int64_t value, int64_t by)
{
    return by > 62 ? (value < 0 ? -1 : 0) : value >> by;
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

static int write_text(writer *w, PyObject *value, int count_it)
{
    Py_ssize_t count;
    const char *data = PyUnicode_AsUTF8AndSize(value, &count);
    return data != NULL && (!count_it || write_varint(w, (uint64_t)count)) && write_octets(w, data, (size_t)count);
}

static int write_bytes(writer *w, PyObject *value, int count_it)
{
    char *data;
    Py_ssize_t count;
    if (PyBytes_AsStringAndSize(value, &data, &count) < 0)
        return 0;
    return (!count_it || write_varint(w, (uint64_t)count)) && write_octets(w, data, (size_t)count);
}

typedef PyObject *(*read_value)(reader *);
typedef int (*write_value)(writer *, PyObject *);

/* Decode one whole frame: `decode(data, refuse_overlong=False)`. */
static PyObject *decoded(PyObject *const *arguments, Py_ssize_t count, const char *layout, size_t most, read_value read)
{
    char *data;
    Py_ssize_t size;
    if (count < 1 || count > 2) {
        PyErr_SetString(PyExc_TypeError, "decode takes the bytes of a frame, and whether overlong integers are refused");
        return NULL;
    }
    if (PyBytes_AsStringAndSize(arguments[0], &data, &size) < 0)
        return NULL;
    int strict = count == 2 ? PyObject_IsTrue(arguments[1]) : 0;
    if (strict < 0)
        return NULL;
    reader r = {.data = (const uint8_t *)data, .size = (size_t)size, .refuse_overlong = strict};
    PyObject *value = NULL;
    if (most && r.size > most)
        refuse(&r, TOO_LONG, most);
    else if ((value = read(&r)) != NULL) {
        if (r.at == r.size)
            return value;
        refuse(&r, TRAILING, r.at);
        Py_DECREF(value);
    }
    if (!PyErr_Occurred()) {
        PyObject *refusal = PyObject_CallFunction(outside.refusal, "insOi", (int)r.reason, (Py_ssize_t)r.offset, layout,
                                                  arguments[0], strict);
        if (refusal != NULL) {
            PyErr_SetObject((PyObject *)Py_TYPE(refusal), refusal);
            Py_DECREF(refusal);
        }
    }
    return NULL;
}

/* Encode a value that this module has decoded; any other goes to `otherwise`, the Python engine. */
static PyObject *encoded(PyObject *value, size_t most, write_value write, PyObject *otherwise)
{
    writer w = {.size = 0, .room = sizeof w.first};
    w.data = w.first;
    PyObject *made = NULL;
    int written = write(&w, value);
    if (written && (!most || w.size <= most))
        made = PyBytes_FromStringAndSize((const char *)w.data, (Py_ssize_t)w.size);
    if (w.data != w.first)
        PyMem_Free(w.data);
    if (made == NULL && !PyErr_Occurred())
        made = PyObject_CallFunctionObjArgs(otherwise, value, NULL);
    return made;
}

/* Give the module its codecs, and each of them the Python engine's way to encode. */
static int publish(PyObject *module, const char *python, const char *const names[][2], PyObject **const otherwise[],
                   int count)
{
    PyObject *codecs = PyDict_New(), *engine = PyImport_ImportModule(python);
    PyObject *others = engine == NULL ? NULL : PyObject_GetAttrString(engine, "CODECS");
    int done = codecs != NULL && others != NULL;
    for (int i = 0; done && i < count; i++) {
        char name[128];
        PyOS_snprintf(name, sizeof name, "decode_%s", names[i][1]);
        PyObject *decode = PyObject_GetAttrString(module, name);
        PyOS_snprintf(name, sizeof name, "encode_%s", names[i][1]);
        PyObject *encode = PyObject_GetAttrString(module, name);
        PyObject *codec = NULL, *other = PyMapping_GetItemString(others, names[i][0]);
        if (decode != NULL && encode != NULL && other != NULL) {
            codec = PyObject_CallFunctionObjArgs(outside.codec, decode, encode, NULL);
            *otherwise[i] = PyObject_GetAttrString(other, "encode");
        }
        done = codec != NULL && *otherwise[i] != NULL && PyDict_SetItemString(codecs, names[i][0], codec) == 0;
        Py_XDECREF(decode);
        Py_XDECREF(encode);
        Py_XDECREF(other);
        Py_XDECREF(codec);
    }
    done = done && PyObject_SetAttrString(module, "CODECS", codecs) == 0;
    Py_XDECREF(codecs);
    Py_XDECREF(engine);
    Py_XDECREF(others);
    return done;
}

/* Fetch what this file needs of Python modules. */
static int connect(void)
{
    PyObject *abc = PyImport_ImportModule("collections.abc"), *runtime = PyImport_ImportModule("wire.runtime");
    if (abc != NULL && runtime != NULL) {
        outside.keys_view = PyObject_GetAttrString(abc, "KeysView");
        outside.items_view = PyObject_GetAttrString(abc, "ItemsView");
        outside.values_view = PyObject_GetAttrString(abc, "ValuesView");
        outside.mapping = PyObject_GetAttrString(abc, "Mapping");
        outside.refusal = PyObject_GetAttrString(runtime, "native_refusal");
        outside.codec = PyObject_GetAttrString(runtime, "Codec");
    }
    Py_XDECREF(abc);
    Py_XDECREF(runtime);
    return outside.keys_view && outside.items_view && outside.values_view && outside.mapping && outside.refusal &&
           outside.codec;
}

#endif
