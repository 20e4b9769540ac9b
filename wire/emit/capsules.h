/* The module that shows results to Python: `decode(layout, frames, refuse_overlong)` gives a Batch, which exports
 * itself as Arrow's PyCapsule interface has it. For the stable ABI of Python 3.11; pyarrow is not needed. */

#ifndef GOLDWIRE_CAPSULES_H
#define GOLDWIRE_CAPSULES_H

#include "arrow.h"

/* How many bytes the frames of one batch have together: offsets of text and lists have 32 bits. */
#define MOST_BYTES INT32_MAX

typedef struct {
    PyObject *batch_type;
} module_state;

typedef struct {
    PyObject_HEAD
    result *result;
} batch;

static struct PyModuleDef MODULE;

/* Batches */

static void schema_destroy(PyObject *capsule)
{
    struct ArrowSchema *schema = PyCapsule_GetPointer(capsule, "arrow_schema");
    if (schema->release)
        schema->release(schema);
    free(schema);
}

static void array_destroy(PyObject *capsule)
{
    struct ArrowArray *array = PyCapsule_GetPointer(capsule, "arrow_array");
    if (array->release)
        array->release(array);
    free(array);
}

static void stream_destroy(PyObject *capsule)
{
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(capsule, "arrow_array_stream");
    if (stream->release)
        stream->release(stream);
    free(stream);
}

static PyObject *capsule_of_schema(const layout *layout)
{
    struct ArrowSchema *schema = calloc(1, sizeof *schema);
    if (!schema || !export_schema(layout, schema)) {
        free(schema);
        return PyErr_NoMemory();
    }
    PyObject *capsule = PyCapsule_New(schema, "arrow_schema", schema_destroy);
    if (!capsule) {
        schema->release(schema);
        free(schema);
    }
    return capsule;
}

static PyObject *capsule_of_array(result *r)
{
    struct ArrowArray *array = calloc(1, sizeof *array);
    if (!array || !export_array(r, array)) {
        free(array);
        return PyErr_NoMemory();
    }
    PyObject *capsule = PyCapsule_New(array, "arrow_array", array_destroy);
    if (!capsule) {
        array->release(array);
        free(array);
    }
    return capsule;
}

static PyObject *batch_schema(PyObject *self, PyObject *unused)
{
    (void)unused;
    return capsule_of_schema(((batch *)self)->result->layout);
}

/* A consumer may ask for another schema; there is only this one, and the protocol leaves that to the producer. */
static PyObject *batch_array(PyObject *self, PyObject *args, PyObject *options)
{
    static char *names[] = {"requested_schema", NULL};
    PyObject *wanted = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, options, "|O", names, &wanted))
        return NULL;
    PyObject *schema = capsule_of_schema(((batch *)self)->result->layout);
    if (!schema)
        return NULL;
    PyObject *array = capsule_of_array(((batch *)self)->result);
    PyObject *both = array ? PyTuple_Pack(2, schema, array) : NULL;
    Py_DECREF(schema);
    Py_XDECREF(array);
    return both;
}

static PyObject *batch_stream(PyObject *self, PyObject *args, PyObject *options)
{
    static char *names[] = {"requested_schema", NULL};
    PyObject *wanted = NULL;
    if (!PyArg_ParseTupleAndKeywords(args, options, "|O", names, &wanted))
        return NULL;
    struct ArrowArrayStream *stream = calloc(1, sizeof *stream);
    if (!stream || !export_stream(((batch *)self)->result, stream)) {
        free(stream);
        return PyErr_NoMemory();
    }
    PyObject *capsule = PyCapsule_New(stream, "arrow_array_stream", stream_destroy);
    if (!capsule) {
        stream->release(stream);
        free(stream);
    }
    return capsule;
}

static Py_ssize_t batch_length(PyObject *self)
{
    return (Py_ssize_t)((batch *)self)->result->table->rows;
}

static void batch_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    if (((batch *)self)->result)
        result_drop(((batch *)self)->result);
    PyObject_Free(self);
    Py_DECREF(type);
}

static PyMethodDef BATCH_METHODS[] = {
    {"__arrow_c_schema__", batch_schema, METH_NOARGS, "Export the schema."},
    {"__arrow_c_array__", (PyCFunction)(void (*)(void))batch_array, METH_VARARGS | METH_KEYWORDS,
     "Export the schema and the rows, as one struct."},
    {"__arrow_c_stream__", (PyCFunction)(void (*)(void))batch_stream, METH_VARARGS | METH_KEYWORDS,
     "Export a stream of one array."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot BATCH_SLOTS[] = {
    {Py_tp_dealloc, batch_dealloc},
    {Py_tp_methods, BATCH_METHODS},
    {Py_mp_length, batch_length},
    {0, NULL},
};

static PyType_Spec BATCH_SPEC = {
    .name = "columnar.Batch",
    .basicsize = sizeof(batch),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
    .slots = BATCH_SLOTS,
};

/* Frames: runs of them, what must live as long as they are read, and who releases it. */

typedef struct {
    segment *runs;
    size_t count;
    size_t room;
    size_t rows;
    uint64_t bytes;
    uint8_t *values;
    int64_t *offsets;
    uint8_t *valid;
    struct ArrowArray *arrays; /* of a stream: one per run, ours to release */
    PyObject *held;            /* the capsules of an array */
} input;

static void input_free(input *in)
{
    for (size_t i = 0; in->arrays && i < in->count; i++)
        if (in->arrays[i].release)
            in->arrays[i].release(&in->arrays[i]);
    free(in->arrays);
    free(in->runs);
    free(in->values);
    free(in->offsets);
    free(in->valid);
    Py_XDECREF(in->held);
}

static int input_grow(input *in)
{
    if (in->count < in->room)
        return 1;
    size_t room = in->room ? 2 * in->room : 4;
    segment *runs = realloc(in->runs, room * sizeof *runs);
    if (runs)
        in->runs = runs;
    struct ArrowArray *arrays = realloc(in->arrays, room * sizeof *arrays);
    if (arrays)
        in->arrays = arrays;
    if (!runs || !arrays) {
        PyErr_NoMemory();
        return 0;
    }
    in->room = room;
    return 1;
}

static int too_many(void)
{
    PyErr_SetString(PyExc_ValueError, "the frames of one batch have at most 2 GiB together; split the batch");
    return 0;
}

/* Whether a schema is one of frames; sets `wide`. */
static int is_binary(const struct ArrowSchema *schema, int *wide)
{
    *wide = !strcmp(schema->format, "Z");
    if (*wide || !strcmp(schema->format, "z"))
        return 1;
    PyErr_Format(PyExc_TypeError,
                 "frames are of the Arrow type binary or large_binary, not of the one with the format \"%s\"",
                 schema->format);
    return 0;
}

/* Add an array's frames, which stay where they are. */
static int input_add(input *in, const struct ArrowArray *array, int wide)
{
    if (array->length == 0)
        return 1;
    segment s = {.values = array->buffers[2],
                 .offsets = array->buffers[1],
                 .wide = wide,
                 .valid = array->null_count ? array->buffers[0] : NULL,
                 .first = (size_t)array->offset,
                 .count = (size_t)array->length};
    size_t last = s.first + s.count;
    int64_t begin, end;
    int rising;
    if (wide) {
        const int64_t *offsets = s.offsets;
        begin = offsets[s.first], end = offsets[last], rising = begin >= 0;
        for (size_t i = s.first; i < last; i++)
            rising &= offsets[i] <= offsets[i + 1];
    } else {
        const int32_t *offsets = s.offsets;
        begin = offsets[s.first], end = offsets[last], rising = begin >= 0;
        for (size_t i = s.first; i < last; i++)
            rising &= offsets[i] <= offsets[i + 1];
    }
    if (!rising) {
        PyErr_SetString(PyExc_ValueError, "the offsets of the Arrow array decrease");
        return 0;
    }
    in->rows += s.count;
    in->bytes += (uint64_t)(end - begin);
    if (in->bytes > MOST_BYTES)
        return too_many();
    static const uint8_t NOTHING[1];
    if (!s.values)
        s.values = NOTHING;
    s.limit = s.values + end;
    in->runs[in->count] = s;
    return 1;
}

static int input_from_array(input *in, PyObject *frames)
{
    in->held = PyObject_CallMethod(frames, "__arrow_c_array__", NULL);
    if (!in->held)
        return 0;
    if (!PyTuple_Check(in->held) || PyTuple_Size(in->held) != 2) {
        PyErr_SetString(PyExc_TypeError, "__arrow_c_array__ does not give a schema and an array");
        return 0;
    }
    struct ArrowSchema *schema = PyCapsule_GetPointer(PyTuple_GetItem(in->held, 0), "arrow_schema");
    struct ArrowArray *array = schema ? PyCapsule_GetPointer(PyTuple_GetItem(in->held, 1), "arrow_array") : NULL;
    int wide;
    if (!array || !is_binary(schema, &wide) || !input_grow(in))
        return 0;
    if (!array->release) {
        PyErr_SetString(PyExc_ValueError, "the Arrow array of frames was released");
        return 0;
    }
    in->arrays[0].release = NULL; /* the capsule releases it */
    if (!input_add(in, array, wide))
        return 0;
    in->count = array->length ? 1 : 0;
    return 1;
}

static int failed_stream(struct ArrowArrayStream *stream)
{
    const char *error = stream->get_last_error(stream);
    PyErr_Format(PyExc_ValueError, "the Arrow stream of frames fails: %s", error ? error : "it does not say why");
    return 0;
}

static int input_from_stream(input *in, PyObject *frames)
{
    in->held = PyObject_CallMethod(frames, "__arrow_c_stream__", NULL);
    struct ArrowArrayStream *stream = in->held ? PyCapsule_GetPointer(in->held, "arrow_array_stream") : NULL;
    if (!stream)
        return 0;
    struct ArrowSchema schema;
    if (stream->get_schema(stream, &schema))
        return failed_stream(stream);
    int wide;
    int right = is_binary(&schema, &wide);
    schema.release(&schema);
    while (right) {
        if (!input_grow(in))
            return 0;
        struct ArrowArray *array = &in->arrays[in->count];
        if (stream->get_next(stream, array))
            return failed_stream(stream);
        if (!array->release)
            break;
        right = input_add(in, array, wide);
        if (right && array->length)
            in->count++;
        else
            array->release(array);
    }
    return right;
}

static int input_from_list(input *in, PyObject *list)
{
    size_t count = (size_t)PyList_Size(list);
    in->offsets = malloc((count + 1) * sizeof *in->offsets);
    in->valid = calloc(1, count / 8 + 1);
    if (!in->offsets || !in->valid || !input_grow(in)) {
        PyErr_NoMemory();
        return 0;
    }
    uint64_t size = 0;
    for (size_t i = 0; i < count; i++) {
        PyObject *frame = PyList_GetItem(list, (Py_ssize_t)i);
        in->offsets[i] = (int64_t)size;
        if (frame == Py_None)
            continue;
        if (!PyBytes_Check(frame)) {
            PyErr_Format(PyExc_TypeError, "frame %zu is not bytes, nor None", i);
            return 0;
        }
        in->valid[i >> 3] |= (uint8_t)(1u << (i & 7));
        size += (uint64_t)PyBytes_Size(frame);
        if (size > MOST_BYTES)
            return too_many();
    }
    in->offsets[count] = (int64_t)size;
    in->values = malloc((size_t)size + CHUNK);
    if (!in->values) {
        PyErr_NoMemory();
        return 0;
    }
    memset(in->values + size, 0, CHUNK);
    for (size_t i = 0; i < count; i++) {
        PyObject *frame = PyList_GetItem(list, (Py_ssize_t)i);
        if (frame != Py_None)
            memcpy(in->values + in->offsets[i], PyBytes_AsString(frame), (size_t)(in->offsets[i + 1] - in->offsets[i]));
    }
    in->arrays[0].release = NULL;
    in->runs[0] = (segment){.values = in->values,
                            .offsets = in->offsets,
                            .wide = 1,
                            .valid = in->valid,
                            .count = count,
                            .limit = in->values + size + CHUNK};
    in->count = 1;
    in->rows = count;
    in->bytes = size;
    return 1;
}

static int input_from(input *in, PyObject *frames)
{
    if (PyObject_HasAttrString(frames, "__arrow_c_array__"))
        return input_from_array(in, frames);
    if (PyObject_HasAttrString(frames, "__arrow_c_stream__"))
        return input_from_stream(in, frames);
    if (PyList_Check(frames))
        return input_from_list(in, frames);
    PyErr_Format(PyExc_TypeError, "frames are a list of bytes, or an Arrow array or stream of binary, not %R",
                 (PyObject *)Py_TYPE(frames));
    return 0;
}

/* The module */

static const layout *layout_named(const char *name)
{
    for (const layout *each = LAYOUTS; each->name; each++)
        if (!strcmp(each->name, name))
            return each;
    return NULL;
}

/* Read all frames with the interpreter's lock released; NULL if there is no memory. */
static result *decoded(const layout *layout, const input *in, int refuse_overlong)
{
    result *r;
    Py_BEGIN_ALLOW_THREADS
    frames f = {.refuse_overlong = refuse_overlong};
    r = result_new(layout, &f, in->rows, (size_t)in->bytes);
    int done = r != NULL;
    for (size_t i = 0; done && i < in->count; i++)
        done = layout->run(&f, &in->runs[i]);
    if (r && !(done && result_finish(r, &f))) {
        result_drop(r);
        r = NULL;
    }
    Py_END_ALLOW_THREADS
    return r;
}

static PyObject *decode(PyObject *module, PyObject *args)
{
    const char *name;
    PyObject *frames;
    int refuse_overlong;
    if (!PyArg_ParseTuple(args, "sOp", &name, &frames, &refuse_overlong))
        return NULL;
    const layout *layout = layout_named(name);
    if (!layout)
        return PyErr_Format(PyExc_LookupError, "no layout is called '%s'", name);
    input in = {0};
    result *r = NULL;
    if (input_from(&in, frames)) {
        r = decoded(layout, &in, refuse_overlong);
        if (!r)
            PyErr_NoMemory();
    }
    input_free(&in);
    if (!r)
        return NULL;
    module_state *state = PyModule_GetState(module);
    batch *made = PyObject_New(batch, (PyTypeObject *)state->batch_type);
    if (!made) {
        result_drop(r);
        return NULL;
    }
    made->result = r;
    return (PyObject *)made;
}

static PyMethodDef METHODS[] = {
    {"decode", decode, METH_VARARGS,
     "decode(layout, frames, refuse_overlong): read a list of bytes, or an Arrow array or stream of binary."},
    {NULL, NULL, 0, NULL},
};

static int module_exec(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    state->batch_type = PyType_FromModuleAndSpec(module, &BATCH_SPEC, NULL);
    return state->batch_type ? PyModule_AddStringConstant(module, "STAMP", STAMP) : -1;
}

static int module_traverse(PyObject *module, visitproc visit, void *arg)
{
    module_state *state = PyModule_GetState(module);
    Py_VISIT(state->batch_type);
    return 0;
}

static int module_clear(PyObject *module)
{
    module_state *state = PyModule_GetState(module);
    Py_CLEAR(state->batch_type);
    return 0;
}

static PyModuleDef_Slot MODULE_SLOTS[] = {{Py_mod_exec, module_exec}, {0, NULL}};

static struct PyModuleDef MODULE = {
    .m_base = PyModuleDef_HEAD_INIT,
    .m_name = "columnar",
    .m_size = sizeof(module_state),
    .m_methods = METHODS,
    .m_slots = MODULE_SLOTS,
    .m_traverse = module_traverse,
    .m_clear = module_clear,
};

PyMODINIT_FUNC PyInit_columnar(void)
{
    return PyModuleDef_Init(&MODULE);
}

#endif
