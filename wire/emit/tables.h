/* Tables of columns that generated readers fill, one row per frame or per item of a list: no Python.
 *
 * A column begins to exist with its first value; its memory is zeroed, so a row that nobody writes is null, and costs
 * nothing. Offsets of text, bytes and lists are written where a value ends; the gaps are closed when a batch is
 * complete. A refused frame is taken back: its rows become null, what it appended is cut off. */

#ifndef GOLDWIRE_TABLES_H
#define GOLDWIRE_TABLES_H

#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "frame.h"

#define likely(condition) __builtin_expect(!!(condition), 1)
#define unlikely(condition) __builtin_expect(!!(condition), 0)
#define INLINE static inline __attribute__((always_inline))
#define RARE static __attribute__((noinline, cold))

/* How many bytes are copied at once, if there are as many to read and room to write them. */
enum { CHUNK = 32 };

enum kind { NUMBER, OFFSET, CHOICE, TEXT, BYTES, ITEMS, SIGNED, FLOAT, DOUBLE };

/* The values of a dictionary: text, as Arrow lays it out. */
typedef struct {
    int64_t count;
    const int32_t *offsets;
    const char *text;
} choices;

typedef struct table_type table_type;

/* `size`: bytes of a value; of an offset if the kind has offsets. */
typedef struct {
    const char *name;
    enum kind kind;
    size_t size;
    const choices *choices;
    const table_type *items;
} column_type;

struct table_type {
    size_t count;
    const column_type *columns;
};

typedef struct table table;

/* `length`: bytes in `bytes`. `mark`: bytes, or rows of `items`, before the frame number `marked` added some. */
typedef struct {
    uint8_t *valid;
    void *values;
    uint8_t *bytes;
    size_t length;
    size_t room;
    size_t mark;
    size_t marked;
    table *items;
    int64_t nulls;
} column;

struct table {
    const table_type *type;
    size_t rows;
    size_t capacity;
    column columns[];
};

typedef struct result result;
typedef struct chunk chunk;
typedef struct json json;

/* The frames of a batch: where the one that is being read begins and ends, its number, and why it was refused.
 * Up to `limit` memory can be read, even if the frame ends before. The batch has `bytes` bytes; if it is small, its
 * chunks have `small` bytes, else `small` is 0. `json` is for frames that are texts of JSON (`json.h`). */
typedef struct {
    const uint8_t *begin;
    const uint8_t *end;
    const uint8_t *limit;
    size_t number;
    result *into;
    size_t bytes;
    size_t small;
    int refuse_overlong;
    int no_memory;
    enum reason reason;
    size_t offset;
    json *json;
} frames;

/* A run of frames as Arrow lays out binary and large_binary. `valid` is a bitmap or NULL; `first` is where the run
 * begins in it, and in `offsets`. */
typedef struct {
    const uint8_t *values;
    const void *offsets;
    int wide;
    const uint8_t *valid;
    size_t first;
    size_t count;
    const uint8_t *limit;
} segment;

/* A layout: the columns of refusals, its own, and the function that reads a run of frames into them. */
typedef struct {
    const char *name;
    const table_type *refusals;
    const table_type *type;
    int (*run)(frames *f, const segment *s);
} layout;

/* What a batch became. Whoever exports it shares it. */
struct result {
    atomic_size_t owners;
    const layout *layout;
    table *refusals;
    table *table;
    void *zeros;
    chunk *chunks;
};

/* Memory: blocks are carved from chunks, and all freed with the result. */

#ifdef __SANITIZE_ADDRESS__
/* Every block is a chunk, so that each of its ends is watched. */
enum { HUGE_PAGE = 1, LEAST_CHUNK = 1, SMALL = 1, ALIGNED = 1 };
#else
enum { HUGE_PAGE = 1 << 21, LEAST_CHUNK = 1 << 23, SMALL = 1 << 20, ALIGNED = 64 };
#endif

struct chunk {
    chunk *next;
    uint8_t *memory;
    size_t size;
    size_t used;
    size_t mapped;
};

/* A big chunk asks for huge pages: with small ones, the kernel takes half as long as the reading. */
static int chunk_map(chunk *c, size_t size)
{
#if defined(MADV_HUGEPAGE) && !defined(__SANITIZE_ADDRESS__)
    size = (size + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    void *memory = mmap(NULL, size + HUGE_PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED)
        return 0;
    size_t skip = HUGE_PAGE - (uintptr_t)memory % HUGE_PAGE;
    (void)!munmap(memory, skip);
    c->memory = (uint8_t *)memory + skip;
    c->size = c->mapped = size;
    (void)!madvise(c->memory, size, MADV_HUGEPAGE);
    return 1;
#else
    c->memory = calloc(1, size);
    c->size = size;
    return c->memory != NULL;
#endif
}

static void chunks_free(chunk *c)
{
    while (c) {
        chunk *next = c->next;
#if defined(MADV_HUGEPAGE)
        if (c->mapped)
            munmap(c->memory, c->mapped);
        else
#endif
            free(c->memory);
        free(c);
        c = next;
    }
}

/* Zeroed memory that lives as long as the result, or NULL. */
static void *carve(frames *f, size_t size)
{
    size = (size + ALIGNED - 1) / ALIGNED * ALIGNED;
    chunk *c = f->into->chunks;
    if (!c || c->size - c->used < size) {
        c = calloc(1, sizeof *c);
        if (c && f->small && size < SMALL) {
            c->size = size > f->small ? size : f->small;
            c->memory = calloc(1, c->size);
        } else if (c) {
            chunk_map(c, size > LEAST_CHUNK ? size : (size_t)LEAST_CHUNK);
        }
        if (!c || !c->memory) {
            free(c);
            f->no_memory = 1;
            return NULL;
        }
        c->next = f->into->chunks;
        f->into->chunks = c;
    }
    c->used += size;
    return c->memory + c->used - size;
}

/* Tables */

static table *table_new(frames *f, const table_type *type, size_t capacity)
{
    table *t = carve(f, sizeof *t + type->count * sizeof *t->columns);
    if (!t)
        return NULL;
    t->type = type;
    t->capacity = capacity;
    for (size_t i = 0; i < type->count; i++)
        t->columns[i].marked = SIZE_MAX;
    return t;
}

INLINE int has_offsets(const column_type *type)
{
    return type->kind == TEXT || type->kind == BYTES || type->kind == ITEMS;
}

/* A whole number of words, so that bits can be counted word by word. */
INLINE size_t bitmap_size(size_t rows)
{
    return (rows + 63) / 64 * 8;
}

/* The rows of a table that a list begins with. */
enum { FEW = 64 };

RARE int column_open(frames *f, table *t, size_t index)
{
    const column_type *type = &t->type->columns[index];
    column *c = &t->columns[index];
    uint8_t *valid = carve(f, bitmap_size(t->capacity));
    c->values = carve(f, (t->capacity + 1) * type->size);
    c->items = type->kind == ITEMS ? table_new(f, type->items, FEW) : NULL;
    if (!f->no_memory)
        c->valid = valid;
    return !f->no_memory;
}

/* The first `old` bytes in a larger block of `new` bytes. */
static void *enlarged(frames *f, const void *memory, size_t old, size_t new)
{
    void *larger = carve(f, new);
    if (larger && old)
        memcpy(larger, memory, old);
    return larger;
}

/* Twice as many rows: what is left behind is never more than what is in use. */
RARE int table_grow(frames *f, table *t)
{
    size_t capacity = 2 * t->capacity;
    for (size_t i = 0; i < t->type->count; i++) {
        column *c = &t->columns[i];
        size_t size = t->type->columns[i].size;
        if (!c->valid)
            continue;
        void *valid = enlarged(f, c->valid, bitmap_size(t->capacity), bitmap_size(capacity));
        void *values = enlarged(f, c->values, (t->capacity + 1) * size, (capacity + 1) * size);
        if (f->no_memory)
            return 0;
        c->valid = valid;
        c->values = values;
    }
    t->capacity = capacity;
    return 1;
}

/* A column of the frames' own table has room for all bytes of the batch: the kernel gives what is used. */
RARE int bytes_grow(frames *f, const table *t, column *c, size_t more)
{
    size_t room = 2 * (c->length + more);
    if (t == f->into->table && room < f->bytes + 2 * CHUNK && f->bytes < (size_t)8 * LEAST_CHUNK)
        room = f->bytes + 2 * CHUNK;
    uint8_t *larger = enlarged(f, c->bytes, c->length, room);
    if (!larger)
        return 0;
    c->bytes = larger;
    c->room = room;
    return 1;
}

/* Rows from `from` on become null again, whatever they hold. */
static void take_back(const frames *f, table *t, size_t from)
{
    size_t to = t->rows < t->capacity ? t->rows + 1 : t->rows;
    for (size_t i = 0; i < t->type->count; i++) {
        const column_type *type = &t->type->columns[i];
        column *c = &t->columns[i];
        if (!c->valid)
            continue;
        for (size_t row = from; row < to; row++)
            c->valid[row >> 3] &= (uint8_t) ~(1u << (row & 7));
        size_t shift = has_offsets(type) ? 1 : 0;
        memset((uint8_t *)c->values + (from + shift) * type->size, 0, (to - from) * type->size);
        if (c->marked != f->number)
            continue;
        if (type->kind == ITEMS)
            take_back(f, c->items, c->mark);
        else
            c->length = c->mark;
    }
    t->rows = from;
}

/* Close the gaps between offsets, count nulls; return the number of rows of the longest table. */
static size_t table_finish(table *t)
{
    size_t most = t->rows;
    for (size_t i = 0; i < t->type->count; i++) {
        column *c = &t->columns[i];
        c->nulls = (int64_t)t->rows;
        if (!c->valid)
            continue;
        for (size_t byte = 0; byte < bitmap_size(t->rows); byte += 8) {
            uint64_t word;
            memcpy(&word, c->valid + byte, 8);
            c->nulls -= __builtin_popcountll(word);
        }
        if (has_offsets(&t->type->columns[i]) && c->nulls) {
            int32_t *offsets = c->values, last = 0;
            for (size_t row = 0; row <= t->rows; row++) {
                last = offsets[row] > last ? offsets[row] : last;
                offsets[row] = last;
            }
        }
        size_t rows = c->items ? table_finish(c->items) : 0;
        most = rows > most ? rows : most;
    }
    return most;
}

/* Results */

static void result_drop(result *r)
{
    if (atomic_fetch_sub(&r->owners, 1) != 1)
        return;
    chunks_free(r->chunks);
    free(r);
}

/* A result for `rows` frames of `bytes` bytes together, which `f` is to fill. */
static result *result_new(const layout *layout, frames *f, size_t rows, size_t bytes)
{
    result *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    atomic_init(&r->owners, 1);
    r->layout = layout;
    f->into = r;
    f->bytes = bytes;
    f->small = 64 * rows < SMALL ? 4096 + 64 * rows : 0;
    r->refusals = table_new(f, layout->refusals, rows);
    r->table = table_new(f, layout->type, rows);
    if (!f->no_memory)
        return r;
    result_drop(r);
    return NULL;
}

/* Make a result ready for export; 0 if there is no memory. */
static int result_finish(result *r, frames *f)
{
    table_finish(r->refusals);
    size_t rows = table_finish(r->table);
    /* What columns that do not exist are exported as: nulls, in memory that is never touched. */
    r->zeros = carve(f, (rows + 16) * 8);
    return r->zeros != NULL;
}

#endif
