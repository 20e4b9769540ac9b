/* Columns of urbit: generated from wire/urbit by `python -m wire.emit`. Do not edit. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for madvise */
#endif
#ifndef GOLDWIRE_WITHOUT_PYTHON
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#endif

#include "columns.h"

enum {
    C_PACKET_HEADER,
    C_PACKET_ORIGIN_ADDRESS,
    C_PACKET_ORIGIN_PORT,
    C_PACKET_TICKS,
    C_PACKET_SENDER_NUMBER,
    C_PACKET_SENDER_BYTES,
    C_PACKET_RECEIVER_NUMBER,
    C_PACKET_RECEIVER_BYTES,
    C_PACKET_BODY_TYPE,
    C_PACKET_BODY_SIGNATURE,
    C_PACKET_BODY_FRAGMENT,
    C_PACKET_BODY_PATH_LENGTH,
    C_PACKET_BODY_PATH,
    C_PACKET_BODY_CONTENT,
    C_PACKET_BODY_DATA,
    C_PACKET_BODY_SESSION,
    C_PACKET_BODY_NUMBER,
    C_PACKET_BODY_LIVE,
};

static const int32_t C_PACKET_BODY_TYPE_NAMES_ENDS[] = {0, 9, 18, 27, 36, 45, 54, 63, 72};

static const choices C_PACKET_BODY_TYPE_NAMES = {
    8,
    C_PACKET_BODY_TYPE_NAMES_ENDS,
    "scry_fore"
    "scry_back"
    "ames_fore"
    "ames_back"
    "beat_fore"
    "beat_back"
    "bond_fore"
    "bond_back"
};

static const column_type PACKET_TABLE_COLUMNS[] = {
    [C_PACKET_HEADER] = {.name = "header", .kind = NUMBER, .size = 4},
    [C_PACKET_ORIGIN_ADDRESS] = {.name = "origin.address", .kind = NUMBER, .size = 4},
    [C_PACKET_ORIGIN_PORT] = {.name = "origin.port", .kind = NUMBER, .size = 2},
    [C_PACKET_TICKS] = {.name = "ticks", .kind = NUMBER, .size = 1},
    [C_PACKET_SENDER_NUMBER] = {.name = "sender.number", .kind = NUMBER, .size = 8},
    [C_PACKET_SENDER_BYTES] = {.name = "sender.bytes", .kind = BYTES, .size = 4},
    [C_PACKET_RECEIVER_NUMBER] = {.name = "receiver.number", .kind = NUMBER, .size = 8},
    [C_PACKET_RECEIVER_BYTES] = {.name = "receiver.bytes", .kind = BYTES, .size = 4},
    [C_PACKET_BODY_TYPE] = {.name = "body.type", .kind = CHOICE, .size = 1, .choices = &C_PACKET_BODY_TYPE_NAMES},
    [C_PACKET_BODY_SIGNATURE] = {.name = "body.signature", .kind = BYTES, .size = 4},
    [C_PACKET_BODY_FRAGMENT] = {.name = "body.fragment", .kind = NUMBER, .size = 4},
    [C_PACKET_BODY_PATH_LENGTH] = {.name = "body.path_length", .kind = NUMBER, .size = 2},
    [C_PACKET_BODY_PATH] = {.name = "body.path", .kind = BYTES, .size = 4},
    [C_PACKET_BODY_CONTENT] = {.name = "body.content", .kind = BYTES, .size = 4},
    [C_PACKET_BODY_DATA] = {.name = "body.data", .kind = BYTES, .size = 4},
    [C_PACKET_BODY_SESSION] = {.name = "body.session", .kind = NUMBER, .size = 8},
    [C_PACKET_BODY_NUMBER] = {.name = "body.number", .kind = NUMBER, .size = 8},
    [C_PACKET_BODY_LIVE] = {.name = "body.live", .kind = NUMBER, .size = 1},
};

static const table_type PACKET_TABLE = {18, PACKET_TABLE_COLUMNS};

static const uint8_t *fill_origin(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    TAKE(take_integer(f, p, t, C_PACKET_ORIGIN_ADDRESS, row, 4, 4, &number));
    TAKE(take_integer(f, p, t, C_PACKET_ORIGIN_PORT, row, 2, 2, &number));
    return p;
}

static const uint8_t *fill_scry_fore(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint64_t n_path_length = 0;
    TAKE(take_sized(f, p, t, C_PACKET_BODY_SIGNATURE, row, 64));
    TAKE(take_integer(f, p, t, C_PACKET_BODY_FRAGMENT, row, 4, 4, &number));
    TAKE(take_integer(f, p, t, C_PACKET_BODY_PATH_LENGTH, row, 2, 2, &n_path_length));
    TAKE(take_sized(f, p, t, C_PACKET_BODY_PATH, row, (int64_t)n_path_length));
    return p;
}

static const uint8_t *fill_scry_back(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint64_t n_path_length = 0;
    TAKE(take_integer(f, p, t, C_PACKET_BODY_FRAGMENT, row, 4, 4, &number));
    TAKE(take_integer(f, p, t, C_PACKET_BODY_PATH_LENGTH, row, 2, 2, &n_path_length));
    TAKE(take_sized(f, p, t, C_PACKET_BODY_PATH, row, (int64_t)n_path_length));
    TAKE(take_sized(f, p, t, C_PACKET_BODY_SIGNATURE, row, 64));
    TAKE(take_rest(f, p, t, C_PACKET_BODY_CONTENT, row, 0));
    return p;
}

static const uint8_t *fill_ames_fore(frames *f, const uint8_t *p, table *t, size_t row)
{
    TAKE(take_rest(f, p, t, C_PACKET_BODY_DATA, row, 0));
    return p;
}

static const uint8_t *fill_ames_back(frames *f, const uint8_t *p, table *t, size_t row)
{
    TAKE(take_rest(f, p, t, C_PACKET_BODY_DATA, row, 0));
    return p;
}

static const uint8_t *fill_beat_fore(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    TAKE(take_integer(f, p, t, C_PACKET_BODY_SESSION, row, 8, 8, &number));
    TAKE(take_integer(f, p, t, C_PACKET_BODY_NUMBER, row, 8, 8, &number));
    return p;
}

static const uint8_t *fill_beat_back(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint8_t byte;
    uint64_t number;
    TAKE(take_integer(f, p, t, C_PACKET_BODY_SESSION, row, 8, 8, &number));
    TAKE(take_integer(f, p, t, C_PACKET_BODY_NUMBER, row, 8, 8, &number));
    TAKE(take_flags(f, p, t, C_PACKET_BODY_LIVE, row, 1, &byte));
    return p;
}

static const uint8_t *fill_bond_fore(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint64_t n_path_length = 0;
    TAKE(take_sized(f, p, t, C_PACKET_BODY_SIGNATURE, row, 64));
    TAKE(take_integer(f, p, t, C_PACKET_BODY_FRAGMENT, row, 4, 4, &number));
    TAKE(take_integer(f, p, t, C_PACKET_BODY_PATH_LENGTH, row, 2, 2, &n_path_length));
    TAKE(take_sized(f, p, t, C_PACKET_BODY_PATH, row, (int64_t)n_path_length));
    return p;
}

static const uint8_t *fill_bond_back(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint64_t n_path_length = 0;
    TAKE(take_integer(f, p, t, C_PACKET_BODY_SESSION, row, 8, 8, &number));
    TAKE(take_sized(f, p, t, C_PACKET_BODY_SIGNATURE, row, 64));
    TAKE(take_integer(f, p, t, C_PACKET_BODY_FRAGMENT, row, 4, 4, &number));
    TAKE(take_integer(f, p, t, C_PACKET_BODY_PATH_LENGTH, row, 2, 2, &n_path_length));
    TAKE(take_sized(f, p, t, C_PACKET_BODY_PATH, row, (int64_t)n_path_length));
    return p;
}

static const uint8_t *fill_packet(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint8_t byte;
    uint64_t number;
    uint64_t b_header = 0;
    TAKE(take_word(f, p, t, C_PACKET_HEADER, row, 4, 4, &b_header));
    if ((int64_t)(int64_t)(b_header >> 31 & UINT64_C(0x1)) == 0) {
        TAKE(fill_origin(f, p, t, row));
    }
    TAKE(take_flags(f, p, t, C_PACKET_TICKS, row, 1, &byte));
    if ((int64_t)(b_header >> 7 & UINT64_C(0x3)) == 0) {
        TAKE(take_integer(f, p, t, C_PACKET_SENDER_NUMBER, row, 8, 2, &number));
    } else if ((int64_t)(b_header >> 7 & UINT64_C(0x3)) == 1) {
        TAKE(take_integer(f, p, t, C_PACKET_SENDER_NUMBER, row, 8, 4, &number));
    } else if ((int64_t)(b_header >> 7 & UINT64_C(0x3)) == 2) {
        TAKE(take_integer(f, p, t, C_PACKET_SENDER_NUMBER, row, 8, 8, &number));
    } else if ((int64_t)(b_header >> 7 & UINT64_C(0x3)) == 3) {
        TAKE(take_sized(f, p, t, C_PACKET_SENDER_BYTES, row, 16));
    } else {
    }
    if ((int64_t)(b_header >> 9 & UINT64_C(0x3)) == 0) {
        TAKE(take_integer(f, p, t, C_PACKET_RECEIVER_NUMBER, row, 8, 2, &number));
    } else if ((int64_t)(b_header >> 9 & UINT64_C(0x3)) == 1) {
        TAKE(take_integer(f, p, t, C_PACKET_RECEIVER_NUMBER, row, 8, 4, &number));
    } else if ((int64_t)(b_header >> 9 & UINT64_C(0x3)) == 2) {
        TAKE(take_integer(f, p, t, C_PACKET_RECEIVER_NUMBER, row, 8, 8, &number));
    } else if ((int64_t)(b_header >> 9 & UINT64_C(0x3)) == 3) {
        TAKE(take_sized(f, p, t, C_PACKET_RECEIVER_BYTES, row, 16));
    } else {
    }
    switch ((int64_t)(b_header >> 0 & UINT64_C(0x7))) {
    case 0:
        TAKE(take_choice(f, p, t, C_PACKET_BODY_TYPE, row, 1, 0));
        TAKE(fill_scry_fore(f, p, t, row));
        break;
    case 1:
        TAKE(take_choice(f, p, t, C_PACKET_BODY_TYPE, row, 1, 1));
        TAKE(fill_scry_back(f, p, t, row));
        break;
    case 2:
        TAKE(take_choice(f, p, t, C_PACKET_BODY_TYPE, row, 1, 2));
        TAKE(fill_ames_fore(f, p, t, row));
        break;
    case 3:
        TAKE(take_choice(f, p, t, C_PACKET_BODY_TYPE, row, 1, 3));
        TAKE(fill_ames_back(f, p, t, row));
        break;
    case 4:
        TAKE(take_choice(f, p, t, C_PACKET_BODY_TYPE, row, 1, 4));
        TAKE(fill_beat_fore(f, p, t, row));
        break;
    case 5:
        TAKE(take_choice(f, p, t, C_PACKET_BODY_TYPE, row, 1, 5));
        TAKE(fill_beat_back(f, p, t, row));
        break;
    case 6:
        TAKE(take_choice(f, p, t, C_PACKET_BODY_TYPE, row, 1, 6));
        TAKE(fill_bond_fore(f, p, t, row));
        break;
    case 7:
        TAKE(take_choice(f, p, t, C_PACKET_BODY_TYPE, row, 1, 7));
        TAKE(fill_bond_back(f, p, t, row));
        break;
    default:
        return refused(f, UNKNOWN_ID, p);
    }
    return p;
}

static const uint8_t *fill_frame_of_packet(frames *f, const uint8_t *p, table *t, size_t row)
{
    if (f->end - p > 2048)
        return refused(f, TOO_LONG, p + 2048);
    TAKE(fill_packet(f, p, t, row));
    return p;
}

static int run_packet(frames *f, const segment *s)
{
    return run_segment(f, s, fill_frame_of_packet);
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
    {"urbit/packet", &REFUSALS, &PACKET_TABLE, run_packet},
    {NULL, NULL, NULL, NULL},
};

#ifndef GOLDWIRE_WITHOUT_PYTHON
#define STAMP "68f30a5d989c5638"
#include "capsules.h"
#endif
