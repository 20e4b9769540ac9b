/* Columns of rai: generated from wire/rai by `python -m wire.emit`. Do not edit. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for madvise */
#endif
#ifndef GOLDWIRE_WITHOUT_PYTHON
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#endif

#include "columns.h"

enum { DEEPEST = 64, MOST_MEMBERS = 11 };

#include "json.h"

enum {
    C_ENVELOPE_OPERATION,
    C_ENVELOPE_LENGTH,
    C_ENVELOPE_SUBJECT,
    C_ENVELOPE_PAYLOAD,
};

static const column_type ENVELOPE_TABLE_COLUMNS[] = {
    [C_ENVELOPE_OPERATION] = {.name = "operation", .kind = NUMBER, .size = 1},
    [C_ENVELOPE_LENGTH] = {.name = "length", .kind = NUMBER, .size = 2},
    [C_ENVELOPE_SUBJECT] = {.name = "subject", .kind = TEXT, .size = 4},
    [C_ENVELOPE_PAYLOAD] = {.name = "payload", .kind = BYTES, .size = 4},
};

static const table_type ENVELOPE_TABLE = {4, ENVELOPE_TABLE_COLUMNS};

static const uint8_t *fill_envelope(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint64_t n_length = 0;
    TAKE(take_integer(f, p, t, C_ENVELOPE_OPERATION, row, 1, 1, &number));
    TAKE(take_integer_big(f, p, t, C_ENVELOPE_LENGTH, row, 2, 2, &n_length));
    TAKE(take_sized_text(f, p, t, C_ENVELOPE_SUBJECT, row, (int64_t)n_length));
    TAKE(take_rest(f, p, t, C_ENVELOPE_PAYLOAD, row, 0));
    return p;
}

static const table_type HELLO_TABLE = {0, NULL};

static const place HELLO_PLACE_1 = {.kinds = 1 << JSON_TEXT};

static const place HELLO_PLACE_2 = {.kinds = 1 << JSON_INTEGER, .least = 0, .most = INT64_C(9223372036854775807)};

static const member HELLO_MEMBER_1[] = {
    {{"session", 7}, 1, &HELLO_PLACE_1},
    {{"seqno", 5}, 1, &HELLO_PLACE_2},
    {{"digest", 6}, 1, &HELLO_PLACE_1},
    {{"ucast_url", 9}, 0, &HELLO_PLACE_1},
    {{"time", 4}, 1, &HELLO_PLACE_2},
    {{"interval", 8}, 1, &HELLO_PLACE_2},
    {{"cnonce", 6}, 1, &HELLO_PLACE_1},
};

static const shape HELLO_SHAPE_1 = {.form = OBJECT, .choice = -1, .count = 7, .required = 6, .members = HELLO_MEMBER_1};

static const place HELLO_PLACE_3 = {.kinds = 1 << JSON_OBJECT, .object = &HELLO_SHAPE_1};

static const member HELLO_MEMBER_2[] = {
    {{"session", 7}, 1, &HELLO_PLACE_1},
    {{"seqno", 5}, 1, &HELLO_PLACE_2},
    {{"digest", 6}, 1, &HELLO_PLACE_1},
};

static const shape HELLO_SHAPE_2 = {.form = OBJECT, .choice = -1, .count = 3, .required = 3, .members = HELLO_MEMBER_2};

static const place HELLO_PLACE_4 = {.kinds = 1 << JSON_OBJECT, .object = &HELLO_SHAPE_2};

static const member HELLO_MEMBER_3[] = {
    {{"session", 7}, 1, &HELLO_PLACE_1},
    {{"seqno", 5}, 1, &HELLO_PLACE_2},
    {{"digest", 6}, 1, &HELLO_PLACE_1},
    {{"auth_time", 9}, 1, &HELLO_PLACE_2},
    {{"time", 4}, 1, &HELLO_PLACE_2},
    {{"cnonce", 6}, 1, &HELLO_PLACE_1},
};

static const shape HELLO_SHAPE_3 = {.form = OBJECT, .choice = -1, .count = 6, .required = 6, .members = HELLO_MEMBER_3};

static const place HELLO_PLACE_5 = {.kinds = 1 << JSON_OBJECT, .object = &HELLO_SHAPE_3};

static const place HELLO_PLACE_6 = {.kinds = 1 << JSON_TEXT | 1 << JSON_INTEGER, .least = INT64_MIN, .most = INT64_C(9223372036854775807)};

static const place HELLO_PLACE_7 = {.kinds = 1 << JSON_BOOL};

static const member HELLO_MEMBER_4[] = {
    {{"session", 7}, 1, &HELLO_PLACE_1},
    {{"seqno", 5}, 1, &HELLO_PLACE_2},
    {{"digest", 6}, 1, &HELLO_PLACE_1},
    {{"return", 6}, 0, &HELLO_PLACE_6},
    {{"initial", 7}, 0, &HELLO_PLACE_7},
    {{"ack", 3}, 0, &HELLO_PLACE_7},
    {{"format", 6}, 0, &HELLO_PLACE_1},
    {{"expires", 7}, 0, &HELLO_PLACE_2},
};

static const shape HELLO_SHAPE_4 = {.form = OBJECT, .choice = -1, .count = 8, .required = 3, .members = HELLO_MEMBER_4};

static const place HELLO_PLACE_8 = {.kinds = 1 << JSON_OBJECT, .object = &HELLO_SHAPE_4};

static const member HELLO_MEMBER_5[] = {
    {{"session", 7}, 1, &HELLO_PLACE_1},
    {{"seqno", 5}, 1, &HELLO_PLACE_2},
    {{"digest", 6}, 1, &HELLO_PLACE_1},
    {{"return", 6}, 0, &HELLO_PLACE_6},
    {{"ack", 3}, 0, &HELLO_PLACE_7},
};

static const shape HELLO_SHAPE_5 = {.form = OBJECT, .choice = -1, .count = 5, .required = 3, .members = HELLO_MEMBER_5};

static const place HELLO_PLACE_9 = {.kinds = 1 << JSON_OBJECT, .object = &HELLO_SHAPE_5};

static const member HELLO_MEMBER_6[] = {
    {{"session", 7}, 1, &HELLO_PLACE_1},
    {{"seqno", 5}, 1, &HELLO_PLACE_2},
    {{"digest", 6}, 1, &HELLO_PLACE_1},
    {{"expires", 7}, 0, &HELLO_PLACE_2},
    {{"subject", 7}, 1, &HELLO_PLACE_1},
    {{"pattern", 7}, 1, &HELLO_PLACE_1},
    {{"return", 6}, 0, &HELLO_PLACE_6},
    {{"ack", 3}, 0, &HELLO_PLACE_7},
};

static const shape HELLO_SHAPE_6 = {.form = OBJECT, .choice = -1, .count = 8, .required = 5, .members = HELLO_MEMBER_6};

static const place HELLO_PLACE_10 = {.kinds = 1 << JSON_OBJECT, .object = &HELLO_SHAPE_6};

static const member HELLO_MEMBER_7[] = {
    {{"session", 7}, 1, &HELLO_PLACE_1},
    {{"seqno", 5}, 1, &HELLO_PLACE_2},
    {{"digest", 6}, 1, &HELLO_PLACE_1},
    {{"return", 6}, 1, &HELLO_PLACE_6},
    {{"last_seen", 9}, 1, &HELLO_PLACE_2},
    {{"wildcard", 8}, 0, &HELLO_PLACE_1},
};

static const shape HELLO_SHAPE_7 = {.form = OBJECT, .choice = -1, .count = 6, .required = 5, .members = HELLO_MEMBER_7};

static const place HELLO_PLACE_11 = {.kinds = 1 << JSON_OBJECT, .object = &HELLO_SHAPE_7};

static const place HELLO_PLACE_12 = {.kinds = 1 << JSON_ARRAY, .items = &HELLO_PLACE_1};

static const place HELLO_PLACE_13 = {.kinds = 1 << JSON_ARRAY, .items = &HELLO_PLACE_6};

static const member HELLO_MEMBER_8[] = {
    {{"session", 7}, 1, &HELLO_PLACE_1},
    {{"seqno", 5}, 1, &HELLO_PLACE_2},
    {{"digest", 6}, 1, &HELLO_PLACE_1},
    {{"last_seen", 9}, 1, &HELLO_PLACE_2},
    {{"wildcard", 8}, 0, &HELLO_PLACE_1},
    {{"initial", 7}, 0, &HELLO_PLACE_7},
    {{"ack", 3}, 0, &HELLO_PLACE_7},
    {{"subs", 4}, 1, &HELLO_PLACE_12},
    {{"subs_return", 11}, 0, &HELLO_PLACE_13},
};

static const shape HELLO_SHAPE_8 = {.form = OBJECT, .choice = -1, .count = 9, .required = 5, .members = HELLO_MEMBER_8};

static const place HELLO_PLACE_14 = {.kinds = 1 << JSON_OBJECT, .object = &HELLO_SHAPE_8};

static const member HELLO_MEMBER_9[] = {
    {{"session", 7}, 1, &HELLO_PLACE_1},
    {{"seqno", 5}, 1, &HELLO_PLACE_2},
    {{"digest", 6}, 1, &HELLO_PLACE_1},
    {{"return", 6}, 0, &HELLO_PLACE_6},
    {{"format", 6}, 0, &HELLO_PLACE_1},
};

static const shape HELLO_SHAPE_9 = {.form = OBJECT, .choice = -1, .count = 5, .required = 3, .members = HELLO_MEMBER_9};

static const place HELLO_PLACE_15 = {.kinds = 1 << JSON_OBJECT, .object = &HELLO_SHAPE_9};

static const place HELLO_PLACE_16 = {.kinds = 1 << JSON_TEXT | 1 << JSON_INTEGER, .least = 0, .most = INT64_C(9223372036854775807)};

static const place HELLO_ANYTHING;
static const shape HELLO_ANY_MEMBERS = {.form = MAP, .choice = -1, .items = &HELLO_ANYTHING};
static const place HELLO_ANYTHING = {.kinds = ~0U, .least = INT64_MIN, .most = INT64_MAX, .least_real = -INFINITY, .items = &HELLO_ANYTHING, .object = &HELLO_ANY_MEMBERS};

static const shape HELLO_SHAPE_10 = {.form = MAP, .choice = -1, .items = &HELLO_ANYTHING};

static const place HELLO_PLACE_17 = {.kinds = 1 << JSON_OBJECT, .object = &HELLO_SHAPE_10};

static const member HELLO_MEMBER_10[] = {
    {{"session", 7}, 1, &HELLO_PLACE_1},
    {{"seqno", 5}, 1, &HELLO_PLACE_2},
    {{"digest", 6}, 1, &HELLO_PLACE_1},
    {{"type", 4}, 1, &HELLO_PLACE_1},
    {{"subject", 7}, 1, &HELLO_PLACE_1},
    {{"status", 6}, 0, &HELLO_PLACE_1},
    {{"format", 6}, 0, &HELLO_PLACE_1},
    {{"dictionary", 10}, 0, &HELLO_PLACE_1},
    {{"dict_csum", 9}, 0, &HELLO_PLACE_16},
    {{"text", 4}, 0, &HELLO_PLACE_1},
    {{"data", 4}, 0, &HELLO_PLACE_17},
};

static const shape HELLO_SHAPE_11 = {.form = OBJECT, .choice = -1, .count = 11, .required = 5, .members = HELLO_MEMBER_10};

static const place HELLO_PLACE_18 = {.kinds = 1 << JSON_OBJECT, .object = &HELLO_SHAPE_11};

static const member HELLO_MEMBER_11[] = {
    {{"session", 7}, 1, &HELLO_PLACE_1},
    {{"seqno", 5}, 1, &HELLO_PLACE_2},
    {{"digest", 6}, 1, &HELLO_PLACE_1},
    {{"type", 4}, 0, &HELLO_PLACE_1},
    {{"subject", 7}, 0, &HELLO_PLACE_1},
    {{"status", 6}, 0, &HELLO_PLACE_1},
    {{"format", 6}, 0, &HELLO_PLACE_1},
    {{"dictionary", 10}, 0, &HELLO_PLACE_1},
    {{"dict_csum", 9}, 0, &HELLO_PLACE_16},
    {{"text", 4}, 0, &HELLO_PLACE_1},
    {{"data", 4}, 0, &HELLO_PLACE_17},
};

static const shape HELLO_SHAPE_12 = {.form = OBJECT, .choice = -1, .count = 11, .required = 3, .members = HELLO_MEMBER_11};

static const place HELLO_PLACE_19 = {.kinds = 1 << JSON_OBJECT, .object = &HELLO_SHAPE_12};

static const member HELLO_MEMBER_12[] = {
    {{"session", 7}, 1, &HELLO_PLACE_1},
    {{"seqno", 5}, 1, &HELLO_PLACE_2},
    {{"digest", 6}, 1, &HELLO_PLACE_1},
    {{"dictionary", 10}, 1, &HELLO_PLACE_1},
    {{"dict_csum", 9}, 0, &HELLO_PLACE_16},
    {{"return", 6}, 0, &HELLO_PLACE_6},
};

static const shape HELLO_SHAPE_13 = {.form = OBJECT, .choice = -1, .count = 6, .required = 4, .members = HELLO_MEMBER_12};

static const place HELLO_PLACE_20 = {.kinds = 1 << JSON_OBJECT, .object = &HELLO_SHAPE_13};

static const member HELLO_MEMBER_13[] = {
    {{"session", 7}, 1, &HELLO_PLACE_1},
    {{"seqno", 5}, 1, &HELLO_PLACE_2},
    {{"digest", 6}, 1, &HELLO_PLACE_1},
    {{"dictionary", 10}, 1, &HELLO_PLACE_1},
    {{"dict_csum", 9}, 0, &HELLO_PLACE_16},
    {{"data", 4}, 0, &HELLO_PLACE_17},
};

static const shape HELLO_SHAPE_14 = {.form = OBJECT, .choice = -1, .count = 6, .required = 4, .members = HELLO_MEMBER_13};

static const place HELLO_PLACE_21 = {.kinds = 1 << JSON_OBJECT, .object = &HELLO_SHAPE_14};

static const uint8_t *fill_frame_of_envelope(frames *f, const uint8_t *p, table *t, size_t row)
{
    if (f->end - p > 1114114)
        return refused(f, TOO_LONG, p + 1114114);
    TAKE(fill_envelope(f, p, t, row));
    return p;
}

static int run_envelope(frames *f, const segment *s)
{
    return run_segment(f, s, fill_frame_of_envelope);
}

static const uint8_t *fill_frame_of_hello(frames *f, const uint8_t *p, table *t, size_t row)
{
    (void)t;
    (void)row;
    if (f->end - p > 1048576)
        return refused(f, TOO_LONG, p + 1048576);
    TAKE(json_frame(f, p, &HELLO_PLACE_3));
    return p;
}

static int run_hello(frames *f, const segment *s)
{
    return run_json(f, s, fill_frame_of_hello);
}

static const uint8_t *fill_frame_of_bye(frames *f, const uint8_t *p, table *t, size_t row)
{
    (void)t;
    (void)row;
    if (f->end - p > 1048576)
        return refused(f, TOO_LONG, p + 1048576);
    TAKE(json_frame(f, p, &HELLO_PLACE_4));
    return p;
}

static int run_bye(frames *f, const segment *s)
{
    return run_json(f, s, fill_frame_of_bye);
}

static const uint8_t *fill_frame_of_auth(frames *f, const uint8_t *p, table *t, size_t row)
{
    (void)t;
    (void)row;
    if (f->end - p > 1048576)
        return refused(f, TOO_LONG, p + 1048576);
    TAKE(json_frame(f, p, &HELLO_PLACE_5));
    return p;
}

static int run_auth(frames *f, const segment *s)
{
    return run_json(f, s, fill_frame_of_auth);
}

static const uint8_t *fill_frame_of_sub_start(frames *f, const uint8_t *p, table *t, size_t row)
{
    (void)t;
    (void)row;
    if (f->end - p > 1048576)
        return refused(f, TOO_LONG, p + 1048576);
    TAKE(json_frame(f, p, &HELLO_PLACE_8));
    return p;
}

static int run_sub_start(frames *f, const segment *s)
{
    return run_json(f, s, fill_frame_of_sub_start);
}

static const uint8_t *fill_frame_of_sub_stop(frames *f, const uint8_t *p, table *t, size_t row)
{
    (void)t;
    (void)row;
    if (f->end - p > 1048576)
        return refused(f, TOO_LONG, p + 1048576);
    TAKE(json_frame(f, p, &HELLO_PLACE_9));
    return p;
}

static int run_sub_stop(frames *f, const segment *s)
{
    return run_json(f, s, fill_frame_of_sub_stop);
}

static const uint8_t *fill_frame_of_psub(frames *f, const uint8_t *p, table *t, size_t row)
{
    (void)t;
    (void)row;
    if (f->end - p > 1048576)
        return refused(f, TOO_LONG, p + 1048576);
    TAKE(json_frame(f, p, &HELLO_PLACE_10));
    return p;
}

static int run_psub(frames *f, const segment *s)
{
    return run_json(f, s, fill_frame_of_psub);
}

static const uint8_t *fill_frame_of_get_subs(frames *f, const uint8_t *p, table *t, size_t row)
{
    (void)t;
    (void)row;
    if (f->end - p > 1048576)
        return refused(f, TOO_LONG, p + 1048576);
    TAKE(json_frame(f, p, &HELLO_PLACE_11));
    return p;
}

static int run_get_subs(frames *f, const segment *s)
{
    return run_json(f, s, fill_frame_of_get_subs);
}

static const uint8_t *fill_frame_of_subs(frames *f, const uint8_t *p, table *t, size_t row)
{
    (void)t;
    (void)row;
    if (f->end - p > 1048576)
        return refused(f, TOO_LONG, p + 1048576);
    TAKE(json_frame(f, p, &HELLO_PLACE_14));
    return p;
}

static int run_subs(frames *f, const segment *s)
{
    return run_json(f, s, fill_frame_of_subs);
}

static const uint8_t *fill_frame_of_snap(frames *f, const uint8_t *p, table *t, size_t row)
{
    (void)t;
    (void)row;
    if (f->end - p > 1048576)
        return refused(f, TOO_LONG, p + 1048576);
    TAKE(json_frame(f, p, &HELLO_PLACE_15));
    return p;
}

static int run_snap(frames *f, const segment *s)
{
    return run_json(f, s, fill_frame_of_snap);
}

static const uint8_t *fill_frame_of_reply(frames *f, const uint8_t *p, table *t, size_t row)
{
    (void)t;
    (void)row;
    if (f->end - p > 1048576)
        return refused(f, TOO_LONG, p + 1048576);
    TAKE(json_frame(f, p, &HELLO_PLACE_18));
    return p;
}

static int run_reply(frames *f, const segment *s)
{
    return run_json(f, s, fill_frame_of_reply);
}

static const uint8_t *fill_frame_of_publish(frames *f, const uint8_t *p, table *t, size_t row)
{
    (void)t;
    (void)row;
    if (f->end - p > 1048576)
        return refused(f, TOO_LONG, p + 1048576);
    TAKE(json_frame(f, p, &HELLO_PLACE_19));
    return p;
}

static int run_publish(frames *f, const segment *s)
{
    return run_json(f, s, fill_frame_of_publish);
}

static const uint8_t *fill_frame_of_dict_request(frames *f, const uint8_t *p, table *t, size_t row)
{
    (void)t;
    (void)row;
    if (f->end - p > 1048576)
        return refused(f, TOO_LONG, p + 1048576);
    TAKE(json_frame(f, p, &HELLO_PLACE_20));
    return p;
}

static int run_dict_request(frames *f, const segment *s)
{
    return run_json(f, s, fill_frame_of_dict_request);
}

static const uint8_t *fill_frame_of_dict(frames *f, const uint8_t *p, table *t, size_t row)
{
    (void)t;
    (void)row;
    if (f->end - p > 1048576)
        return refused(f, TOO_LONG, p + 1048576);
    TAKE(json_frame(f, p, &HELLO_PLACE_21));
    return p;
}

static int run_dict(frames *f, const segment *s)
{
    return run_json(f, s, fill_frame_of_dict);
}

static const int32_t REFUSED_NAMES_ENDS[] = {0, 9, 21, 29, 39, 47, 55, 64, 72, 80, 90, 104, 114, 127, 140};

static const choices REFUSED_NAMES = {
    14,
    REFUSED_NAMES_ENDS,
    "truncated"
    "out-of-range"
    "overlong"
    "unknown-id"
    "bad-text"
    "reserved"
    "bad-value"
    "trailing"
    "too-long"
    "bad-syntax"
    "duplicate-name"
    "wrong-type"
    "missing-field"
    "unknown-field"
};

static const column_type REFUSAL_COLUMNS[] = {
    [REFUSED] = {.name = "refused", .kind = CHOICE, .size = 1, .choices = &REFUSED_NAMES},
    [REFUSED_AT] = {.name = "refused_at", .kind = OFFSET, .size = 8},
};

static const table_type REFUSALS = {2, REFUSAL_COLUMNS};

static const layout LAYOUTS[] = {
    {"rai/envelope", &REFUSALS, &ENVELOPE_TABLE, run_envelope},
    {"rai/hello", &REFUSALS, &HELLO_TABLE, run_hello},
    {"rai/bye", &REFUSALS, &HELLO_TABLE, run_bye},
    {"rai/auth", &REFUSALS, &HELLO_TABLE, run_auth},
    {"rai/sub-start", &REFUSALS, &HELLO_TABLE, run_sub_start},
    {"rai/sub-stop", &REFUSALS, &HELLO_TABLE, run_sub_stop},
    {"rai/psub", &REFUSALS, &HELLO_TABLE, run_psub},
    {"rai/get-subs", &REFUSALS, &HELLO_TABLE, run_get_subs},
    {"rai/subs", &REFUSALS, &HELLO_TABLE, run_subs},
    {"rai/snap", &REFUSALS, &HELLO_TABLE, run_snap},
    {"rai/reply", &REFUSALS, &HELLO_TABLE, run_reply},
    {"rai/publish", &REFUSALS, &HELLO_TABLE, run_publish},
    {"rai/dict-request", &REFUSALS, &HELLO_TABLE, run_dict_request},
    {"rai/dict", &REFUSALS, &HELLO_TABLE, run_dict},
    {NULL, NULL, NULL, NULL},
};

#ifndef GOLDWIRE_WITHOUT_PYTHON
#define STAMP "eb50e0912a627edb"
#include "capsules.h"
#endif
