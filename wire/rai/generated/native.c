/* Codecs of rai: generated from wire/rai by `python -m wire.emit`. Do not edit. */

#include "records.h"

static kind kind_envelope = {
    .qualified = "wire.rai.generated.native.envelope",
    .count = 4,
    .names = {"operation", "length", "subject", "payload"},
};

static PyObject *envelope_read(reader *r)
{
    record *v = make(&kind_envelope, 4);
    if (v == NULL)
        return NULL;
    uint64_t n_length = 0;
    {
        uint64_t n;
        if (!read_integer(r, 1, &n))
            goto bad;
        if ((v->fields[0] = number(n)) == NULL)
            goto bad;
    }
    {
        uint64_t n;
        if (!read_integer_big(r, 2, &n))
            goto bad;
        n_length = n;
        if ((v->fields[1] = number(n)) == NULL)
            goto bad;
    }
    {
        size_t start;
        int64_t count = (int64_t)n_length;
        if (count < 0) {
            refuse(r, BAD_VALUE, r->at);
            goto bad;
        }
        if (!read_sized(r, (uint64_t)count, &start))
            goto bad;
        if ((v->fields[2] = text(r, start, (size_t)count, start)) == NULL)
            goto bad;
    }
    {
        size_t start = r->at;
        r->at = r->size;
        if ((v->fields[3] = octets(r, start, r->size - start)) == NULL)
            goto bad;
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int envelope_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_envelope.type)
        return 0;
    record *v = (record *)value;
    uint64_t n_length = 0;
    if (!write_integer(w, 1, number_of(v->fields[0])))
        return 0;
    n_length = number_of(v->fields[1]);
    if (!write_integer_big(w, 2, n_length))
        return 0;
    if (!write_text(w, v->fields[2], 0))
        return 0;
    if (!write_bytes(w, v->fields[3], 0))
        return 0;
    return 1;
}

static PyObject *encode_envelope_otherwise;

static PyObject *decode_envelope(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    (void)self;
    return decoded(arguments, count, "rai/envelope", 1114114, envelope_read);
}

static PyObject *encode_envelope(PyObject *self, PyObject *value)
{
    (void)self;
    return encoded(value, 1114114, envelope_write, encode_envelope_otherwise);
}

static PyMethodDef functions[] = {
    {"decode_envelope", (PyCFunction)(void (*)(void))decode_envelope, METH_FASTCALL, "Decode one rai/envelope."},
    {"encode_envelope", encode_envelope, METH_O, "Encode one rai/envelope."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "native",
    .m_doc = "Codecs of rai in C.",
    .m_size = -1,
    .m_methods = functions,
};

static int prepare(void)
{
    if (!connect())
        return 0;
    if (!establish(&kind_envelope))
        return 0;
    return 1;
}

PyMODINIT_FUNC PyInit_native(void)
{
    if (!prepare())
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddStringConstant(module, "STAMP", "04b7a3cb3eb2343f") < 0)
        return NULL;
    static const char *const names[][2] = {{"envelope", "envelope"}};
    static PyObject **const otherwise[] = {&encode_envelope_otherwise};
    static const char python[] = "wire.rai.generated.python";
    if (!publish(module, python, names, otherwise, 1))
        return NULL;
    return module;
}
