/* What generated readers fill columns with, a row per frame or per item of a list: no Python. */

#ifndef GOLDWIRE_COLUMNS_H
#define GOLDWIRE_COLUMNS_H

#ifdef __SSE2__
#include <emmintrin.h>
#endif

#include "tables.h"

/* Reading: every function returns where the frame goes on, or NULL if it is refused or there is no memory. */

#define TAKE(read)         \
    do {                   \
        if (!(p = (read))) \
            return NULL;   \
    } while (0)

RARE const uint8_t *refused(frames *f, enum reason reason, const uint8_t *at)
{
    f->reason = reason;
    f->offset = (size_t)(at - f->begin);
    return NULL;
}

INLINE int opened(frames *f, table *t, size_t index)
{
    return likely(t->columns[index].valid != NULL) || column_open(f, t, index);
}

INLINE void set_valid(column *c, size_t row)
{
    c->valid[row >> 3] |= (uint8_t)(1u << (row & 7));
}

INLINE int put_number(frames *f, table *t, size_t index, size_t row, size_t size, uint64_t value)
{
    if (!opened(f, t, index))
        return 0;
    column *c = &t->columns[index];
    switch (size) {
    case 1:
        ((uint8_t *)c->values)[row] = (uint8_t)value;
        break;
    case 2:
        ((uint16_t *)c->values)[row] = (uint16_t)value;
        break;
    case 4:
        ((uint32_t *)c->values)[row] = (uint32_t)value;
        break;
    default:
        ((uint64_t *)c->values)[row] = value;
    }
    set_valid(c, row);
    return 1;
}

/* The name of the message, as a choice of `size` bytes. */
INLINE const uint8_t *take_choice(frames *f, const uint8_t *p, table *t, size_t index, size_t row, size_t size,
                                  uint64_t choice)
{
    return put_number(f, t, index, row, size, choice) ? p : NULL;
}

/* A byte of flags. */
INLINE const uint8_t *take_flags(frames *f, const uint8_t *p, table *t, size_t index, size_t row, size_t size,
                                 uint8_t *byte)
{
    if (unlikely(p == f->end))
        return refused(f, TRUNCATED, p);
    *byte = *p;
    return put_number(f, t, index, row, size, *p) ? p + 1 : NULL;
}

/* An integer of `bytes` bytes, in a column of `size`. */
INLINE const uint8_t *take_integer(frames *f, const uint8_t *p, table *t, size_t index, size_t row, size_t size,
                                   size_t bytes, uint64_t *value)
{
    if (unlikely((size_t)(f->end - p) < bytes))
        return refused(f, TRUNCATED, f->end);
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes; i++)
        sum |= (uint64_t)p[i] << (8 * i);
    *value = sum;
    return put_number(f, t, index, row, size, sum) ? p + bytes : NULL;
}

/* The same, big-endian. */
INLINE const uint8_t *take_integer_big(frames *f, const uint8_t *p, table *t, size_t index, size_t row, size_t size,
                                       size_t bytes, uint64_t *value)
{
    *value = 0; /* the compiler does not see that nobody looks at it after a refusal */
    if (unlikely((size_t)(f->end - p) < bytes))
        return refused(f, TRUNCATED, f->end);
    uint64_t sum = 0;
    for (size_t i = 0; i < bytes; i++)
        sum = sum << 8 | p[i];
    *value = sum;
    return put_number(f, t, index, row, size, sum) ? p + bytes : NULL;
}

/* A word of named bits, of which some may be looked at behind it. */
INLINE const uint8_t *take_word(frames *f, const uint8_t *p, table *t, size_t index, size_t row, size_t size,
                                size_t bytes, uint64_t *value)
{
    *value = 0;
    return take_integer(f, p, t, index, row, size, bytes, value);
}

/* Integers with a sign: put once more, with the sign in front. */
INLINE const uint8_t *take_signed(frames *f, const uint8_t *p, table *t, size_t index, size_t row, size_t size,
                                  size_t bytes, uint64_t *value)
{
    if (bytes < 8)
        *value = sign_extended(*value, bytes);
    return put_number(f, t, index, row, size, *value) ? p : NULL;
}

INLINE const uint8_t *take_signed_integer(frames *f, const uint8_t *p, table *t, size_t index, size_t row, size_t size,
                                          size_t bytes, uint64_t *value)
{
    TAKE(take_word(f, p, t, index, row, size, bytes, value));
    return take_signed(f, p, t, index, row, size, bytes, value);
}

INLINE const uint8_t *take_signed_integer_big(frames *f, const uint8_t *p, table *t, size_t index, size_t row,
                                              size_t size, size_t bytes, uint64_t *value)
{
    TAKE(take_integer_big(f, p, t, index, row, size, bytes, value));
    return take_signed(f, p, t, index, row, size, bytes, value);
}

static __attribute__((noinline)) const uint8_t *read_slowly(frames *f, const uint8_t *p, unsigned bits,
                                                            uint64_t *value)
{
    reader r = {.data = f->begin,
                .size = (size_t)(f->end - f->begin),
                .at = (size_t)(p - f->begin),
                .refuse_overlong = f->refuse_overlong};
    if (!read_varint(&r, bits, value))
        return refused(f, r.reason, f->begin + r.offset);
    return f->begin + r.at;
}

/* A variable-length integer. Those of two to eight bytes are read as one word, without a branch per byte. */
INLINE const uint8_t *read_number(frames *f, const uint8_t *p, unsigned bits, uint64_t *value)
{
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    if (likely((size_t)(f->limit - p) >= 8)) {
        uint64_t word;
        memcpy(&word, p, 8);
        uint64_t stops = ~word & UINT64_C(0x8080808080808080);
        if (likely(stops)) {
            size_t count = (size_t)__builtin_ctzll(stops) / 8 + 1;
            word &= stops ^ (stops - 1);
            word = (word & UINT64_C(0x007F007F007F007F)) | (word & UINT64_C(0x7F007F007F007F00)) >> 1;
            word = (word & UINT64_C(0x00003FFF00003FFF)) | (word & UINT64_C(0x3FFF00003FFF0000)) >> 2;
            word = (word & UINT64_C(0x000000000FFFFFFF)) | (word & UINT64_C(0x0FFFFFFF00000000)) >> 4;
            if (likely(count <= (size_t)(f->end - p) && (bits >= 56 || !(word >> (bits & 63))) &&
                       (!f->refuse_overlong || p[count - 1]))) {
                *value = word;
                return p + count;
            }
        }
    }
#endif
    uint64_t slow = 0;
    p = read_slowly(f, p, bits, &slow);
    *value = slow;
    return p;
}

INLINE const uint8_t *take_varint(frames *f, const uint8_t *p, table *t, size_t index, size_t row, size_t size,
                                  unsigned bits, uint64_t *value)
{
    TAKE(read_number(f, p, bits, value));
    return put_number(f, t, index, row, size, *value) ? p : NULL;
}

/* Copy a chunk; whether its first `count` bytes have their high bits clear. */
INLINE int copy_chunk(uint8_t *to, const uint8_t *from, size_t count)
{
    uint64_t wanted = (UINT64_C(1) << count) - 1;
#ifdef __SSE2__
    __m128i low = _mm_loadu_si128((const __m128i *)from);
    __m128i high = _mm_loadu_si128((const __m128i *)(from + 16));
    _mm_storeu_si128((__m128i *)to, low);
    _mm_storeu_si128((__m128i *)(to + 16), high);
    return !(((uint64_t)_mm_movemask_epi8(high) << 16 | (uint64_t)_mm_movemask_epi8(low)) & wanted);
#else
    uint64_t found = 0;
    for (size_t i = 0; i < CHUNK; i++)
        found |= (uint64_t)(from[i] >> 7) << i;
    memcpy(to, from, CHUNK);
    return !(found & wanted);
#endif
}

/* `count` bytes that are there; `start` is where a refusal of bad text points. */
INLINE const uint8_t *take_bytes(frames *f, const uint8_t *p, table *t, size_t index, size_t row, size_t count,
                                 int text, const uint8_t *start)
{
    if (!opened(f, t, index))
        return NULL;
    column *c = &t->columns[index];
    if (unlikely(c->room - c->length < count + CHUNK) && !bytes_grow(f, t, c, count + CHUNK))
        return NULL;
    if (c->marked != f->number) {
        c->marked = f->number;
        c->mark = c->length;
    }
    uint8_t *to = c->bytes + c->length;
    if (likely(count <= CHUNK && (size_t)(f->limit - p) >= CHUNK)) {
        int ascii = copy_chunk(to, p, count);
        if (text && unlikely(!ascii) && !is_utf8(p, count))
            return refused(f, BAD_TEXT, start);
    } else {
        if (text && !is_utf8(p, count))
            return refused(f, BAD_TEXT, start);
        if (count)
            memcpy(to, p, count);
    }
    c->length += count;
    ((int32_t *)c->values)[row + 1] = (int32_t)c->length;
    set_valid(c, row);
    return p + count;
}

/* Bytes or text after their count. */
INLINE const uint8_t *take_counted(frames *f, const uint8_t *p, table *t, size_t index, size_t row, unsigned bits,
                                   int text)
{
    const uint8_t *announced = p;
    uint64_t count;
    TAKE(read_number(f, p, bits, &count));
    if (unlikely(count > (size_t)(f->end - p)))
        return refused(f, TRUNCATED, announced);
    return take_bytes(f, p, t, index, row, (size_t)count, text, announced);
}

/* Bytes or text after their count, which has to be in a range. */
INLINE const uint8_t *take_counted_within(frames *f, const uint8_t *p, table *t, size_t index, size_t row,
                                          unsigned bits, int text, uint64_t least, uint64_t most)
{
    const uint8_t *announced = p;
    uint64_t count;
    TAKE(read_number(f, p, bits, &count));
    if (unlikely(count > most))
        return refused(f, TOO_LONG, announced);
    if (unlikely(count < least))
        return refused(f, BAD_VALUE, announced);
    if (unlikely(count > (size_t)(f->end - p)))
        return refused(f, TRUNCATED, announced);
    return take_bytes(f, p, t, index, row, (size_t)count, text, announced);
}

/* As many bytes as were announced. */
INLINE const uint8_t *take_sized(frames *f, const uint8_t *p, table *t, size_t index, size_t row, int64_t count)
{
    if (unlikely(count < 0))
        return refused(f, BAD_VALUE, p);
    if (unlikely(count > f->end - p))
        return refused(f, TRUNCATED, f->end);
    return take_bytes(f, p, t, index, row, (size_t)count, 0, p);
}

/* Text of as many bytes as were announced. */
INLINE const uint8_t *take_sized_text(frames *f, const uint8_t *p, table *t, size_t index, size_t row, int64_t count)
{
    if (unlikely(count < 0))
        return refused(f, BAD_VALUE, p);
    if (unlikely(count > f->end - p))
        return refused(f, TRUNCATED, f->end);
    return take_bytes(f, p, t, index, row, (size_t)count, 1, p);
}

/* At most `most` bytes and a NUL. */
INLINE const uint8_t *take_terminated(frames *f, const uint8_t *p, table *t, size_t index, size_t row, size_t most,
                                      int text)
{
    size_t left = (size_t)(f->end - p), seen = left > most ? most + 1 : left;
    const uint8_t *nul = seen ? memchr(p, 0, seen) : NULL;
    if (unlikely(!nul))
        return left > most ? refused(f, TOO_LONG, p + most) : refused(f, TRUNCATED, f->end);
    TAKE(take_bytes(f, p, t, index, row, (size_t)(nul - p), text, p));
    return p + 1;
}

/* Padding of `count` bytes that have to be zero. */
INLINE const uint8_t *take_zeros(frames *f, const uint8_t *p, size_t count)
{
    if (unlikely((size_t)(f->end - p) < count))
        return refused(f, TRUNCATED, f->end);
    for (size_t i = 0; i < count; i++)
        if (unlikely(p[i]))
            return refused(f, BAD_VALUE, p + i);
    return p + count;
}

/* All bytes up to the end of the frame. */
INLINE const uint8_t *take_rest(frames *f, const uint8_t *p, table *t, size_t index, size_t row, int text)
{
    return take_bytes(f, p, t, index, row, (size_t)(f->end - p), text, p);
}

/* The table of the items of a list that begins here, or NULL if there is no memory. */
INLINE table *items_begin(frames *f, table *t, size_t index, size_t row)
{
    if (!opened(f, t, index))
        return NULL;
    column *c = &t->columns[index];
    if (c->marked != f->number) {
        c->marked = f->number;
        c->mark = c->items->rows;
    }
    set_valid(c, row);
    return c->items;
}

INLINE int item_begin(frames *f, table *items)
{
    return likely(items->rows < items->capacity) || table_grow(f, items);
}

INLINE const uint8_t *items_end(const uint8_t *p, table *t, size_t index, size_t row)
{
    column *c = &t->columns[index];
    ((int32_t *)c->values)[row + 1] = (int32_t)c->items->rows;
    return p;
}

/* Batches */

enum { REFUSED, REFUSED_AT };

RARE int put_refusal(frames *f, size_t row)
{
    result *into = f->into;
    take_back(f, into->table, row);
    return put_number(f, into->refusals, REFUSED, row, 1, f->reason) &&
           put_number(f, into->refusals, REFUSED_AT, row, 8, f->offset);
}

/* Read a run of frames into the next rows; 0 if there is no memory. */
INLINE int run_segment(frames *f, const segment *s,
                       const uint8_t *(*read)(frames *f, const uint8_t *p, table *t, size_t row))
{
    table *t = f->into->table;
    size_t row = t->rows;
    f->limit = s->limit;
    for (size_t i = s->first; i < s->first + s->count; i++, row++) {
        t->rows = row;
        if (s->valid && !(s->valid[i >> 3] >> (i & 7) & 1))
            continue;
        f->number = row;
        if (s->wide) {
            f->begin = s->values + ((const int64_t *)s->offsets)[i];
            f->end = s->values + ((const int64_t *)s->offsets)[i + 1];
        } else {
            f->begin = s->values + ((const int32_t *)s->offsets)[i];
            f->end = s->values + ((const int32_t *)s->offsets)[i + 1];
        }
        const uint8_t *p = read(f, f->begin, t, row);
        if (likely(p == f->end))
            continue;
        if (p)
            refused(f, TRAILING, p);
        if (f->no_memory || !put_refusal(f, row))
            return 0;
    }
    t->rows = f->into->refusals->rows = row;
    return 1;
}

#endif
