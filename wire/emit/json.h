/* Texts of JSON, as strictly as wire/json reads them, and with the same refusal where there are several: no Python.
 *
 * A frame is read into a row of nodes, in the order of the text; a name is a node before its value. The nodes are then
 * held against what the layout has at each place, which the generated tables say. Only where something is wrong are
 * all names compared: one that an object has twice stands before a byte that cannot stand, and is graver than whatever
 * else does not fit, so it is the refusal. */

#ifndef GOLDWIRE_JSON_H
#define GOLDWIRE_JSON_H

#include <locale.h>
#include <math.h>

#include "columns.h"

/* What a layout has at a place */

enum json_kind { JSON_NULL, JSON_BOOL, JSON_TEXT, JSON_INTEGER, JSON_REAL, JSON_ARRAY, JSON_OBJECT };

typedef struct {
    const char *text;
    size_t size;
} word;

typedef struct place place;
typedef struct shape shape;

/* `kinds`: a bit for each kind that may stand here. Of a kind: the `texts` there are, any if `count` is 0; the `least`
 * and the `most` integer; the `least_real`; the place of an array's items; the shape of an object. */
struct place {
    unsigned kinds;
    size_t count;
    const word *texts;
    int64_t least;
    int64_t most;
    double least_real;
    const place *items;
    const shape *object;
};

typedef struct {
    word name;
    int required;
    const place *place;
} member;

typedef struct {
    word value;
    const shape *shape;
} branch;

enum form { MAP, OBJECT, DECISION };

/* An object: any names with values of one place (`items`); `count` members, `required` of them at least; or, by what
 * the member `by` has, one of `count` branches. `choice`: which message of the layout it is, or -1. */
struct shape {
    enum form form;
    int choice;
    size_t count;
    size_t required;
    const place *items;
    const member *members;
    word by;
    const branch *branches;
};

/* A value or a name, which stands in the bytes `start` to `end` of the frame. `next` is the node behind it, 0 for an
 * array or object that has not ended. A text has `size` bytes, its escapes resolved. */
typedef struct {
    enum json_kind kind;
    uint32_t start;
    uint32_t end;
    uint32_t next;
    uint32_t size;
    union {
        const uint8_t *text;
        int64_t integer;
        double real;
    } value;
} node;

/* What is kept from frame to frame: room for nodes, and for the texts that have escapes (`used` bytes are in use);
 * `choice` is the message that the last frame is. */
struct json {
    node *nodes;
    size_t count;
    size_t room;
    uint8_t *texts;
    size_t used;
    size_t texts_room;
    locale_t plain;
    int choice;
};

RARE int nodes_grow(frames *f, json *j)
{
    size_t room = j->room ? 2 * j->room : 256;
    node *larger = room <= UINT32_MAX ? realloc(j->nodes, room * sizeof *larger) : NULL;
    if (!larger) {
        f->no_memory = 1;
        return 0;
    }
    j->nodes = larger;
    j->room = room;
    return 1;
}

INLINE node *node_new(frames *f, json *j, enum json_kind kind, const uint8_t *start, const uint8_t *end)
{
    if (unlikely(j->count == j->room) && !nodes_grow(f, j))
        return NULL;
    node *n = &j->nodes[j->count++];
    n->kind = kind;
    n->start = (uint32_t)(start - f->begin);
    n->end = (uint32_t)(end - f->begin);
    n->next = (uint32_t)j->count;
    return n;
}

/* Room behind the texts in use for whatever the rest of the frame can hold, and a NUL. */
static uint8_t *texts_behind(frames *f, json *j)
{
    size_t most = (size_t)(f->end - f->begin) + 1;
    if (!j->used && j->texts_room < most) {
        free(j->texts);
        j->texts = malloc(most);
        j->texts_room = j->texts ? most : 0;
        if (!j->texts)
            f->no_memory = 1;
    }
    return j->texts ? j->texts + j->used : NULL;
}

static void json_free(json *j)
{
    free(j->nodes);
    free(j->texts);
    if (j->plain)
        freelocale(j->plain);
}

/* Reading: one function per production of RFC 8259. Like those of columns.h they return where the frame goes on, or
 * NULL. */

INLINE const uint8_t *json_white(const frames *f, const uint8_t *p)
{
    while (p != f->end && unlikely(*p <= ' ') && (*p == ' ' || *p == '\t' || *p == '\n' || *p == '\r'))
        p++;
    return p;
}

/* Refuse the byte that stands at `p`, or that none does. */
RARE const uint8_t *json_unexpected(frames *f, const uint8_t *p)
{
    return refused(f, p == f->end ? TRUNCATED : BAD_SYNTAX, p);
}

/* Refuse bytes that are not UTF-8: what the end of the frame cuts off could still have become a character. */
RARE const uint8_t *json_bad_text(frames *f, const uint8_t *p, const uint8_t *end)
{
    for (size_t more; p != end; p += more + 1) {
        more = *p < 0x80 ? 0 : *p < 0xE0 ? 1 : *p < 0xF0 ? 2 : 3;
        size_t there = (size_t)(end - p);
        if (there > more ? is_utf8(p, more + 1) : 0)
            continue;
        uint8_t whole[4] = {0};
        int cut = end == f->end && there <= more;
        for (int filler = 0x80; cut && filler < 0xC0; filler += 0x10) {
            /* Any character that begins so: of the second byte alone it depends what can stand there. */
            memset(whole, filler, sizeof whole);
            memcpy(whole, p, there);
            if (is_utf8(whole, more + 1))
                return refused(f, TRUNCATED, f->end);
        }
        break;
    }
    return refused(f, BAD_TEXT, p);
}

/* Pass over what stands for itself in a string, which has to be UTF-8. */
INLINE const uint8_t *json_unescaped(frames *f, const uint8_t *p)
{
    const uint8_t *begin = p;
    int high = 0;
#ifdef __SSE2__
    while (f->limit - p >= 16) {
        __m128i some = _mm_loadu_si128((const __m128i *)p);
        __m128i quotes = _mm_cmpeq_epi8(some, _mm_set1_epi8('"'));
        __m128i escapes = _mm_cmpeq_epi8(some, _mm_set1_epi8('\\'));
        __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(some, _mm_set1_epi8(0x1F)), some);
        unsigned found = (unsigned)_mm_movemask_epi8(_mm_or_si128(_mm_or_si128(quotes, escapes), controls));
        unsigned beyond = (unsigned)_mm_movemask_epi8(some);
        size_t count = found ? (size_t)__builtin_ctz(found) : 16;
        if (unlikely(count > (size_t)(f->end - p)))
            count = (size_t)(f->end - p), found = 1;
        high |= (beyond & ((1u << count) - 1)) != 0;
        p += count;
        if (found)
            goto done;
    }
#endif
    for (; p != f->end && *p >= 0x20 && *p != '"' && *p != '\\'; p++)
        high |= *p >> 7;
#ifdef __SSE2__
done:
#endif
    if (unlikely(high) && !is_utf8(begin, (size_t)(p - begin)))
        return json_bad_text(f, begin, p);
    return p;
}

/* `u 4HEXDIG` */
static const uint8_t *json_code(frames *f, const uint8_t *p, uint32_t *code)
{
    *code = 0;
    p++;
    for (int i = 0; i < 4; i++, p++) {
        unsigned digit = p == f->end ? 10 : *p - '0', letter = p == f->end ? 6 : (*p | 0x20u) - 'a';
        if (digit > 9 && letter > 5)
            return json_unexpected(f, p);
        *code = *code << 4 | (digit <= 9 ? digit : letter + 10);
    }
    return p;
}

static uint8_t *json_utf8(uint8_t *to, uint32_t code)
{
    if (code < 0x80) {
        *to++ = (uint8_t)code;
        return to;
    }
    int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    static const uint8_t FIRST[] = {0, 0xC0, 0xE0, 0xF0};
    *to++ = (uint8_t)(FIRST[more] | code >> 6 * more);
    while (more--)
        *to++ = (uint8_t)(0x80 | (code >> 6 * more & 0x3F));
    return to;
}

/* What a backslash begins; two halves of a surrogate pair are one character. */
static const uint8_t *json_escape(frames *f, const uint8_t *p, uint8_t **to)
{
    static const char ESCAPES[] = "\"\\/bfnrt", MEANT[] = "\"\\/\b\f\n\r\t";
    const uint8_t *start = p++;
    if (p == f->end || *p != 'u') {
        const char *found = p != f->end && *p ? strchr(ESCAPES, *p) : NULL;
        if (!found)
            return json_unexpected(f, p);
        *(*to)++ = (uint8_t)MEANT[found - ESCAPES];
        return p + 1;
    }
    uint32_t code, low;
    TAKE(json_code(f, p, &code));
    if (code >= 0xD800 && code < 0xDC00) {
        for (int i = 0; i < 2; i++) {
            if (p + i == f->end)
                return refused(f, TRUNCATED, p + i);
            if (p[i] != "\\u"[i])
                return refused(f, BAD_TEXT, start);
        }
        TAKE(json_code(f, p + 1, &low));
        if (low < 0xDC00 || low > 0xDFFF)
            return refused(f, BAD_TEXT, start);
        code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
    } else if (code == 0 || (code >= 0xDC00 && code < 0xE000)) {
        return refused(f, BAD_TEXT, start);
    }
    *to = json_utf8(*to, code);
    return p;
}

/* A string that has escapes; the first one, or what else ends a run, is at `p`. */
static __attribute__((noinline)) const uint8_t *json_escaped(frames *f, json *j, const uint8_t *start,
                                                             const uint8_t *p)
{
    uint8_t *text = texts_behind(f, j), *to = text;
    if (!text)
        return NULL;
    for (const uint8_t *from = start + 1;;) {
        memcpy(to, from, (size_t)(p - from));
        to += p - from;
        if (p != f->end && *p == '"')
            break;
        if (p == f->end || *p != '\\')
            return json_unexpected(f, p);
        TAKE(json_escape(f, p, &to));
        from = p;
        TAKE(json_unescaped(f, p));
    }
    node *n = node_new(f, j, JSON_TEXT, start, p + 1);
    if (!n)
        return NULL;
    n->value.text = text;
    n->size = (uint32_t)(to - text);
    j->used += n->size;
    return p + 1;
}

static const uint8_t *json_string(frames *f, json *j, const uint8_t *p)
{
    const uint8_t *start = p;
    TAKE(json_unescaped(f, p + 1));
    if (unlikely(p == f->end || *p != '"'))
        return json_escaped(f, j, start, p);
    node *n = node_new(f, j, JSON_TEXT, start, p + 1);
    if (unlikely(!n))
        return NULL;
    n->value.text = start + 1;
    n->size = (uint32_t)(p - start - 1);
    return p + 1;
}

INLINE int is_digit(const frames *f, const uint8_t *p)
{
    return p != f->end && *p >= '0' && *p <= '9';
}

/* `1*DIGIT` */
static const uint8_t *json_digits(frames *f, const uint8_t *p)
{
    if (!is_digit(f, p))
        return json_unexpected(f, p);
    while (is_digit(f, p))
        p++;
    return p;
}

/* A number whose fraction or exponent is at `p`. Its double is what the C library makes of it in the locale "C". */
static __attribute__((noinline)) const uint8_t *json_real(frames *f, json *j, const uint8_t *start, const uint8_t *p)
{
    if (*p == '.')
        TAKE(json_digits(f, p + 1));
    if (p != f->end && (*p == 'e' || *p == 'E')) {
        p++;
        if (p != f->end && (*p == '+' || *p == '-'))
            p++;
        TAKE(json_digits(f, p));
    }
    char *copy = (char *)texts_behind(f, j);
    if (!j->plain)
        j->plain = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    node *n = copy && j->plain ? node_new(f, j, JSON_REAL, start, p) : NULL;
    if (!n) {
        f->no_memory = 1;
        return NULL;
    }
    memcpy(copy, start, (size_t)(p - start));
    copy[p - start] = '\0';
    locale_t before = uselocale(j->plain);
    n->value.real = strtod(copy, NULL);
    uselocale(before);
    return isinf(n->value.real) ? refused(f, OUT_OF_RANGE, start) : p;
}

static const uint8_t *json_number(frames *f, json *j, const uint8_t *p)
{
    const uint8_t *start = p;
    unsigned negative = *p == '-';
    const uint8_t *first = p += negative;
    uint64_t sum = 0;
    if (!is_digit(f, p))
        return json_unexpected(f, p);
    if (*p == '0') {
        p++;
        if (is_digit(f, p))
            return refused(f, BAD_SYNTAX, p);
    }
    for (; is_digit(f, p); p++)
        sum = 10 * sum + (*p - '0'); /* too many digits are counted, whatever their sum */
    if (p != f->end && (*p == '.' || *p == 'e' || *p == 'E'))
        return json_real(f, j, start, p);
    if (p - first > 19 || sum > (uint64_t)INT64_MAX + negative)
        return refused(f, OUT_OF_RANGE, start);
    node *n = node_new(f, j, JSON_INTEGER, start, p);
    if (unlikely(!n))
        return NULL;
    n->value.integer = (int64_t)(negative ? 0 - sum : sum);
    return p;
}

static const uint8_t *json_word(frames *f, json *j, const uint8_t *p, const char *expected, enum json_kind kind)
{
    const uint8_t *start = p;
    for (; *expected; expected++, p++)
        if (p == f->end || *p != (uint8_t)*expected)
            return json_unexpected(f, p);
    return node_new(f, j, kind, start, p) ? p : NULL;
}

static const uint8_t *json_object(frames *f, json *j, const uint8_t *p, unsigned depth);
static const uint8_t *json_array(frames *f, json *j, const uint8_t *p, unsigned depth);

INLINE const uint8_t *json_value(frames *f, json *j, const uint8_t *p, unsigned depth)
{
    switch (p == f->end ? 0 : *p) {
    case '"':
        return json_string(f, j, p);
    case '{':
        return json_object(f, j, p, depth);
    case '[':
        return json_array(f, j, p, depth);
    case 't':
        return json_word(f, j, p, "true", JSON_BOOL);
    case 'f':
        return json_word(f, j, p, "false", JSON_BOOL);
    case 'n':
        return json_word(f, j, p, "null", JSON_NULL);
    case '-': case '0': case '1': case '2': case '3': case '4': case '5': case '6': case '7': case '8': case '9':
        return json_number(f, j, p);
    }
    return json_unexpected(f, p);
}

/* An array, or an object if it has names. */
INLINE const uint8_t *json_nest(frames *f, json *j, const uint8_t *p, unsigned depth, int names)
{
    const uint8_t closing = names ? '}' : ']';
    size_t index = j->count;
    if (depth == DEEPEST)
        return refused(f, TOO_LONG, p);
    if (unlikely(!node_new(f, j, names ? JSON_OBJECT : JSON_ARRAY, p, p)))
        return NULL;
    j->nodes[index].next = 0;
    p = json_white(f, p + 1);
    for (int first = 1; p == f->end || *p != closing || !first; first = 0) {
        if (names) {
            if (p == f->end || *p != '"')
                return json_unexpected(f, p);
            TAKE(json_string(f, j, p));
            p = json_white(f, p);
            if (p == f->end || *p != ':')
                return json_unexpected(f, p);
            p = json_white(f, p + 1);
        }
        TAKE(json_value(f, j, p, depth + 1));
        p = json_white(f, p);
        if (p != f->end && *p == closing)
            break;
        if (p == f->end || *p != ',')
            return json_unexpected(f, p);
        p = json_white(f, p + 1);
    }
    p++;
    j->nodes[index].end = (uint32_t)(p - f->begin);
    j->nodes[index].next = (uint32_t)j->count;
    return p;
}

static __attribute__((noinline)) const uint8_t *json_object(frames *f, json *j, const uint8_t *p, unsigned depth)
{
    return json_nest(f, j, p, depth, 1);
}

static __attribute__((noinline)) const uint8_t *json_array(frames *f, json *j, const uint8_t *p, unsigned depth)
{
    return json_nest(f, j, p, depth, 0);
}

/* `JSON-text = ws value ws` */
static const uint8_t *json_text(frames *f, json *j, const uint8_t *p)
{
    p = json_white(f, p);
    TAKE(json_value(f, j, p, 0));
    p = json_white(f, p);
    return p == f->end ? p : refused(f, TRAILING, p);
}

/* Names that are there twice */

/* How many names are compared each with each; more are sorted. */
enum { FEW_NAMES = 12 };

INLINE int is_word(const node *n, word w)
{
    return n->size == w.size && !memcmp(n->value.text, w.text, w.size);
}

static int names_order(const void *one, const void *other)
{
    const node *a = one, *b = other;
    if (a->size != b->size)
        return a->size < b->size ? -1 : 1;
    int order = a->size ? memcmp(a->value.text, b->value.text, a->size) : 0;
    return order ? order : a->start < b->start ? -1 : 1;
}

/* The node behind the value of the member whose name is `at`: `end` if it has not ended. */
INLINE size_t member_behind(const json *j, size_t at, size_t end)
{
    return at + 1 < end && j->nodes[at + 1].next ? j->nodes[at + 1].next : end;
}

/* Find where an object has a name again, the first time that it has; 0 if it does not. An object may break off. */
static int is_repeated(frames *f, const json *j, size_t object, uint32_t *where)
{
    const node *nodes = j->nodes;
    size_t end = nodes[object].next ? nodes[object].next : j->count, count = 0;
    size_t few[FEW_NAMES];
    for (size_t at = object + 1; at < end; at = member_behind(j, at, end), count++) {
        for (size_t i = 0; i < count && count < FEW_NAMES; i++)
            if (is_word(&nodes[at], (word){(const char *)nodes[few[i]].value.text, nodes[few[i]].size})) {
                *where = nodes[at].start;
                return 1;
            }
        if (count < FEW_NAMES)
            few[count] = at;
    }
    if (count <= FEW_NAMES)
        return 0;
    node *names = malloc(count * sizeof *names);
    if (!names) {
        f->no_memory = 1;
        return 0;
    }
    size_t to = 0;
    for (size_t at = object + 1; at < end; at = member_behind(j, at, end))
        names[to++] = nodes[at];
    qsort(names, count, sizeof *names, names_order);
    int found = 0;
    for (size_t i = 1; i < count; i++)
        if (is_word(&names[i], (word){(const char *)names[i - 1].value.text, names[i - 1].size}) &&
            (!found || names[i].start < *where)) {
            *where = names[i].start;
            found = 1;
        }
    free(names);
    return found;
}

/* Refuse the first name that an object has again, if there is one, instead of what was refused. */
RARE void json_refuse_repeated(frames *f, const json *j)
{
    uint32_t first = UINT32_MAX, where;
    for (size_t i = 0; i < j->count; i++)
        if (j->nodes[i].kind == JSON_OBJECT && is_repeated(f, j, i, &where) && where < first)
            first = where;
    if (first != UINT32_MAX)
        refused(f, DUPLICATE_NAME, f->begin + first);
}

/* Holding nodes against places: 1 if they fit */

RARE int json_unfit(frames *f, enum reason reason, uint32_t offset)
{
    f->reason = reason;
    f->offset = offset;
    return 0;
}

/* The branch of a decision about the object at `index`, or NULL. */
static const shape *json_decide(frames *f, const json *j, size_t index, const shape *decision)
{
    const node *nodes = j->nodes, *object = &nodes[index], *value = NULL;
    for (size_t at = index + 1; at < object->next && !value; at = nodes[at + 1].next)
        if (is_word(&nodes[at], decision->by))
            value = &nodes[at + 1];
    if (!value)
        json_unfit(f, MISSING_FIELD, object->end - 1);
    else if (value->kind != JSON_TEXT)
        json_unfit(f, WRONG_TYPE, value->start);
    else {
        for (size_t i = 0; i < decision->count; i++)
            if (is_word(value, decision->branches[i].value))
                return decision->branches[i].shape;
        json_unfit(f, UNKNOWN_ID, value->start);
    }
    return NULL;
}

static int json_fits_shape(frames *f, json *j, size_t index, const shape *shape);

static int json_fits(frames *f, json *j, size_t index, const place *place)
{
    const node *n = &j->nodes[index];
    if (unlikely(!(place->kinds >> n->kind & 1)))
        return json_unfit(f, WRONG_TYPE, n->start);
    switch (n->kind) {
    case JSON_TEXT:
        for (size_t i = 0; i < place->count; i++)
            if (is_word(n, place->texts[i]))
                return 1;
        return place->count ? json_unfit(f, UNKNOWN_ID, n->start) : 1;
    case JSON_INTEGER:
        if (n->value.integer < place->least || n->value.integer > place->most)
            return json_unfit(f, OUT_OF_RANGE, n->start);
        return 1;
    case JSON_REAL:
        return n->value.real >= place->least_real || json_unfit(f, OUT_OF_RANGE, n->start);
    case JSON_ARRAY:
        for (size_t at = index + 1; at < n->next; at = j->nodes[at].next)
            if (!json_fits(f, j, at, place->items))
                return 0;
        return 1;
    case JSON_OBJECT:
        return json_fits_shape(f, j, index, place->object);
    default:
        return 1;
    }
}

static int json_fits_shape(frames *f, json *j, size_t index, const shape *shape)
{
    const node *nodes = j->nodes, *object = &nodes[index];
    while (shape->form == DECISION)
        if (!(shape = json_decide(f, j, index, shape)))
            return 0;
    if (shape->choice >= 0)
        j->choice = shape->choice;
    uint32_t where;
    if (shape->form == MAP && is_repeated(f, j, index, &where))
        return json_unfit(f, DUPLICATE_NAME, where);
    uint8_t seen[MOST_MEMBERS] = {0};
    size_t required = 0, guess = 0;
    for (size_t at = index + 1; at < object->next; at = nodes[at + 1].next) {
        const place *place = shape->items;
        if (shape->form == OBJECT) {
            size_t tried = 0;
            while (tried < shape->count && !is_word(&nodes[at], shape->members[guess].name)) {
                guess = guess + 1 < shape->count ? guess + 1 : 0;
                tried++;
            }
            if (tried == shape->count)
                return json_unfit(f, UNKNOWN_FIELD, nodes[at].start);
            if (seen[guess])
                return json_unfit(f, DUPLICATE_NAME, nodes[at].start);
            seen[guess] = 1;
            required += shape->members[guess].required != 0;
            place = shape->members[guess].place;
            guess = guess + 1 < shape->count ? guess + 1 : 0;
        }
        if (!json_fits(f, j, at + 1, place))
            return 0;
    }
    return required == shape->required || json_unfit(f, MISSING_FIELD, object->end - 1);
}

/* A whole frame */
static const uint8_t *json_frame(frames *f, const uint8_t *p, const place *place)
{
    json *j = f->json;
    j->count = j->used = 0;
    j->choice = -1;
    if (likely(json_text(f, j, p) && json_fits(f, j, 0, place)) && likely(!f->no_memory))
        return f->end;
    if (!f->no_memory)
        json_refuse_repeated(f, j);
    return NULL;
}

/* Read a run of frames into the next rows; 0 if there is no memory. */
INLINE int run_json(frames *f, const segment *s,
                    const uint8_t *(*read)(frames *f, const uint8_t *p, table *t, size_t row))
{
    json j = {0};
    f->json = &j;
    int done = run_segment(f, s, read);
    f->json = NULL;
    json_free(&j);
    return done;
}

#endif
