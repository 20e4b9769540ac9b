/* Columns of zenoh: generated from wire/zenoh by `python -m wire.emit`. Do not edit. */

#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* for madvise */
#endif
#ifndef GOLDWIRE_WITHOUT_PYTHON
#define Py_LIMITED_API 0x030B0000
#include <Python.h>
#endif

#include "columns.h"

enum {
    C_EXTENSIONS_ITEM_HEADER,
    C_EXTENSIONS_ITEM_VALUE_NUMBER,
    C_EXTENSIONS_ITEM_VALUE_BYTES,
};

static const column_type EXTENSIONS_ITEM_TABLE_COLUMNS[] = {
    [C_EXTENSIONS_ITEM_HEADER] = {.name = "header", .kind = NUMBER, .size = 1},
    [C_EXTENSIONS_ITEM_VALUE_NUMBER] = {.name = "value.number", .kind = NUMBER, .size = 8},
    [C_EXTENSIONS_ITEM_VALUE_BYTES] = {.name = "value.bytes", .kind = BYTES, .size = 4},
};

static const table_type EXTENSIONS_ITEM_TABLE = {3, EXTENSIONS_ITEM_TABLE_COLUMNS};

enum {
    C_NETWORK_MESSAGE_TYPE,
    C_NETWORK_MESSAGE_HEADER,
    C_NETWORK_MESSAGE_ID,
    C_NETWORK_MESSAGE_EXTENSIONS,
    C_NETWORK_MESSAGE_OPTIONS,
    C_NETWORK_MESSAGE_KEY_SCOPE,
    C_NETWORK_MESSAGE_KEY_SUFFIX,
    C_NETWORK_MESSAGE_INTEREST_ID,
    C_NETWORK_MESSAGE_DECLARATION_TYPE,
    C_NETWORK_MESSAGE_DECLARATION_HEADER,
    C_NETWORK_MESSAGE_DECLARATION_EXPR_ID,
    C_NETWORK_MESSAGE_DECLARATION_KEY_SCOPE,
    C_NETWORK_MESSAGE_DECLARATION_KEY_SUFFIX,
    C_NETWORK_MESSAGE_DECLARATION_EXTENSIONS,
    C_NETWORK_MESSAGE_DECLARATION_SUBS_ID,
    C_NETWORK_MESSAGE_DECLARATION_QBLS_ID,
    C_NETWORK_MESSAGE_DECLARATION_TOKEN_ID,
    C_NETWORK_MESSAGE_BODY_TYPE,
    C_NETWORK_MESSAGE_BODY_HEADER,
    C_NETWORK_MESSAGE_BODY_TIMESTAMP_TIME,
    C_NETWORK_MESSAGE_BODY_TIMESTAMP_CLOCK_ID,
    C_NETWORK_MESSAGE_BODY_ENCODING,
    C_NETWORK_MESSAGE_BODY_SCHEMA,
    C_NETWORK_MESSAGE_BODY_EXTENSIONS,
    C_NETWORK_MESSAGE_BODY_PAYLOAD,
    C_NETWORK_MESSAGE_BODY_CONSOLIDATION,
    C_NETWORK_MESSAGE_BODY_PARAMETERS,
    C_NETWORK_MESSAGE_BODY_BODY_TYPE,
    C_NETWORK_MESSAGE_BODY_BODY_HEADER,
    C_NETWORK_MESSAGE_BODY_BODY_TIMESTAMP_TIME,
    C_NETWORK_MESSAGE_BODY_BODY_TIMESTAMP_CLOCK_ID,
    C_NETWORK_MESSAGE_BODY_BODY_ENCODING,
    C_NETWORK_MESSAGE_BODY_BODY_SCHEMA,
    C_NETWORK_MESSAGE_BODY_BODY_EXTENSIONS,
    C_NETWORK_MESSAGE_BODY_BODY_PAYLOAD,
    C_NETWORK_MESSAGE_BODY_NUMBER,
    C_NETWORK_MESSAGE_BODY_BYTES,
};

static const int32_t C_NETWORK_MESSAGE_TYPE_NAMES_ENDS[] = {0, 14, 22, 29, 33, 40, 48, 62, 65};

static const choices C_NETWORK_MESSAGE_TYPE_NAMES = {
    8,
    C_NETWORK_MESSAGE_TYPE_NAMES_ENDS,
    "INTEREST_FINAL"
    "INTEREST"
    "DECLARE"
    "PUSH"
    "REQUEST"
    "RESPONSE"
    "RESPONSE_FINAL"
    "OAM"
};

static const int32_t C_NETWORK_MESSAGE_DECLARATION_TYPE_NAMES_ENDS[] = {0, 9, 18, 30, 42, 53, 64, 71, 78, 85};

static const choices C_NETWORK_MESSAGE_DECLARATION_TYPE_NAMES = {
    9,
    C_NETWORK_MESSAGE_DECLARATION_TYPE_NAMES_ENDS,
    "D_KEYEXPR"
    "U_KEYEXPR"
    "D_SUBSCRIBER"
    "U_SUBSCRIBER"
    "D_QUERYABLE"
    "U_QUERYABLE"
    "D_TOKEN"
    "U_TOKEN"
    "D_FINAL"
};

static const int32_t C_NETWORK_MESSAGE_BODY_TYPE_NAMES_ENDS[] = {0, 3, 6, 11, 16, 19};

static const choices C_NETWORK_MESSAGE_BODY_TYPE_NAMES = {
    5,
    C_NETWORK_MESSAGE_BODY_TYPE_NAMES_ENDS,
    "PUT"
    "DEL"
    "QUERY"
    "REPLY"
    "ERR"
};

static const int32_t C_NETWORK_MESSAGE_BODY_BODY_TYPE_NAMES_ENDS[] = {0, 3, 6};

static const choices C_NETWORK_MESSAGE_BODY_BODY_TYPE_NAMES = {
    2,
    C_NETWORK_MESSAGE_BODY_BODY_TYPE_NAMES_ENDS,
    "PUT"
    "DEL"
};

static const column_type NETWORK_MESSAGE_TABLE_COLUMNS[] = {
    [C_NETWORK_MESSAGE_TYPE] = {.name = "type", .kind = CHOICE, .size = 1, .choices = &C_NETWORK_MESSAGE_TYPE_NAMES},
    [C_NETWORK_MESSAGE_HEADER] = {.name = "header", .kind = NUMBER, .size = 1},
    [C_NETWORK_MESSAGE_ID] = {.name = "id", .kind = NUMBER, .size = 4},
    [C_NETWORK_MESSAGE_EXTENSIONS] = {.name = "extensions", .kind = ITEMS, .size = 4, .items = &EXTENSIONS_ITEM_TABLE},
    [C_NETWORK_MESSAGE_OPTIONS] = {.name = "options", .kind = NUMBER, .size = 1},
    [C_NETWORK_MESSAGE_KEY_SCOPE] = {.name = "key_scope", .kind = NUMBER, .size = 2},
    [C_NETWORK_MESSAGE_KEY_SUFFIX] = {.name = "key_suffix", .kind = TEXT, .size = 4},
    [C_NETWORK_MESSAGE_INTEREST_ID] = {.name = "interest_id", .kind = NUMBER, .size = 4},
    [C_NETWORK_MESSAGE_DECLARATION_TYPE] = {.name = "declaration.type", .kind = CHOICE, .size = 1, .choices = &C_NETWORK_MESSAGE_DECLARATION_TYPE_NAMES},
    [C_NETWORK_MESSAGE_DECLARATION_HEADER] = {.name = "declaration.header", .kind = NUMBER, .size = 1},
    [C_NETWORK_MESSAGE_DECLARATION_EXPR_ID] = {.name = "declaration.expr_id", .kind = NUMBER, .size = 2},
    [C_NETWORK_MESSAGE_DECLARATION_KEY_SCOPE] = {.name = "declaration.key_scope", .kind = NUMBER, .size = 2},
    [C_NETWORK_MESSAGE_DECLARATION_KEY_SUFFIX] = {.name = "declaration.key_suffix", .kind = TEXT, .size = 4},
    [C_NETWORK_MESSAGE_DECLARATION_EXTENSIONS] = {.name = "declaration.extensions", .kind = ITEMS, .size = 4, .items = &EXTENSIONS_ITEM_TABLE},
    [C_NETWORK_MESSAGE_DECLARATION_SUBS_ID] = {.name = "declaration.subs_id", .kind = NUMBER, .size = 4},
    [C_NETWORK_MESSAGE_DECLARATION_QBLS_ID] = {.name = "declaration.qbls_id", .kind = NUMBER, .size = 4},
    [C_NETWORK_MESSAGE_DECLARATION_TOKEN_ID] = {.name = "declaration.token_id", .kind = NUMBER, .size = 4},
    [C_NETWORK_MESSAGE_BODY_TYPE] = {.name = "body.type", .kind = CHOICE, .size = 1, .choices = &C_NETWORK_MESSAGE_BODY_TYPE_NAMES},
    [C_NETWORK_MESSAGE_BODY_HEADER] = {.name = "body.header", .kind = NUMBER, .size = 1},
    [C_NETWORK_MESSAGE_BODY_TIMESTAMP_TIME] = {.name = "body.timestamp.time", .kind = NUMBER, .size = 8},
    [C_NETWORK_MESSAGE_BODY_TIMESTAMP_CLOCK_ID] = {.name = "body.timestamp.clock_id", .kind = BYTES, .size = 4},
    [C_NETWORK_MESSAGE_BODY_ENCODING] = {.name = "body.encoding", .kind = NUMBER, .size = 4},
    [C_NETWORK_MESSAGE_BODY_SCHEMA] = {.name = "body.schema", .kind = BYTES, .size = 4},
    [C_NETWORK_MESSAGE_BODY_EXTENSIONS] = {.name = "body.extensions", .kind = ITEMS, .size = 4, .items = &EXTENSIONS_ITEM_TABLE},
    [C_NETWORK_MESSAGE_BODY_PAYLOAD] = {.name = "body.payload", .kind = BYTES, .size = 4},
    [C_NETWORK_MESSAGE_BODY_CONSOLIDATION] = {.name = "body.consolidation", .kind = NUMBER, .size = 1},
    [C_NETWORK_MESSAGE_BODY_PARAMETERS] = {.name = "body.parameters", .kind = TEXT, .size = 4},
    [C_NETWORK_MESSAGE_BODY_BODY_TYPE] = {.name = "body.body.type", .kind = CHOICE, .size = 1, .choices = &C_NETWORK_MESSAGE_BODY_BODY_TYPE_NAMES},
    [C_NETWORK_MESSAGE_BODY_BODY_HEADER] = {.name = "body.body.header", .kind = NUMBER, .size = 1},
    [C_NETWORK_MESSAGE_BODY_BODY_TIMESTAMP_TIME] = {.name = "body.body.timestamp.time", .kind = NUMBER, .size = 8},
    [C_NETWORK_MESSAGE_BODY_BODY_TIMESTAMP_CLOCK_ID] = {.name = "body.body.timestamp.clock_id", .kind = BYTES, .size = 4},
    [C_NETWORK_MESSAGE_BODY_BODY_ENCODING] = {.name = "body.body.encoding", .kind = NUMBER, .size = 4},
    [C_NETWORK_MESSAGE_BODY_BODY_SCHEMA] = {.name = "body.body.schema", .kind = BYTES, .size = 4},
    [C_NETWORK_MESSAGE_BODY_BODY_EXTENSIONS] = {.name = "body.body.extensions", .kind = ITEMS, .size = 4, .items = &EXTENSIONS_ITEM_TABLE},
    [C_NETWORK_MESSAGE_BODY_BODY_PAYLOAD] = {.name = "body.body.payload", .kind = BYTES, .size = 4},
    [C_NETWORK_MESSAGE_BODY_NUMBER] = {.name = "body.number", .kind = NUMBER, .size = 8},
    [C_NETWORK_MESSAGE_BODY_BYTES] = {.name = "body.bytes", .kind = BYTES, .size = 4},
};

static const table_type NETWORK_MESSAGE_TABLE = {37, NETWORK_MESSAGE_TABLE_COLUMNS};

static const uint8_t *fill_extensions(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    table *items = items_begin(f, t, C_NETWORK_MESSAGE_EXTENSIONS, row);
    if (!items)
        return NULL;
    for (size_t count = 0;; count++) {
        if (count == 65535)
            return refused(f, TOO_LONG, p);
        if (!item_begin(f, items))
            return NULL;
        uint8_t b_header = 0;
        TAKE(take_flags(f, p, items, C_EXTENSIONS_ITEM_HEADER, items->rows, 1, &b_header));
        if ((b_header >> 5 & 0x3) == 0) {
        } else if ((b_header >> 5 & 0x3) == 1) {
            TAKE(take_varint(f, p, items, C_EXTENSIONS_ITEM_VALUE_NUMBER, items->rows, 8, 64, &number));
        } else if ((b_header >> 5 & 0x3) == 2) {
            TAKE(take_counted(f, p, items, C_EXTENSIONS_ITEM_VALUE_BYTES, items->rows, 32, 0));
        } else {
            return refused(f, RESERVED, p - 1);
        }
        items->rows++;
        if (!(b_header & 0x80))
            return items_end(p, t, C_NETWORK_MESSAGE_EXTENSIONS, row);
    }
    return p;
}

static const uint8_t *fill_interest_final(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_ID, row, 4, 32, &number));
    if (b_header & 0x80) {
        TAKE(fill_extensions(f, p, t, row));
    }
    return p;
}

static const uint8_t *fill_interest(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    uint8_t b_options = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_ID, row, 4, 32, &number));
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_OPTIONS, row, 1, &b_options));
    if (b_options & 0x10) {
        TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_KEY_SCOPE, row, 2, 16, &number));
    }
    if ((int64_t)(b_options >> 4 & 0x1) & (b_options >> 5 & 0x1)) {
        TAKE(take_counted(f, p, t, C_NETWORK_MESSAGE_KEY_SUFFIX, row, 16, 1));
    }
    if (b_header & 0x80) {
        TAKE(fill_extensions(f, p, t, row));
    }
    return p;
}

static const uint8_t *fill_extensions_2(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    table *items = items_begin(f, t, C_NETWORK_MESSAGE_DECLARATION_EXTENSIONS, row);
    if (!items)
        return NULL;
    for (size_t count = 0;; count++) {
        if (count == 65535)
            return refused(f, TOO_LONG, p);
        if (!item_begin(f, items))
            return NULL;
        uint8_t b_header = 0;
        TAKE(take_flags(f, p, items, C_EXTENSIONS_ITEM_HEADER, items->rows, 1, &b_header));
        if ((b_header >> 5 & 0x3) == 0) {
        } else if ((b_header >> 5 & 0x3) == 1) {
            TAKE(take_varint(f, p, items, C_EXTENSIONS_ITEM_VALUE_NUMBER, items->rows, 8, 64, &number));
        } else if ((b_header >> 5 & 0x3) == 2) {
            TAKE(take_counted(f, p, items, C_EXTENSIONS_ITEM_VALUE_BYTES, items->rows, 32, 0));
        } else {
            return refused(f, RESERVED, p - 1);
        }
        items->rows++;
        if (!(b_header & 0x80))
            return items_end(p, t, C_NETWORK_MESSAGE_DECLARATION_EXTENSIONS, row);
    }
    return p;
}

static const uint8_t *fill_d_keyexpr(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_DECLARATION_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_DECLARATION_EXPR_ID, row, 2, 16, &number));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_DECLARATION_KEY_SCOPE, row, 2, 16, &number));
    if (b_header & 0x20) {
        TAKE(take_counted(f, p, t, C_NETWORK_MESSAGE_DECLARATION_KEY_SUFFIX, row, 16, 1));
    }
    if (b_header & 0x80) {
        TAKE(fill_extensions_2(f, p, t, row));
    }
    return p;
}

static const uint8_t *fill_u_keyexpr(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_DECLARATION_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_DECLARATION_EXPR_ID, row, 2, 16, &number));
    if (b_header & 0x80) {
        TAKE(fill_extensions_2(f, p, t, row));
    }
    return p;
}

static const uint8_t *fill_d_subscriber(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_DECLARATION_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_DECLARATION_SUBS_ID, row, 4, 32, &number));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_DECLARATION_KEY_SCOPE, row, 2, 16, &number));
    if (b_header & 0x20) {
        TAKE(take_counted(f, p, t, C_NETWORK_MESSAGE_DECLARATION_KEY_SUFFIX, row, 16, 1));
    }
    if (b_header & 0x80) {
        TAKE(fill_extensions_2(f, p, t, row));
    }
    return p;
}

static const uint8_t *fill_u_subscriber(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_DECLARATION_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_DECLARATION_SUBS_ID, row, 4, 32, &number));
    if (b_header & 0x80) {
        TAKE(fill_extensions_2(f, p, t, row));
    }
    return p;
}

static const uint8_t *fill_d_queryable(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_DECLARATION_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_DECLARATION_QBLS_ID, row, 4, 32, &number));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_DECLARATION_KEY_SCOPE, row, 2, 16, &number));
    if (b_header & 0x20) {
        TAKE(take_counted(f, p, t, C_NETWORK_MESSAGE_DECLARATION_KEY_SUFFIX, row, 16, 1));
    }
    if (b_header & 0x80) {
        TAKE(fill_extensions_2(f, p, t, row));
    }
    return p;
}

static const uint8_t *fill_u_queryable(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_DECLARATION_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_DECLARATION_QBLS_ID, row, 4, 32, &number));
    if (b_header & 0x80) {
        TAKE(fill_extensions_2(f, p, t, row));
    }
    return p;
}

static const uint8_t *fill_d_token(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_DECLARATION_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_DECLARATION_TOKEN_ID, row, 4, 32, &number));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_DECLARATION_KEY_SCOPE, row, 2, 16, &number));
    if (b_header & 0x20) {
        TAKE(take_counted(f, p, t, C_NETWORK_MESSAGE_DECLARATION_KEY_SUFFIX, row, 16, 1));
    }
    if (b_header & 0x80) {
        TAKE(fill_extensions_2(f, p, t, row));
    }
    return p;
}

static const uint8_t *fill_u_token(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_DECLARATION_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_DECLARATION_TOKEN_ID, row, 4, 32, &number));
    if (b_header & 0x80) {
        TAKE(fill_extensions_2(f, p, t, row));
    }
    return p;
}

static const uint8_t *fill_d_final(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_DECLARATION_HEADER, row, 1, &b_header));
    if (b_header & 0x80) {
        TAKE(fill_extensions_2(f, p, t, row));
    }
    return p;
}

static const uint8_t *fill_declaration(frames *f, const uint8_t *p, table *t, size_t row)
{
    if (unlikely(p == f->end))
        return refused(f, TRUNCATED, p);
    switch (*p) {
    case 0x00: case 0x20: case 0x40: case 0x60: case 0x80: case 0xA0: case 0xC0: case 0xE0:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_DECLARATION_TYPE, row, 1, 0));
        return fill_d_keyexpr(f, p, t, row);
    case 0x01: case 0x21: case 0x41: case 0x61: case 0x81: case 0xA1: case 0xC1: case 0xE1:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_DECLARATION_TYPE, row, 1, 1));
        return fill_u_keyexpr(f, p, t, row);
    case 0x02: case 0x22: case 0x42: case 0x62: case 0x82: case 0xA2: case 0xC2: case 0xE2:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_DECLARATION_TYPE, row, 1, 2));
        return fill_d_subscriber(f, p, t, row);
    case 0x03: case 0x23: case 0x43: case 0x63: case 0x83: case 0xA3: case 0xC3: case 0xE3:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_DECLARATION_TYPE, row, 1, 3));
        return fill_u_subscriber(f, p, t, row);
    case 0x04: case 0x24: case 0x44: case 0x64: case 0x84: case 0xA4: case 0xC4: case 0xE4:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_DECLARATION_TYPE, row, 1, 4));
        return fill_d_queryable(f, p, t, row);
    case 0x05: case 0x25: case 0x45: case 0x65: case 0x85: case 0xA5: case 0xC5: case 0xE5:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_DECLARATION_TYPE, row, 1, 5));
        return fill_u_queryable(f, p, t, row);
    case 0x06: case 0x26: case 0x46: case 0x66: case 0x86: case 0xA6: case 0xC6: case 0xE6:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_DECLARATION_TYPE, row, 1, 6));
        return fill_d_token(f, p, t, row);
    case 0x07: case 0x27: case 0x47: case 0x67: case 0x87: case 0xA7: case 0xC7: case 0xE7:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_DECLARATION_TYPE, row, 1, 7));
        return fill_u_token(f, p, t, row);
    case 0x1A: case 0x3A: case 0x5A: case 0x7A: case 0x9A: case 0xBA: case 0xDA: case 0xFA:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_DECLARATION_TYPE, row, 1, 8));
        return fill_d_final(f, p, t, row);
    }
    return refused(f, UNKNOWN_ID, p);
}

static const uint8_t *fill_declare(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_HEADER, row, 1, &b_header));
    if (b_header & 0x20) {
        TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_INTEREST_ID, row, 4, 32, &number));
    }
    if (b_header & 0x80) {
        TAKE(fill_extensions(f, p, t, row));
    }
    TAKE(fill_declaration(f, p, t, row));
    return p;
}

static const uint8_t *fill_timestamp(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_BODY_TIMESTAMP_TIME, row, 8, 64, &number));
    TAKE(take_counted_within(f, p, t, C_NETWORK_MESSAGE_BODY_TIMESTAMP_CLOCK_ID, row, 8, 0, 1, 16));
    return p;
}

static const uint8_t *fill_extensions_3(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    table *items = items_begin(f, t, C_NETWORK_MESSAGE_BODY_EXTENSIONS, row);
    if (!items)
        return NULL;
    for (size_t count = 0;; count++) {
        if (count == 65535)
            return refused(f, TOO_LONG, p);
        if (!item_begin(f, items))
            return NULL;
        uint8_t b_header = 0;
        TAKE(take_flags(f, p, items, C_EXTENSIONS_ITEM_HEADER, items->rows, 1, &b_header));
        if ((b_header >> 5 & 0x3) == 0) {
        } else if ((b_header >> 5 & 0x3) == 1) {
            TAKE(take_varint(f, p, items, C_EXTENSIONS_ITEM_VALUE_NUMBER, items->rows, 8, 64, &number));
        } else if ((b_header >> 5 & 0x3) == 2) {
            TAKE(take_counted(f, p, items, C_EXTENSIONS_ITEM_VALUE_BYTES, items->rows, 32, 0));
        } else {
            return refused(f, RESERVED, p - 1);
        }
        items->rows++;
        if (!(b_header & 0x80))
            return items_end(p, t, C_NETWORK_MESSAGE_BODY_EXTENSIONS, row);
    }
    return p;
}

static const uint8_t *fill_put(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint8_t b_header = 0;
    uint64_t n_encoding = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_BODY_HEADER, row, 1, &b_header));
    if (b_header & 0x20) {
        TAKE(fill_timestamp(f, p, t, row));
    }
    if (b_header & 0x40) {
        TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_BODY_ENCODING, row, 4, 32, &n_encoding));
    }
    if (b_header & 0x40) {
        if (((int64_t)(int64_t)n_encoding & 1) == 1) {
            TAKE(take_counted(f, p, t, C_NETWORK_MESSAGE_BODY_SCHEMA, row, 8, 0));
        } else {
        }
    }
    if (b_header & 0x80) {
        TAKE(fill_extensions_3(f, p, t, row));
    }
    TAKE(take_counted(f, p, t, C_NETWORK_MESSAGE_BODY_PAYLOAD, row, 32, 0));
    return p;
}

static const uint8_t *fill_del(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_BODY_HEADER, row, 1, &b_header));
    if (b_header & 0x20) {
        TAKE(fill_timestamp(f, p, t, row));
    }
    if (b_header & 0x80) {
        TAKE(fill_extensions_3(f, p, t, row));
    }
    return p;
}

static const uint8_t *fill_body(frames *f, const uint8_t *p, table *t, size_t row)
{
    if (unlikely(p == f->end))
        return refused(f, TRUNCATED, p);
    switch (*p) {
    case 0x01: case 0x21: case 0x41: case 0x61: case 0x81: case 0xA1: case 0xC1: case 0xE1:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_BODY_TYPE, row, 1, 0));
        return fill_put(f, p, t, row);
    case 0x02: case 0x22: case 0x42: case 0x62: case 0x82: case 0xA2: case 0xC2: case 0xE2:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_BODY_TYPE, row, 1, 1));
        return fill_del(f, p, t, row);
    }
    return refused(f, UNKNOWN_ID, p);
}

static const uint8_t *fill_push(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_KEY_SCOPE, row, 2, 16, &number));
    if (b_header & 0x20) {
        TAKE(take_counted(f, p, t, C_NETWORK_MESSAGE_KEY_SUFFIX, row, 16, 1));
    }
    if (b_header & 0x80) {
        TAKE(fill_extensions(f, p, t, row));
    }
    TAKE(fill_body(f, p, t, row));
    return p;
}

static const uint8_t *fill_query(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_BODY_HEADER, row, 1, &b_header));
    if (b_header & 0x20) {
        TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_BODY_CONSOLIDATION, row, 1, 8, &number));
    }
    if (b_header & 0x40) {
        TAKE(take_counted(f, p, t, C_NETWORK_MESSAGE_BODY_PARAMETERS, row, 32, 1));
    }
    if (b_header & 0x80) {
        TAKE(fill_extensions_3(f, p, t, row));
    }
    return p;
}

static const uint8_t *fill_body_2(frames *f, const uint8_t *p, table *t, size_t row)
{
    if (unlikely(p == f->end))
        return refused(f, TRUNCATED, p);
    switch (*p) {
    case 0x03: case 0x23: case 0x43: case 0x63: case 0x83: case 0xA3: case 0xC3: case 0xE3:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_BODY_TYPE, row, 1, 2));
        return fill_query(f, p, t, row);
    }
    return refused(f, UNKNOWN_ID, p);
}

static const uint8_t *fill_request(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_ID, row, 4, 32, &number));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_KEY_SCOPE, row, 2, 16, &number));
    if (b_header & 0x20) {
        TAKE(take_counted(f, p, t, C_NETWORK_MESSAGE_KEY_SUFFIX, row, 16, 1));
    }
    if (b_header & 0x80) {
        TAKE(fill_extensions(f, p, t, row));
    }
    TAKE(fill_body_2(f, p, t, row));
    return p;
}

static const uint8_t *fill_timestamp_2(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_BODY_BODY_TIMESTAMP_TIME, row, 8, 64, &number));
    TAKE(take_counted_within(f, p, t, C_NETWORK_MESSAGE_BODY_BODY_TIMESTAMP_CLOCK_ID, row, 8, 0, 1, 16));
    return p;
}

static const uint8_t *fill_extensions_4(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    table *items = items_begin(f, t, C_NETWORK_MESSAGE_BODY_BODY_EXTENSIONS, row);
    if (!items)
        return NULL;
    for (size_t count = 0;; count++) {
        if (count == 65535)
            return refused(f, TOO_LONG, p);
        if (!item_begin(f, items))
            return NULL;
        uint8_t b_header = 0;
        TAKE(take_flags(f, p, items, C_EXTENSIONS_ITEM_HEADER, items->rows, 1, &b_header));
        if ((b_header >> 5 & 0x3) == 0) {
        } else if ((b_header >> 5 & 0x3) == 1) {
            TAKE(take_varint(f, p, items, C_EXTENSIONS_ITEM_VALUE_NUMBER, items->rows, 8, 64, &number));
        } else if ((b_header >> 5 & 0x3) == 2) {
            TAKE(take_counted(f, p, items, C_EXTENSIONS_ITEM_VALUE_BYTES, items->rows, 32, 0));
        } else {
            return refused(f, RESERVED, p - 1);
        }
        items->rows++;
        if (!(b_header & 0x80))
            return items_end(p, t, C_NETWORK_MESSAGE_BODY_BODY_EXTENSIONS, row);
    }
    return p;
}

static const uint8_t *fill_put_2(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint8_t b_header = 0;
    uint64_t n_encoding = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_BODY_BODY_HEADER, row, 1, &b_header));
    if (b_header & 0x20) {
        TAKE(fill_timestamp_2(f, p, t, row));
    }
    if (b_header & 0x40) {
        TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_BODY_BODY_ENCODING, row, 4, 32, &n_encoding));
    }
    if (b_header & 0x40) {
        if (((int64_t)(int64_t)n_encoding & 1) == 1) {
            TAKE(take_counted(f, p, t, C_NETWORK_MESSAGE_BODY_BODY_SCHEMA, row, 8, 0));
        } else {
        }
    }
    if (b_header & 0x80) {
        TAKE(fill_extensions_4(f, p, t, row));
    }
    TAKE(take_counted(f, p, t, C_NETWORK_MESSAGE_BODY_BODY_PAYLOAD, row, 32, 0));
    return p;
}

static const uint8_t *fill_del_2(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_BODY_BODY_HEADER, row, 1, &b_header));
    if (b_header & 0x20) {
        TAKE(fill_timestamp_2(f, p, t, row));
    }
    if (b_header & 0x80) {
        TAKE(fill_extensions_4(f, p, t, row));
    }
    return p;
}

static const uint8_t *fill_body_3(frames *f, const uint8_t *p, table *t, size_t row)
{
    if (unlikely(p == f->end))
        return refused(f, TRUNCATED, p);
    switch (*p) {
    case 0x01: case 0x21: case 0x41: case 0x61: case 0x81: case 0xA1: case 0xC1: case 0xE1:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_BODY_BODY_TYPE, row, 1, 0));
        return fill_put_2(f, p, t, row);
    case 0x02: case 0x22: case 0x42: case 0x62: case 0x82: case 0xA2: case 0xC2: case 0xE2:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_BODY_BODY_TYPE, row, 1, 1));
        return fill_del_2(f, p, t, row);
    }
    return refused(f, UNKNOWN_ID, p);
}

static const uint8_t *fill_reply(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_BODY_HEADER, row, 1, &b_header));
    if (b_header & 0x20) {
        TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_BODY_CONSOLIDATION, row, 1, 8, &number));
    }
    if (b_header & 0x80) {
        TAKE(fill_extensions_3(f, p, t, row));
    }
    TAKE(fill_body_3(f, p, t, row));
    return p;
}

static const uint8_t *fill_err(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint8_t b_header = 0;
    uint64_t n_encoding = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_BODY_HEADER, row, 1, &b_header));
    if (b_header & 0x40) {
        TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_BODY_ENCODING, row, 4, 32, &n_encoding));
    }
    if (b_header & 0x40) {
        if (((int64_t)(int64_t)n_encoding & 1) == 1) {
            TAKE(take_counted(f, p, t, C_NETWORK_MESSAGE_BODY_SCHEMA, row, 8, 0));
        } else {
        }
    }
    if (b_header & 0x80) {
        TAKE(fill_extensions_3(f, p, t, row));
    }
    TAKE(take_counted(f, p, t, C_NETWORK_MESSAGE_BODY_PAYLOAD, row, 32, 0));
    return p;
}

static const uint8_t *fill_body_3_2(frames *f, const uint8_t *p, table *t, size_t row)
{
    if (unlikely(p == f->end))
        return refused(f, TRUNCATED, p);
    switch (*p) {
    case 0x04: case 0x24: case 0x44: case 0x64: case 0x84: case 0xA4: case 0xC4: case 0xE4:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_BODY_TYPE, row, 1, 3));
        return fill_reply(f, p, t, row);
    case 0x05: case 0x25: case 0x45: case 0x65: case 0x85: case 0xA5: case 0xC5: case 0xE5:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_BODY_TYPE, row, 1, 4));
        return fill_err(f, p, t, row);
    }
    return refused(f, UNKNOWN_ID, p);
}

static const uint8_t *fill_response(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_ID, row, 4, 32, &number));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_KEY_SCOPE, row, 2, 16, &number));
    if (b_header & 0x20) {
        TAKE(take_counted(f, p, t, C_NETWORK_MESSAGE_KEY_SUFFIX, row, 16, 1));
    }
    if (b_header & 0x80) {
        TAKE(fill_extensions(f, p, t, row));
    }
    TAKE(fill_body_3_2(f, p, t, row));
    return p;
}

static const uint8_t *fill_response_final(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_ID, row, 4, 32, &number));
    if (b_header & 0x80) {
        TAKE(fill_extensions(f, p, t, row));
    }
    return p;
}

static const uint8_t *fill_oam(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_NETWORK_MESSAGE_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_ID, row, 4, 16, &number));
    if (b_header & 0x80) {
        TAKE(fill_extensions(f, p, t, row));
    }
    if ((b_header >> 5 & 0x3) == 1) {
        TAKE(take_varint(f, p, t, C_NETWORK_MESSAGE_BODY_NUMBER, row, 8, 64, &number));
    } else if ((b_header >> 5 & 0x3) == 2) {
        TAKE(take_counted(f, p, t, C_NETWORK_MESSAGE_BODY_BYTES, row, 32, 0));
    } else if ((b_header >> 5 & 0x3) == 0) {
    } else {
        return refused(f, RESERVED, p - 1);
    }
    return p;
}

static const uint8_t *fill_network_message(frames *f, const uint8_t *p, table *t, size_t row)
{
    if (unlikely(p == f->end))
        return refused(f, TRUNCATED, p);
    switch (*p) {
    case 0x19: case 0x99:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_TYPE, row, 1, 0));
        return fill_interest_final(f, p, t, row);
    case 0x39: case 0x59: case 0x79: case 0xB9: case 0xD9: case 0xF9:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_TYPE, row, 1, 1));
        return fill_interest(f, p, t, row);
    case 0x1E: case 0x3E: case 0x5E: case 0x7E: case 0x9E: case 0xBE: case 0xDE: case 0xFE:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_TYPE, row, 1, 2));
        return fill_declare(f, p, t, row);
    case 0x1D: case 0x3D: case 0x5D: case 0x7D: case 0x9D: case 0xBD: case 0xDD: case 0xFD:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_TYPE, row, 1, 3));
        return fill_push(f, p, t, row);
    case 0x1C: case 0x3C: case 0x5C: case 0x7C: case 0x9C: case 0xBC: case 0xDC: case 0xFC:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_TYPE, row, 1, 4));
        return fill_request(f, p, t, row);
    case 0x1B: case 0x3B: case 0x5B: case 0x7B: case 0x9B: case 0xBB: case 0xDB: case 0xFB:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_TYPE, row, 1, 5));
        return fill_response(f, p, t, row);
    case 0x1A: case 0x3A: case 0x5A: case 0x7A: case 0x9A: case 0xBA: case 0xDA: case 0xFA:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_TYPE, row, 1, 6));
        return fill_response_final(f, p, t, row);
    case 0x1F: case 0x3F: case 0x5F: case 0x7F: case 0x9F: case 0xBF: case 0xDF: case 0xFF:
        TAKE(take_choice(f, p, t, C_NETWORK_MESSAGE_TYPE, row, 1, 7));
        return fill_oam(f, p, t, row);
    }
    return refused(f, UNKNOWN_ID, p);
}

enum {
    C_TRANSPORT_MESSAGE_TYPE,
    C_TRANSPORT_MESSAGE_HEADER,
    C_TRANSPORT_MESSAGE_ID,
    C_TRANSPORT_MESSAGE_EXTENSIONS,
    C_TRANSPORT_MESSAGE_BODY_NUMBER,
    C_TRANSPORT_MESSAGE_BODY_BYTES,
    C_TRANSPORT_MESSAGE_VERSION,
    C_TRANSPORT_MESSAGE_NODE,
    C_TRANSPORT_MESSAGE_ZID,
    C_TRANSPORT_MESSAGE_RESOLUTION,
    C_TRANSPORT_MESSAGE_BATCH_SIZE,
    C_TRANSPORT_MESSAGE_COOKIE,
    C_TRANSPORT_MESSAGE_LEASE,
    C_TRANSPORT_MESSAGE_INITIAL_SN,
    C_TRANSPORT_MESSAGE_REASON,
    C_TRANSPORT_MESSAGE_SN,
    C_TRANSPORT_MESSAGE_MESSAGES,
    C_TRANSPORT_MESSAGE_DATA,
};

static const int32_t C_TRANSPORT_MESSAGE_TYPE_NAMES_ENDS[] = {0, 5, 9, 13, 18, 28, 33, 41};

static const choices C_TRANSPORT_MESSAGE_TYPE_NAMES = {
    7,
    C_TRANSPORT_MESSAGE_TYPE_NAMES_ENDS,
    "T_OAM"
    "INIT"
    "OPEN"
    "CLOSE"
    "KEEP_ALIVE"
    "FRAME"
    "FRAGMENT"
};

static const column_type TRANSPORT_MESSAGE_TABLE_COLUMNS[] = {
    [C_TRANSPORT_MESSAGE_TYPE] = {.name = "type", .kind = CHOICE, .size = 1, .choices = &C_TRANSPORT_MESSAGE_TYPE_NAMES},
    [C_TRANSPORT_MESSAGE_HEADER] = {.name = "header", .kind = NUMBER, .size = 1},
    [C_TRANSPORT_MESSAGE_ID] = {.name = "id", .kind = NUMBER, .size = 2},
    [C_TRANSPORT_MESSAGE_EXTENSIONS] = {.name = "extensions", .kind = ITEMS, .size = 4, .items = &EXTENSIONS_ITEM_TABLE},
    [C_TRANSPORT_MESSAGE_BODY_NUMBER] = {.name = "body.number", .kind = NUMBER, .size = 8},
    [C_TRANSPORT_MESSAGE_BODY_BYTES] = {.name = "body.bytes", .kind = BYTES, .size = 4},
    [C_TRANSPORT_MESSAGE_VERSION] = {.name = "version", .kind = NUMBER, .size = 1},
    [C_TRANSPORT_MESSAGE_NODE] = {.name = "node", .kind = NUMBER, .size = 1},
    [C_TRANSPORT_MESSAGE_ZID] = {.name = "zid", .kind = BYTES, .size = 4},
    [C_TRANSPORT_MESSAGE_RESOLUTION] = {.name = "resolution", .kind = NUMBER, .size = 1},
    [C_TRANSPORT_MESSAGE_BATCH_SIZE] = {.name = "batch_size", .kind = NUMBER, .size = 2},
    [C_TRANSPORT_MESSAGE_COOKIE] = {.name = "cookie", .kind = BYTES, .size = 4},
    [C_TRANSPORT_MESSAGE_LEASE] = {.name = "lease", .kind = NUMBER, .size = 8},
    [C_TRANSPORT_MESSAGE_INITIAL_SN] = {.name = "initial_sn", .kind = NUMBER, .size = 4},
    [C_TRANSPORT_MESSAGE_REASON] = {.name = "reason", .kind = NUMBER, .size = 1},
    [C_TRANSPORT_MESSAGE_SN] = {.name = "sn", .kind = NUMBER, .size = 4},
    [C_TRANSPORT_MESSAGE_MESSAGES] = {.name = "messages", .kind = ITEMS, .size = 4, .items = &NETWORK_MESSAGE_TABLE},
    [C_TRANSPORT_MESSAGE_DATA] = {.name = "data", .kind = BYTES, .size = 4},
};

static const table_type TRANSPORT_MESSAGE_TABLE = {18, TRANSPORT_MESSAGE_TABLE_COLUMNS};

static const uint8_t *fill_extensions_5(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    table *items = items_begin(f, t, C_TRANSPORT_MESSAGE_EXTENSIONS, row);
    if (!items)
        return NULL;
    for (size_t count = 0;; count++) {
        if (count == 65535)
            return refused(f, TOO_LONG, p);
        if (!item_begin(f, items))
            return NULL;
        uint8_t b_header = 0;
        TAKE(take_flags(f, p, items, C_EXTENSIONS_ITEM_HEADER, items->rows, 1, &b_header));
        if ((b_header >> 5 & 0x3) == 0) {
        } else if ((b_header >> 5 & 0x3) == 1) {
            TAKE(take_varint(f, p, items, C_EXTENSIONS_ITEM_VALUE_NUMBER, items->rows, 8, 64, &number));
        } else if ((b_header >> 5 & 0x3) == 2) {
            TAKE(take_counted(f, p, items, C_EXTENSIONS_ITEM_VALUE_BYTES, items->rows, 32, 0));
        } else {
            return refused(f, RESERVED, p - 1);
        }
        items->rows++;
        if (!(b_header & 0x80))
            return items_end(p, t, C_TRANSPORT_MESSAGE_EXTENSIONS, row);
    }
    return p;
}

static const uint8_t *fill_t_oam(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_TRANSPORT_MESSAGE_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_TRANSPORT_MESSAGE_ID, row, 2, 16, &number));
    if (b_header & 0x80) {
        TAKE(fill_extensions_5(f, p, t, row));
    }
    if ((b_header >> 5 & 0x3) == 1) {
        TAKE(take_varint(f, p, t, C_TRANSPORT_MESSAGE_BODY_NUMBER, row, 8, 64, &number));
    } else if ((b_header >> 5 & 0x3) == 2) {
        TAKE(take_counted(f, p, t, C_TRANSPORT_MESSAGE_BODY_BYTES, row, 32, 0));
    } else if ((b_header >> 5 & 0x3) == 0) {
    } else {
        return refused(f, RESERVED, p - 1);
    }
    return p;
}

static const uint8_t *fill_init(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint8_t byte;
    uint64_t number;
    uint8_t b_header = 0;
    uint8_t b_node = 0;
    TAKE(take_flags(f, p, t, C_TRANSPORT_MESSAGE_HEADER, row, 1, &b_header));
    TAKE(take_integer(f, p, t, C_TRANSPORT_MESSAGE_VERSION, row, 1, 1, &number));
    TAKE(take_flags(f, p, t, C_TRANSPORT_MESSAGE_NODE, row, 1, &b_node));
    TAKE(take_sized(f, p, t, C_TRANSPORT_MESSAGE_ZID, row, ((int64_t)(b_node >> 4 & 0xF) + 1)));
    if (b_header & 0x40) {
        TAKE(take_flags(f, p, t, C_TRANSPORT_MESSAGE_RESOLUTION, row, 1, &byte));
    }
    if (b_header & 0x40) {
        TAKE(take_integer(f, p, t, C_TRANSPORT_MESSAGE_BATCH_SIZE, row, 2, 2, &number));
    }
    if (b_header & 0x20) {
        TAKE(take_counted(f, p, t, C_TRANSPORT_MESSAGE_COOKIE, row, 16, 0));
    }
    if (b_header & 0x80) {
        TAKE(fill_extensions_5(f, p, t, row));
    }
    return p;
}

static const uint8_t *fill_open(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_TRANSPORT_MESSAGE_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_TRANSPORT_MESSAGE_LEASE, row, 8, 64, &number));
    TAKE(take_varint(f, p, t, C_TRANSPORT_MESSAGE_INITIAL_SN, row, 4, 32, &number));
    if ((int64_t)(b_header >> 5 & 0x1) == 0) {
        TAKE(take_counted(f, p, t, C_TRANSPORT_MESSAGE_COOKIE, row, 16, 0));
    }
    if (b_header & 0x80) {
        TAKE(fill_extensions_5(f, p, t, row));
    }
    return p;
}

static const uint8_t *fill_close(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_TRANSPORT_MESSAGE_HEADER, row, 1, &b_header));
    TAKE(take_integer(f, p, t, C_TRANSPORT_MESSAGE_REASON, row, 1, 1, &number));
    if (b_header & 0x80) {
        TAKE(fill_extensions_5(f, p, t, row));
    }
    return p;
}

static const uint8_t *fill_keep_alive(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_TRANSPORT_MESSAGE_HEADER, row, 1, &b_header));
    if (b_header & 0x80) {
        TAKE(fill_extensions_5(f, p, t, row));
    }
    return p;
}

static const uint8_t NETWORK_MESSAGE_BEGINS[256] = {
    [0x19] = 1, [0x1A] = 1, [0x1B] = 1, [0x1C] = 1, [0x1D] = 1, [0x1E] = 1, [0x1F] = 1, [0x39] = 1,
    [0x3A] = 1, [0x3B] = 1, [0x3C] = 1, [0x3D] = 1, [0x3E] = 1, [0x3F] = 1, [0x59] = 1, [0x5A] = 1,
    [0x5B] = 1, [0x5C] = 1, [0x5D] = 1, [0x5E] = 1, [0x5F] = 1, [0x79] = 1, [0x7A] = 1, [0x7B] = 1,
    [0x7C] = 1, [0x7D] = 1, [0x7E] = 1, [0x7F] = 1, [0x99] = 1, [0x9A] = 1, [0x9B] = 1, [0x9C] = 1,
    [0x9D] = 1, [0x9E] = 1, [0x9F] = 1, [0xB9] = 1, [0xBA] = 1, [0xBB] = 1, [0xBC] = 1, [0xBD] = 1,
    [0xBE] = 1, [0xBF] = 1, [0xD9] = 1, [0xDA] = 1, [0xDB] = 1, [0xDC] = 1, [0xDD] = 1, [0xDE] = 1,
    [0xDF] = 1, [0xF9] = 1, [0xFA] = 1, [0xFB] = 1, [0xFC] = 1, [0xFD] = 1, [0xFE] = 1, [0xFF] = 1,
};

static const uint8_t *fill_messages(frames *f, const uint8_t *p, table *t, size_t row)
{
    table *items = items_begin(f, t, C_TRANSPORT_MESSAGE_MESSAGES, row);
    if (!items)
        return NULL;
    for (size_t count = 0; p != f->end && NETWORK_MESSAGE_BEGINS[*p]; count++) {
        if (count == 65535)
            return refused(f, TOO_LONG, p);
        if (!item_begin(f, items))
            return NULL;
        TAKE(fill_network_message(f, p, items, items->rows));
        items->rows++;
    }
    return items_end(p, t, C_TRANSPORT_MESSAGE_MESSAGES, row);
}

static const uint8_t *fill_frame(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_TRANSPORT_MESSAGE_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_TRANSPORT_MESSAGE_SN, row, 4, 32, &number));
    if (b_header & 0x80) {
        TAKE(fill_extensions_5(f, p, t, row));
    }
    TAKE(fill_messages(f, p, t, row));
    return p;
}

static const uint8_t *fill_fragment(frames *f, const uint8_t *p, table *t, size_t row)
{
    uint64_t number;
    uint8_t b_header = 0;
    TAKE(take_flags(f, p, t, C_TRANSPORT_MESSAGE_HEADER, row, 1, &b_header));
    TAKE(take_varint(f, p, t, C_TRANSPORT_MESSAGE_SN, row, 4, 32, &number));
    if (b_header & 0x80) {
        TAKE(fill_extensions_5(f, p, t, row));
    }
    TAKE(take_rest(f, p, t, C_TRANSPORT_MESSAGE_DATA, row, 0));
    return p;
}

static const uint8_t *fill_transport_message(frames *f, const uint8_t *p, table *t, size_t row)
{
    if (unlikely(p == f->end))
        return refused(f, TRUNCATED, p);
    switch (*p) {
    case 0x00: case 0x20: case 0x40: case 0x60: case 0x80: case 0xA0: case 0xC0: case 0xE0:
        TAKE(take_choice(f, p, t, C_TRANSPORT_MESSAGE_TYPE, row, 1, 0));
        return fill_t_oam(f, p, t, row);
    case 0x01: case 0x21: case 0x41: case 0x61: case 0x81: case 0xA1: case 0xC1: case 0xE1:
        TAKE(take_choice(f, p, t, C_TRANSPORT_MESSAGE_TYPE, row, 1, 1));
        return fill_init(f, p, t, row);
    case 0x02: case 0x22: case 0x42: case 0x62: case 0x82: case 0xA2: case 0xC2: case 0xE2:
        TAKE(take_choice(f, p, t, C_TRANSPORT_MESSAGE_TYPE, row, 1, 2));
        return fill_open(f, p, t, row);
    case 0x03: case 0x23: case 0x43: case 0x63: case 0x83: case 0xA3: case 0xC3: case 0xE3:
        TAKE(take_choice(f, p, t, C_TRANSPORT_MESSAGE_TYPE, row, 1, 3));
        return fill_close(f, p, t, row);
    case 0x04: case 0x24: case 0x44: case 0x64: case 0x84: case 0xA4: case 0xC4: case 0xE4:
        TAKE(take_choice(f, p, t, C_TRANSPORT_MESSAGE_TYPE, row, 1, 4));
        return fill_keep_alive(f, p, t, row);
    case 0x05: case 0x25: case 0x45: case 0x65: case 0x85: case 0xA5: case 0xC5: case 0xE5:
        TAKE(take_choice(f, p, t, C_TRANSPORT_MESSAGE_TYPE, row, 1, 5));
        return fill_frame(f, p, t, row);
    case 0x06: case 0x26: case 0x46: case 0x66: case 0x86: case 0xA6: case 0xC6: case 0xE6:
        TAKE(take_choice(f, p, t, C_TRANSPORT_MESSAGE_TYPE, row, 1, 6));
        return fill_fragment(f, p, t, row);
    }
    return refused(f, UNKNOWN_ID, p);
}

enum {
    C_BATCH_ITEMS,
};

static const column_type BATCH_TABLE_COLUMNS[] = {
    [C_BATCH_ITEMS] = {.name = "items", .kind = ITEMS, .size = 4, .items = &TRANSPORT_MESSAGE_TABLE},
};

static const table_type BATCH_TABLE = {1, BATCH_TABLE_COLUMNS};

static const uint8_t *fill_batch(frames *f, const uint8_t *p, table *t, size_t row)
{
    table *items = items_begin(f, t, C_BATCH_ITEMS, row);
    if (!items)
        return NULL;
    for (size_t count = 0; p != f->end; count++) {
        if (count == 65535)
            return refused(f, TOO_LONG, p);
        if (!item_begin(f, items))
            return NULL;
        TAKE(fill_transport_message(f, p, items, items->rows));
        items->rows++;
    }
    return items_end(p, t, C_BATCH_ITEMS, row);
}

static const uint8_t *fill_frame_of_network_message(frames *f, const uint8_t *p, table *t, size_t row)
{
    TAKE(fill_network_message(f, p, t, row));
    return p;
}

static int run_network_message(frames *f, const segment *s)
{
    return run_segment(f, s, fill_frame_of_network_message);
}

static const uint8_t *fill_frame_of_transport_message(frames *f, const uint8_t *p, table *t, size_t row)
{
    if (f->end - p > 65535)
        return refused(f, TOO_LONG, p + 65535);
    TAKE(fill_transport_message(f, p, t, row));
    return p;
}

static int run_transport_message(frames *f, const segment *s)
{
    return run_segment(f, s, fill_frame_of_transport_message);
}

static const uint8_t *fill_frame_of_batch(frames *f, const uint8_t *p, table *t, size_t row)
{
    if (f->end - p > 65535)
        return refused(f, TOO_LONG, p + 65535);
    TAKE(fill_batch(f, p, t, row));
    return p;
}

static int run_batch(frames *f, const segment *s)
{
    return run_segment(f, s, fill_frame_of_batch);
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
    {"zenoh/network-message", &REFUSALS, &NETWORK_MESSAGE_TABLE, run_network_message},
    {"zenoh/transport-message", &REFUSALS, &TRANSPORT_MESSAGE_TABLE, run_transport_message},
    {"zenoh/batch", &REFUSALS, &BATCH_TABLE, run_batch},
    {NULL, NULL, NULL, NULL},
};

#ifndef GOLDWIRE_WITHOUT_PYTHON
#define STAMP "fdf8b78c7b62170f"
#include "capsules.h"
#endif
