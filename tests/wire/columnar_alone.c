/* Generated columns without Python: reads frames from standard input, decodes them alone and together, and consumes
 * the exported arrays as Arrow's C data interface allows. Compiled with sanitizers by test_columnar.py.
 *
 * Input: strict or not (1 byte), the layout's name and NUL, then each frame after its length (4 bytes, little-endian).
 * Output: rows, accepted rows, and a sum over every byte of every buffer that belongs to an array. */

#include <stdio.h>

#include SOURCE
#include "arrow.h"

static uint64_t sum;

static void touch(const void *buffer, size_t size)
{
    for (size_t i = 0; i < size; i++)
        sum = sum * 31 + ((const uint8_t *)buffer)[i];
}

static size_t width(const char *format)
{
    return strchr("lL", *format) ? 8 : strchr("Iuz+", *format) ? 4 : strchr("sS", *format) ? 2 : 1;
}

static void check(int right, const char *what)
{
    if (!right) {
        fprintf(stderr, "%s\n", what);
        exit(1);
    }
}

/* Read everything that a consumer may read. */
static void consume(const struct ArrowSchema *schema, const struct ArrowArray *array)
{
    size_t length = (size_t)array->length;
    check(array->release && schema->release, "released");
    check(array->n_children == schema->n_children && !array->dictionary == !schema->dictionary, "another shape");
    check(array->null_count == 0 || array->buffers[0], "nulls without a bitmap");
    if (array->buffers[0])
        touch(array->buffers[0], (length + 7) / 8);
    if (strchr("uz", *schema->format) || !strcmp(schema->format, "+l")) {
        const int32_t *offsets = array->buffers[1];
        for (size_t i = 0; i < length; i++)
            check(offsets[i] <= offsets[i + 1], "offsets decrease");
        check(offsets[0] == 0, "offsets do not begin at 0");
        touch(offsets, (length + 1) * 4);
        if (*schema->format == '+')
            check(offsets[length] == array->children[0]->length, "a list of another length");
        else
            touch(array->buffers[2], (size_t)offsets[length]);
    } else if (strcmp(schema->format, "+s")) {
        touch(array->buffers[1], length * width(schema->format));
    }
    for (int64_t i = 0; i < array->n_children; i++)
        consume(schema->children[i], array->children[i]);
    if (array->dictionary)
        consume(schema->dictionary, array->dictionary);
}

/* Take a child out of its parent, as the interface has it. */
static struct ArrowArray moved(struct ArrowArray *array)
{
    struct ArrowArray taken = *array;
    array->release = NULL;
    return taken;
}

static void export(result *r, size_t turn)
{
    struct ArrowSchema schema;
    struct ArrowArray one, two;
    check(export_schema(r->layout, &schema) && export_array(r, &one) && export_array(r, &two), "no memory");
    consume(&schema, &one);
    struct ArrowArray child = moved(one.children[turn % (size_t)one.n_children]);
    struct ArrowArray names = moved(two.children[0]->dictionary);
    if (turn % 2)
        result_drop(r);
    one.release(&one);
    two.release(&two);
    consume(schema.children[turn % (size_t)schema.n_children], &child);
    child.release(&child);
    consume(schema.children[0]->dictionary, &names);
    names.release(&names);
    if (turn % 2 == 0) {
        struct ArrowArrayStream stream;
        struct ArrowArray whole, end;
        check(export_stream(r, &stream), "no memory");
        result_drop(r);
        check(!stream.get_next(&stream, &whole) && !stream.get_next(&stream, &end) && !end.release, "no stream");
        stream.release(&stream);
        consume(&schema, &whole);
        whole.release(&whole);
    }
    schema.release(&schema);
}

static size_t decode(const layout *layout, int strict, const uint8_t *data, const int32_t *offsets, size_t count,
                     size_t turn)
{
    size_t bytes = (size_t)offsets[count];
    uint8_t *exact = malloc(bytes ? bytes : 1);
    memcpy(exact, data, bytes);
    frames f = {.refuse_overlong = strict};
    result *r = result_new(layout, &f, count, bytes);
    segment s = {.values = exact, .offsets = offsets, .count = count, .limit = exact + bytes};
    check(r && layout->run(&f, &s) && result_finish(r, &f), "no memory");
    free(exact);
    size_t accepted = (size_t)r->refusals->columns[REFUSED].nulls;
    export(r, turn);
    return accepted;
}

int main(void)
{
    size_t size = 0, room = 1 << 24, at = 1;
    uint8_t *input = malloc(room);
    size = fread(input, 1, room, stdin);
    check(size && size < room, "no input, or too much");
    const layout *layout = LAYOUTS;
    while (layout->name && strcmp(layout->name, (const char *)input + at))
        layout++;
    check(layout->name != NULL, "no such layout");
    at += strlen(layout->name) + 1;
    uint8_t *values = malloc(size);
    int32_t *offsets = malloc((size / 4 + 1) * sizeof *offsets);
    size_t count = 0, accepted = 0;
    for (offsets[0] = 0; at < size; count++) {
        int32_t length;
        memcpy(&length, input + at, 4);
        memcpy(values + offsets[count], input + at + 4, (size_t)length);
        int32_t alone[] = {0, length};
        accepted += decode(layout, input[0], input + at + 4, alone, 1, count);
        offsets[count + 1] = offsets[count] + length;
        at += 4 + (size_t)length;
    }
    check(decode(layout, input[0], values, offsets, count, 0) == accepted, "alone and together differ");
    printf("%zu %zu %llx\n", count, accepted, (unsigned long long)sum);
    free(offsets);
    free(values);
    free(input);
    return 0;
}
