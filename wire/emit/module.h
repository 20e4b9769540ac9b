/* The entries of a generated module, for whole frames, and what it fetches of Python modules: part of records.h. */

#ifndef GOLDWIRE_MODULE_H
#define GOLDWIRE_MODULE_H

#include "writing.h"

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
