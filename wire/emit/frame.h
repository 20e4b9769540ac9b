/* What generated C reads frames with: no Python, no allocation.
 *
 * A reader stands at `at` in `size` bytes of `data`. Every function returns 0 when it refuses; the reader then has
 * the reason and the offset. */

#ifndef GOLDWIRE_FRAME_H
#define GOLDWIRE_FRAME_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* What only some kinds of node need: a protocol that has none of them compiles without a warning too. Not `inline`, as
 * that would have the compiler decide anew about functions whose size was measured. */
#define SOMETIMES static __attribute__((unused))

/* In the order of wire.errors.Reason; those of the last line are of texts only. */
enum reason {
    TRUNCATED, OUT_OF_RANGE, OVERLONG, UNKNOWN_ID, BAD_TEXT, RESERVED, BAD_VALUE, TRAILING, TOO_LONG,
    BAD_SYNTAX, DUPLICATE_NAME, WRONG_TYPE, MISSING_FIELD, UNKNOWN_FIELD
};

typedef struct {
    const uint8_t *data;
    size_t size;
    size_t at;
    int refuse_overlong;
    enum reason reason;
    size_t offset;
} reader;

static inline int refuse(reader *r, enum reason reason, size_t offset)
{
    r->reason = reason;
    r->offset = offset;
    return 0;
}

static inline int read_octet(reader *r, uint8_t *byte)
{
    if (r->at == r->size)
        return refuse(r, TRUNCATED, r->size);
    *byte = r->data[r->at++];
    return 1;
}

/* An unsigned integer of `size` bytes, little-endian. */
static inline int read_integer(reader *r, size_t size, uint64_t *value)
{
    if (r->size - r->at < size)
        return refuse(r, TRUNCATED, r->size);
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum |= (uint64_t)r->data[r->at + i] << (8 * i);
    r->at += size;
    *value = sum;
    return 1;
}

/* The same, big-endian. */
static inline int read_integer_big(reader *r, size_t size, uint64_t *value)
{
    if (r->size - r->at < size)
        return refuse(r, TRUNCATED, r->size);
    uint64_t sum = 0;
    for (size_t i = 0; i < size; i++)
        sum = sum << 8 | r->data[r->at + i];
    r->at += size;
    *value = sum;
    return 1;
}

/* Two's complement of `size` bytes, fewer than eight, as one of eight. */
static inline uint64_t sign_extended(uint64_t value, size_t size)
{
    uint64_t sign = UINT64_C(1) << (8 * size - 1);
    return (value ^ sign) - sign;
}

/* Padding of `count` bytes: the first one that is not zero is refused. */
static inline int read_zeros(reader *r, size_t count)
{
    if (r->size - r->at < count)
        return refuse(r, TRUNCATED, r->size);
    for (size_t i = 0; i < count; i++)
        if (r->data[r->at + i])
            return refuse(r, BAD_VALUE, r->at + i);
    r->at += count;
    return 1;
}

/* At most `most` bytes, of which there are `*count`, and a NUL. */
static inline int read_terminated(reader *r, size_t most, size_t *count)
{
    size_t left = r->size - r->at, seen = left > most ? most + 1 : left;
    const uint8_t *nul = seen ? memchr(r->data + r->at, 0, seen) : NULL;
    if (nul == NULL)
        return left > most ? refuse(r, TOO_LONG, r->at + most) : refuse(r, TRUNCATED, r->size);
    *count = (size_t)(nul - (r->data + r->at));
    r->at += *count + 1;
    return 1;
}

/* A part of exactly `count` bytes: the frame ends behind them, until `end_enclosed`. */
static inline int begin_enclosed(reader *r, int64_t count)
{
    if (count < 0)
        return refuse(r, BAD_VALUE, r->at);
    if ((uint64_t)count > r->size - r->at)
        return refuse(r, TRUNCATED, r->size);
    r->size = r->at + (size_t)count;
    return 1;
}

static inline int end_enclosed(reader *r, size_t whole)
{
    if (r->at != r->size)
        return refuse(r, TRAILING, r->at);
    r->size = whole;
    return 1;
}

/* The rest of a variable-length integer of more than one byte; the reader stands behind its first byte. */
static int read_long_varint(reader *r, unsigned bits, uint64_t *value)
{
    size_t start = r->at - 1;
    uint64_t sum = r->data[start] & 0x7F;
    uint8_t byte;
    for (unsigned shift = 7;; shift += 7) {
        if (!read_octet(r, &byte))
            return 0;
        if (shift == 56) {
            sum |= (uint64_t)byte << 56;
            break;
        }
        sum |= (uint64_t)(byte & 0x7F) << shift;
        if (byte < 0x80)
            break;
    }
    if (bits < 64 && sum >> bits)
        return refuse(r, OUT_OF_RANGE, start);
    if (byte == 0 && r->refuse_overlong)
        return refuse(r, OVERLONG, start);
    *value = sum;
    return 1;
}

/* An integer below 2**bits, seven bits a byte, low group first; a ninth byte has eight bits. */
static inline int read_varint(reader *r, unsigned bits, uint64_t *value)
{
    uint8_t byte;
    if (!read_octet(r, &byte))
        return 0;
    if (byte < 0x80) {
        *value = byte;
        return 1;
    }
    return read_long_varint(r, bits, value);
}

/* As many bytes as a variable-length integer announces: they begin at `*start`. */
static inline int read_counted(reader *r, unsigned bits, size_t *start, size_t *count)
{
    size_t announced = r->at;
    uint64_t value = 0;
    if (!read_varint(r, bits, &value))
        return 0;
    if (value > r->size - r->at)
        return refuse(r, TRUNCATED, announced);
    *start = r->at;
    *count = (size_t)value;
    r->at += (size_t)value;
    return 1;
}

/* As many bytes as a variable-length integer announces, which has to be in a range: they begin at `*start`. */
static inline int read_counted_within(reader *r, unsigned bits, size_t least, size_t most, size_t *start, size_t *count)
{
    size_t announced = r->at;
    uint64_t value = 0;
    if (!read_varint(r, bits, &value))
        return 0;
    if (value > most)
        return refuse(r, TOO_LONG, announced);
    if (value < least)
        return refuse(r, BAD_VALUE, announced);
    if (value > r->size - r->at)
        return refuse(r, TRUNCATED, announced);
    *start = r->at;
    *count = (size_t)value;
    r->at += (size_t)value;
    return 1;
}

/* `count` bytes, known beforehand. */
static inline int read_sized(reader *r, uint64_t count, size_t *start)
{
    if (count > r->size - r->at)
        return refuse(r, TRUNCATED, r->size);
    *start = r->at;
    r->at += (size_t)count;
    return 1;
}

/* Shifts with Python's meaning, of values that keep clear of the sign: the layout has seen to it. */
static inline int64_t shifted_left(int64_t value, int64_t by)
{
    return value * (INT64_C(1) << (by & 63));
}

static inline int64_t shifted_right(int64_t value, int64_t by)
{
    return value >> (by > 63 ? 63 : by & 63);
}

/* Whether bytes are UTF-8, as RFC 3629 has it: no surrogates, nothing overlong, nothing above U+10FFFF. */
static inline int is_utf8(const uint8_t *text, size_t count)
{
    size_t i = 0;
    while (i < count) {
        uint64_t eight;
        if (count - i >= 8) {
            memcpy(&eight, text + i, 8);
            if (!(eight & UINT64_C(0x8080808080808080))) {
                i += 8;
                continue;
            }
        }
        uint8_t first = text[i];
        if (first < 0x80) {
            i += 1;
            continue;
        }
        size_t more = first >= 0xF0 ? 3 : first >= 0xE0 ? 2 : 1;
        if (first < 0xC2 || first > 0xF4 || count - i <= more)
            return 0;
        uint8_t second = text[i + 1];
        uint8_t low = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
        uint8_t high = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
        if (second < low || second > high)
            return 0;
        for (size_t k = 2; k <= more; k++)
            if ((text[i + k] & 0xC0) != 0x80)
                return 0;
        i += more + 1;
    }
    return 1;
}

#endif
