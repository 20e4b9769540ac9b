/* Results as Arrow's C data interface has them: https://arrow.apache.org/docs/format/CDataInterface.html
 *
 * Nothing is copied: every exported array shares the result, children that were moved away as well. */

#ifndef GOLDWIRE_ARROW_H
#define GOLDWIRE_ARROW_H

#include <errno.h>

#include "columns.h"

#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

struct ArrowSchema {
    const char *format;
    const char *name;
    const char *metadata;
    int64_t flags;
    int64_t n_children;
    struct ArrowSchema **children;
    struct ArrowSchema *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length;
    int64_t null_count;
    int64_t offset;
    int64_t n_buffers;
    int64_t n_children;
    const void **buffers;
    struct ArrowArray **children;
    struct ArrowArray *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

#endif

#ifndef ARROW_C_STREAM_INTERFACE
#define ARROW_C_STREAM_INTERFACE

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

#endif

/* Schemas: the names stand in the generated source, only the children are memory. */

static void schema_release(struct ArrowSchema *schema)
{
    for (int64_t i = 0; i < schema->n_children; i++)
        if (schema->children[i]->release)
            schema->children[i]->release(schema->children[i]);
    if (schema->dictionary && schema->dictionary->release)
        schema->dictionary->release(schema->dictionary);
    free(schema->private_data);
    schema->release = NULL;
}

/* A schema with `children` children, and one more for the values of a `dictionary`, which are all released yet. */
static int schema_new(struct ArrowSchema *out, const char *format, const char *name, size_t children, int dictionary)
{
    size_t count = children + (dictionary ? 1 : 0);
    memset(out, 0, sizeof *out);
    struct ArrowSchema **pointers = NULL;
    if (count) {
        pointers = calloc(count, sizeof *pointers + sizeof *out);
        if (!pointers)
            return 0;
        struct ArrowSchema *first = (struct ArrowSchema *)(pointers + count);
        for (size_t i = 0; i < count; i++)
            pointers[i] = first + i;
    }
    out->format = format;
    out->name = name;
    out->flags = ARROW_FLAG_NULLABLE;
    out->n_children = (int64_t)children;
    out->children = children ? pointers : NULL;
    out->dictionary = dictionary ? pointers[children] : NULL;
    out->private_data = pointers;
    out->release = schema_release;
    return 1;
}

static int schema_of_columns(const table_type *type, struct ArrowSchema **children);

static int schema_of_column(const column_type *type, struct ArrowSchema *out)
{
    static const char *const NUMBERS[] = {[1] = "C", [2] = "S", [4] = "I", [8] = "L"};
    static const char *const SIGNS[] = {[1] = "c", [2] = "s", [4] = "i", [8] = "l"};
    switch (type->kind) {
    case NUMBER:
        return schema_new(out, NUMBERS[type->size], type->name, 0, 0);
    case SIGNED:
        return schema_new(out, SIGNS[type->size], type->name, 0, 0);
    case FLOAT:
        return schema_new(out, "f", type->name, 0, 0);
    case DOUBLE:
        return schema_new(out, "g", type->name, 0, 0);
    case OFFSET:
        return schema_new(out, "l", type->name, 0, 0);
    case TEXT:
        return schema_new(out, "u", type->name, 0, 0);
    case BYTES:
        return schema_new(out, "z", type->name, 0, 0);
    case CHOICE:
        return schema_new(out, type->size == 1 ? "c" : "s", type->name, 0, 1) &&
               schema_new(out->dictionary, "u", "", 0, 0);
    case ITEMS:
        return schema_new(out, "+l", type->name, 1, 0) &&
               schema_new(out->children[0], "+s", "item", type->items->count, 0) &&
               schema_of_columns(type->items, out->children[0]->children);
    }
    return 0;
}

static int schema_of_columns(const table_type *type, struct ArrowSchema **children)
{
    for (size_t i = 0; i < type->count; i++)
        if (!schema_of_column(&type->columns[i], children[i]))
            return 0;
    return 1;
}

/* The schema of a layout: a struct; 0 if there is no memory. */
static int export_schema(const layout *layout, struct ArrowSchema *out)
{
    size_t first = layout->refusals->count;
    if (!schema_new(out, "+s", "", first + layout->type->count, 0))
        return 0;
    if (schema_of_columns(layout->refusals, out->children) && schema_of_columns(layout->type, out->children + first))
        return 1;
    out->release(out);
    return 0;
}

/* Arrays */

/* What an array keeps: its own buffers, its share of the result, and the children's memory behind. */
typedef struct {
    result *result;
    const void *buffers[3];
    struct ArrowArray *pointers[];
} holding;

static void array_release(struct ArrowArray *array)
{
    holding *held = array->private_data;
    for (int64_t i = 0; i < array->n_children; i++)
        if (array->children[i]->release)
            array->children[i]->release(array->children[i]);
    if (array->dictionary && array->dictionary->release)
        array->dictionary->release(array->dictionary);
    result_drop(held->result);
    free(held);
    array->release = NULL;
}

static int array_new(result *r, struct ArrowArray *out, size_t length, int64_t nulls, int64_t buffers, size_t children,
                     int dictionary)
{
    size_t count = children + (dictionary ? 1 : 0);
    memset(out, 0, sizeof *out);
    holding *held = calloc(1, sizeof *held + count * (sizeof *held->pointers + sizeof *out));
    if (!held)
        return 0;
    struct ArrowArray *first = (struct ArrowArray *)(held->pointers + count);
    for (size_t i = 0; i < count; i++)
        held->pointers[i] = first + i;
    held->result = r;
    atomic_fetch_add(&r->owners, 1);
    out->length = (int64_t)length;
    out->null_count = nulls;
    out->n_buffers = buffers;
    out->buffers = held->buffers;
    out->n_children = (int64_t)children;
    out->children = children ? held->pointers : NULL;
    out->dictionary = dictionary ? held->pointers[children] : NULL;
    out->private_data = held;
    out->release = array_release;
    return 1;
}

static int array_of_columns(result *r, const table_type *type, const table *t, struct ArrowArray **children);

/* A column of a table; both may not exist, then there are `rows` nulls. */
static int array_of_column(result *r, const column_type *type, const column *c, size_t rows, struct ArrowArray *out)
{
    int there = c && c->valid;
    const void *values = there ? c->values : r->zeros;
    int64_t nulls = there ? c->nulls : (int64_t)rows;
    int64_t buffers = type->kind == TEXT || type->kind == BYTES ? 3 : 2;
    if (!array_new(r, out, rows, nulls, buffers, type->kind == ITEMS, type->kind == CHOICE))
        return 0;
    out->buffers[0] = nulls ? there ? c->valid : r->zeros : NULL;
    out->buffers[1] = values;
    if (buffers == 3)
        out->buffers[2] = there && c->bytes ? c->bytes : r->zeros;
    if (type->kind == CHOICE) {
        struct ArrowArray *names = out->dictionary;
        if (!array_new(r, names, (size_t)type->choices->count, 0, 3, 0, 0))
            return 0;
        names->buffers[1] = type->choices->offsets;
        names->buffers[2] = type->choices->text;
    }
    if (type->kind == ITEMS) {
        const table *items = there ? c->items : NULL;
        size_t count = items ? items->rows : 0;
        return array_new(r, out->children[0], count, 0, 1, type->items->count, 0) &&
               array_of_columns(r, type->items, items, out->children[0]->children);
    }
    return 1;
}

static int array_of_columns(result *r, const table_type *type, const table *t, struct ArrowArray **children)
{
    for (size_t i = 0; i < type->count; i++)
        if (!array_of_column(r, &type->columns[i], t ? &t->columns[i] : NULL, t ? t->rows : 0, children[i]))
            return 0;
    return 1;
}

/* A result as a struct with a row per frame; 0 if there is no memory. */
static int export_array(result *r, struct ArrowArray *out)
{
    const layout *layout = r->layout;
    size_t first = layout->refusals->count;
    if (!array_new(r, out, r->table->rows, 0, 1, first + layout->type->count, 0))
        return 0;
    if (array_of_columns(r, layout->refusals, r->refusals, out->children) &&
        array_of_columns(r, layout->type, r->table, out->children + first))
        return 1;
    out->release(out);
    return 0;
}

/* Streams: of one array. */

static int stream_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out)
{
    result **held = stream->private_data;
    return export_schema(held[0]->layout, out) ? 0 : ENOMEM;
}

static int stream_next(struct ArrowArrayStream *stream, struct ArrowArray *out)
{
    result **held = stream->private_data;
    if (!held[1]) {
        memset(out, 0, sizeof *out);
        return 0;
    }
    if (!export_array(held[1], out))
        return ENOMEM;
    held[1] = NULL;
    return 0;
}

static const char *stream_error(struct ArrowArrayStream *stream)
{
    (void)stream;
    return "no memory";
}

static void stream_release(struct ArrowArrayStream *stream)
{
    result **held = stream->private_data;
    result_drop(held[0]);
    free(held);
    stream->release = NULL;
}

static int export_stream(result *r, struct ArrowArrayStream *out)
{
    result **held = calloc(2, sizeof *held);
    if (!held)
        return 0;
    held[0] = held[1] = r;
    atomic_fetch_add(&r->owners, 1);
    *out = (struct ArrowArrayStream){stream_schema, stream_next, stream_error, stream_release, held};
    return 1;
}

#endif
