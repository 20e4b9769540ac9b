/* A codec of zenoh/network-message behind goldwire's pipe (vectors/pipe.md), in C99 with libc and nothing else.
 *
 * Written by hand from the documents, to be copied and to disagree: it shares nothing with goldwire's engines.
 *
 *   text     a buffer that grows
 *   json     a reader that makes a tree of a line, and a few functions that write
 *   decode   bytes -> JSON, written while reading; a refusal takes back what was written
 *   encode   a JSON tree -> bytes
 *   pipe     one answer per line of standard input
 */

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAYOUT "zenoh/network-message"
#define LONGEST_LINE ((size_t)1 << 26)
#define MOST_EXTENSIONS 65535
#define MOST_CLOCK_ID 16
#define DEEPEST 64

static void die(const char *why)
{
    fprintf(stderr, "adapter: %s\n", why);
    exit(2);
}

/* ------------------------------------------------------------------------------------------------ text */

typedef struct {
    char *data;
    size_t length, room;
} Buffer;

static void append(Buffer *buffer, const void *data, size_t length)
{
    if (length > SIZE_MAX / 4 - buffer->length)
        die("out of memory");
    if (buffer->length + length > buffer->room) {
        size_t room = 2 * (buffer->length + length) + 64;
        char *grown = realloc(buffer->data, room);
        if (grown == NULL)
            die("out of memory");
        buffer->data = grown;
        buffer->room = room;
    }
    if (length > 0)
        memcpy(buffer->data + buffer->length, data, length);
    buffer->length += length;
}

static void append_byte(Buffer *buffer, unsigned byte)
{
    unsigned char one = (unsigned char)byte;
    append(buffer, &one, 1);
}

static void append_text(Buffer *buffer, const char *text)
{
    append(buffer, text, strlen(text));
}

static void append_number(Buffer *buffer, uint64_t number)
{
    char digits[20];
    size_t count = 0;
    do {
        digits[sizeof digits - ++count] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    append(buffer, digits + sizeof digits - count, count);
}

/* Returns the length of the UTF-8 sequence that begins here, 0 if none does: no surrogates, nothing overlong. */
static size_t utf8_sequence(const unsigned char *data, size_t length)
{
    unsigned first = data[0];
    size_t count = first < 0x80 ? 1 : first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
    if (count == 0 || count > length)
        return 0;
    for (size_t i = 1; i < count; i++)
        if ((data[i] & 0xC0) != 0x80)
            return 0;
    if ((first == 0xE0 && data[1] < 0xA0) || (first == 0xED && data[1] > 0x9F) || (first == 0xF0 && data[1] < 0x90) ||
        (first == 0xF4 && data[1] > 0x8F))
        return 0;
    return count;
}

static bool is_utf8(const unsigned char *data, size_t length)
{
    for (size_t at = 0; at < length;) {
        size_t count = utf8_sequence(data + at, length - at);
        if (count == 0)
            return false;
        at += count;
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------ json */

typedef enum { J_NULL, J_BOOL, J_INTEGER, J_OTHER_NUMBER, J_TEXT, J_LIST, J_TABLE } Kind;

typedef struct Json Json;
struct Json {
    Kind kind;
    uint64_t integer;           /* J_INTEGER: 0 to 2^64-1; every other number is J_OTHER_NUMBER */
    char *text;                 /* J_TEXT, with a NUL behind it that does not count */
    size_t length;              /* bytes of text, or items */
    char *name;                 /* in a table */
    size_t name_length;
    Json *first, *next;         /* of a list or table; the next one in the same */
};

typedef struct {
    const char *at, *end;
    int depth;
} Source;

static Json *new_json(Kind kind)
{
    Json *json = calloc(1, sizeof *json);
    if (json == NULL)
        die("out of memory");
    json->kind = kind;
    return json;
}

static void free_json(Json *json)
{
    while (json != NULL) {
        Json *next = json->next;
        free_json(json->first);
        free(json->text);
        free(json->name);
        free(json);
        json = next;
    }
}

static void skip_blanks(Source *source)
{
    while (source->at < source->end && strchr(" \t\r\n", *source->at) != NULL && *source->at != '\0')
        source->at++;
}

static bool accept(Source *source, char wanted)
{
    skip_blanks(source);
    if (source->at == source->end || *source->at != wanted)
        return false;
    source->at++;
    return true;
}

static void expect(Source *source, char wanted)
{
    if (!accept(source, wanted))
        die("a request is not JSON");
}

static unsigned read_unit(Source *source)
{
    unsigned unit = 0;
    for (int i = 0; i < 4; i++) {
        char digit = source->at < source->end ? *source->at++ : 'x';
        unsigned value = digit >= '0' && digit <= '9'   ? (unsigned)(digit - '0')
                         : digit >= 'a' && digit <= 'f' ? (unsigned)(digit - 'a' + 10)
                         : digit >= 'A' && digit <= 'F' ? (unsigned)(digit - 'A' + 10)
                                                        : 16;
        if (value == 16)
            die("a request has a bad \\u");
        unit = unit << 4 | value;
    }
    return unit;
}

static void append_code_point(Buffer *buffer, unsigned long code)
{
    if (code < 0x80) {
        append_byte(buffer, (unsigned)code);
    } else if (code < 0x800) {
        append_byte(buffer, (unsigned)(0xC0 | code >> 6));
        append_byte(buffer, (unsigned)(0x80 | (code & 0x3F)));
    } else if (code < 0x10000) { /* half of a surrogate pair comes here too; is_utf8 refuses it later */
        append_byte(buffer, (unsigned)(0xE0 | code >> 12));
        append_byte(buffer, (unsigned)(0x80 | (code >> 6 & 0x3F)));
        append_byte(buffer, (unsigned)(0x80 | (code & 0x3F)));
    } else {
        append_byte(buffer, (unsigned)(0xF0 | code >> 18));
        append_byte(buffer, (unsigned)(0x80 | (code >> 12 & 0x3F)));
        append_byte(buffer, (unsigned)(0x80 | (code >> 6 & 0x3F)));
        append_byte(buffer, (unsigned)(0x80 | (code & 0x3F)));
    }
}

static void read_escape(Source *source, Buffer *text)
{
    static const char plain[] = "\"\\/bfnrt", meant[] = "\"\\/\b\f\n\r\t";
    char letter = source->at < source->end ? *source->at++ : '\0';
    const char *found = letter != '\0' ? strchr(plain, letter) : NULL;
    if (found != NULL) {
        append_byte(text, (unsigned char)meant[found - plain]);
        return;
    }
    if (letter != 'u')
        die("a request has a bad escape");
    unsigned long code = read_unit(source);
    if (code >= 0xD800 && code < 0xDC00 && source->end - source->at >= 6 && source->at[0] == '\\' &&
        source->at[1] == 'u') {
        Source ahead = *source;
        ahead.at += 2;
        unsigned low = read_unit(&ahead);
        if (low >= 0xDC00 && low < 0xE000) {
            code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
            *source = ahead;
        }
    }
    append_code_point(text, code);
}

/* Reads a string behind its first quotation mark. */
static char *read_string(Source *source, size_t *length)
{
    Buffer text = {0};
    for (;;) {
        if (source->at == source->end || (unsigned char)*source->at < 0x20)
            die("a request has a string that does not end");
        char c = *source->at++;
        if (c == '"')
            break;
        if (c == '\\')
            read_escape(source, &text);
        else
            append_byte(&text, (unsigned char)c);
    }
    *length = text.length;
    append_byte(&text, 0);
    return text.data;
}

static Json *read_number(Source *source)
{
    Json *json = new_json(J_INTEGER);
    const char *start = source->at;
    while (source->at < source->end && *source->at != '\0' && strchr("+-.0123456789eE", *source->at) != NULL) {
        char c = *source->at++;
        unsigned digit = (unsigned)(c - '0');
        if (c < '0' || c > '9' || json->integer > (UINT64_MAX - digit) / 10)
            json->kind = J_OTHER_NUMBER;
        else
            json->integer = 10 * json->integer + digit;
    }
    if (source->at == start)
        die("a request is not JSON");
    return json;
}

static bool accept_word(Source *source, const char *word)
{
    size_t length = strlen(word);
    if ((size_t)(source->end - source->at) < length || memcmp(source->at, word, length) != 0)
        return false;
    source->at += length;
    return true;
}

static Json *read_json(Source *source)
{
    skip_blanks(source);
    if (accept_word(source, "null"))
        return new_json(J_NULL);
    if (accept_word(source, "true") || accept_word(source, "false"))
        return new_json(J_BOOL);
    if (accept(source, '"')) {
        Json *json = new_json(J_TEXT);
        json->text = read_string(source, &json->length);
        return json;
    }
    bool table = accept(source, '{');
    if (!table && !accept(source, '['))
        return read_number(source);
    if (++source->depth > DEEPEST)
        die("a request is nested too deeply");
    Json *json = new_json(table ? J_TABLE : J_LIST);
    Json **last = &json->first;
    char close = table ? '}' : ']';
    if (!accept(source, close)) {
        do {
            char *name = NULL;
            size_t name_length = 0;
            if (table) {
                expect(source, '"');
                name = read_string(source, &name_length);
                expect(source, ':');
            }
            *last = read_json(source);
            (*last)->name = name;
            (*last)->name_length = name_length;
            last = &(*last)->next;
            json->length++;
        } while (accept(source, ','));
        expect(source, close);
    }
    source->depth--;
    return json;
}

/* Returns a member of a table, NULL if there is none. */
static const Json *member(const Json *json, const char *name)
{
    if (json == NULL || json->kind != J_TABLE)
        return NULL;
    for (const Json *each = json->first; each != NULL; each = each->next)
        if (each->name_length == strlen(name) && memcmp(each->name, name, each->name_length) == 0)
            return each;
    return NULL;
}

static bool is_text(const Json *json, const char *text)
{
    return json != NULL && json->kind == J_TEXT && json->length == strlen(text) &&
           memcmp(json->text, text, json->length) == 0;
}

static void write_string(Buffer *out, const char *text, size_t length)
{
    append_byte(out, '"');
    for (size_t i = 0; i < length; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20) {
            char escape[7];
            snprintf(escape, sizeof escape, "\\u%04x", (unsigned)c);
            append_text(out, escape);
        } else {
            if (c == '"' || c == '\\')
                append_byte(out, '\\');
            append_byte(out, c);
        }
    }
    append_byte(out, '"');
}

static void write_hex(Buffer *out, const unsigned char *data, size_t length)
{
    static const char digits[] = "0123456789abcdef";
    append_byte(out, '"');
    for (size_t i = 0; i < length; i++) {
        append_byte(out, (unsigned char)digits[data[i] >> 4]);
        append_byte(out, (unsigned char)digits[data[i] & 15]);
    }
    append_byte(out, '"');
}

static int hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads hex into bytes; false if it is none. */
static bool read_hex(const Json *json, Buffer *out)
{
    if (json == NULL || json->kind != J_TEXT || json->length % 2 != 0)
        return false;
    for (size_t i = 0; i < json->length; i += 2) {
        int high = hex_digit(json->text[i]), low = hex_digit(json->text[i + 1]);
        if (high < 0 || low < 0)
            return false;
        append_byte(out, (unsigned)(high << 4 | low));
    }
    return true;
}

/* ---------------------------------------------------------------------------------------------- decode */

/* The bytes of one frame, how far they are read, and what is written of them. Once `reason` is set nothing is read
 * any more: every reader returns zeroes, and the caller gives the refusal. */
typedef struct {
    const unsigned char *data;
    size_t length, at;
    Buffer *out;
    const char *reason;
    size_t offset;
} Reader;

static void refuse(Reader *r, const char *reason, size_t offset)
{
    if (r->reason == NULL) {
        r->reason = reason;
        r->offset = offset;
    }
}

static unsigned take_byte(Reader *r)
{
    if (r->reason != NULL)
        return 0;
    if (r->at == r->length) {
        refuse(r, "truncated", r->at);
        return 0;
    }
    return r->data[r->at++];
}

/* A variable-length integer: seven bits a byte, low group first; a ninth byte has all eight. */
static uint64_t take_integer(Reader *r, int bits)
{
    size_t start = r->at;
    uint64_t value = 0;
    for (int index = 0; index < 9; index++) {
        unsigned byte = take_byte(r);
        if (index == 8) {
            value |= (uint64_t)byte << 56;
            break;
        }
        value |= (uint64_t)(byte & 0x7F) << (7 * index);
        if (byte < 0x80)
            break;
    }
    if (bits < 64 && value >> bits != 0)
        refuse(r, "out-of-range", start);
    return r->reason != NULL ? 0 : value;
}

/* Bytes after their count; a count of more than is left is refused where it stands. */
static const unsigned char *take_blob(Reader *r, int bits, size_t *length)
{
    size_t start = r->at;
    uint64_t count = take_integer(r, bits);
    *length = 0;
    if (r->reason == NULL && count > r->length - r->at)
        refuse(r, "truncated", start);
    if (r->reason != NULL)
        return r->data;
    *length = (size_t)count;
    r->at += *length;
    return r->data + r->at - *length;
}

static void key(Reader *r, const char *name)
{
    append_text(r->out, ", \"");
    append_text(r->out, name);
    append_text(r->out, "\": ");
}

static void decode_integer(Reader *r, const char *name, bool present, int bits)
{
    key(r, name);
    if (present)
        append_number(r->out, take_integer(r, bits));
    else
        append_text(r->out, "null");
}

static void put_blob(Reader *r, int bits)
{
    size_t length;
    const unsigned char *data = take_blob(r, bits, &length);
    append_text(r->out, "{\"hex\": ");
    write_hex(r->out, data, length);
    append_text(r->out, "}");
}

static void decode_blob(Reader *r, const char *name, bool present, int bits)
{
    key(r, name);
    if (present)
        put_blob(r, bits);
    else
        append_text(r->out, "null");
}

static void decode_text(Reader *r, const char *name, bool present, int bits)
{
    key(r, name);
    if (!present) {
        append_text(r->out, "null");
        return;
    }
    size_t start = r->at, length;
    const unsigned char *data = take_blob(r, bits, &length);
    if (!is_utf8(data, length)) {
        refuse(r, "bad-text", start);
        return;
    }
    write_string(r->out, (const char *)data, length);
}

/* Begins a message: its name and its header. `flags` names the bits 7, 6 and 5; '-' is a reserved bit. */
static void begin(Reader *r, const char *type, unsigned byte, const char *flags)
{
    unsigned reserved = 0;
    append_text(r->out, "{\"type\": \"");
    append_text(r->out, type);
    append_text(r->out, "\", \"header\": {");
    for (int i = 0; i < 3; i++) {
        if (flags[i] == '-') {
            reserved |= 0x80u >> i;
            continue;
        }
        append_byte(r->out, '"');
        append_byte(r->out, (unsigned char)flags[i]);
        append_text(r->out, byte >> (7 - i) & 1 ? "\": 1, " : "\": 0, ");
    }
    append_text(r->out, "\"id\": ");
    append_number(r->out, byte & 0x1F);
    if (reserved != 0) {
        append_text(r->out, ", \"X\": ");
        append_number(r->out, byte & reserved);
    }
    append_text(r->out, "}");
}

/* The same for a header whose bits 6 and 5 are one number. */
static void begin_wide(Reader *r, const char *type, unsigned byte, const char *wide)
{
    append_text(r->out, "{\"type\": \"");
    append_text(r->out, type);
    append_text(r->out, "\", \"header\": {\"Z\": ");
    append_number(r->out, byte >> 7);
    append_text(r->out, ", \"");
    append_text(r->out, wide);
    append_text(r->out, "\": ");
    append_number(r->out, byte >> 5 & 3);
    append_text(r->out, ", \"id\": ");
    append_number(r->out, byte & 0x1F);
    append_text(r->out, "}");
}

static void finish(Reader *r)
{
    append_text(r->out, "}");
}

/* What an extension or an OAM carries: nothing, an integer or bytes. */
static void decode_content(Reader *r, const char *name, unsigned encoding, const char *unit)
{
    if (encoding == 3)
        refuse(r, "reserved", r->at - 1);
    else if (encoding == 1)
        decode_integer(r, name, true, 64);
    else if (encoding == 2)
        decode_blob(r, name, true, 32);
    else {
        key(r, name);
        append_text(r->out, unit);
    }
}

/* The extensions that follow if Z is set; each one's own Z says whether another follows. */
static void decode_extensions(Reader *r, unsigned header)
{
    key(r, "extensions");
    if ((header & 0x80) == 0) {
        append_text(r->out, "null");
        return;
    }
    append_text(r->out, "[");
    unsigned byte = 0x80;
    for (size_t count = 0; (byte & 0x80) != 0 && r->reason == NULL; count++) {
        if (count == MOST_EXTENSIONS) {
            refuse(r, "too-long", r->at);
            return;
        }
        byte = take_byte(r);
        append_text(r->out, count == 0 ? "{\"header\": {\"Z\": " : ", {\"header\": {\"Z\": ");
        append_number(r->out, byte >> 7);
        append_text(r->out, ", \"encoding\": ");
        append_number(r->out, byte >> 5 & 3);
        append_text(r->out, ", \"M\": ");
        append_number(r->out, byte >> 4 & 1);
        append_text(r->out, ", \"id\": ");
        append_number(r->out, byte & 0x0F);
        append_text(r->out, "}");
        if (r->reason == NULL)
            decode_content(r, "value", byte >> 5 & 3, "null");
        finish(r);
    }
    append_text(r->out, "]");
}

static void decode_key(Reader *r, bool named)
{
    decode_integer(r, "key_scope", true, 16);
    decode_text(r, "key_suffix", named, 16);
}

static void decode_interest(Reader *r, unsigned byte)
{
    unsigned mode = byte >> 5 & 3;
    begin_wide(r, mode == 0 ? "INTEREST_FINAL" : "INTEREST", byte, "Mod");
    decode_integer(r, "id", true, 32);
    if (mode != 0) {
        static const char names[] = "AMNRTQSK";
        unsigned options = take_byte(r);
        key(r, "options");
        for (int i = 0; i < 8; i++) {
            append_text(r->out, i == 0 ? "{\"" : ", \"");
            append_byte(r->out, (unsigned char)names[i]);
            append_text(r->out, options >> (7 - i) & 1 ? "\": 1" : "\": 0");
        }
        append_text(r->out, "}");
        bool restricted = options >> 4 & 1;
        decode_integer(r, "key_scope", restricted, 16);
        decode_text(r, "key_suffix", restricted && (options >> 5 & 1), 16);
    }
    decode_extensions(r, byte);
    finish(r);
}

static void decode_declaration(Reader *r)
{
    size_t start = r->at;
    unsigned byte = take_byte(r), id = byte & 0x1F;
    bool named = byte >> 5 & 1;
    if (r->reason != NULL)
        return;
    switch (id) {
    case 0x00:
        begin(r, "D_KEYEXPR", byte, "Z-N");
        decode_integer(r, "expr_id", true, 16);
        decode_key(r, named);
        break;
    case 0x01:
        begin(r, "U_KEYEXPR", byte, "Z--");
        decode_integer(r, "expr_id", true, 16);
        break;
    case 0x02:
        begin(r, "D_SUBSCRIBER", byte, "ZMN");
        decode_integer(r, "subs_id", true, 32);
        decode_key(r, named);
        break;
    case 0x03:
        begin(r, "U_SUBSCRIBER", byte, "Z--");
        decode_integer(r, "subs_id", true, 32);
        break;
    case 0x04:
        begin(r, "D_QUERYABLE", byte, "ZMN");
        decode_integer(r, "qbls_id", true, 32);
        decode_key(r, named);
        break;
    case 0x05:
        begin(r, "U_QUERYABLE", byte, "Z--");
        decode_integer(r, "qbls_id", true, 32);
        break;
    case 0x06:
        begin(r, "D_TOKEN", byte, "ZMN");
        decode_integer(r, "token_id", true, 32);
        decode_key(r, named);
        break;
    case 0x07:
        begin(r, "U_TOKEN", byte, "Z--");
        decode_integer(r, "token_id", true, 32);
        break;
    case 0x1A:
        begin(r, "D_FINAL", byte, "Z--");
        break;
    default:
        refuse(r, "unknown-id", start);
        return;
    }
    decode_extensions(r, byte);
    finish(r);
}

static void decode_declare(Reader *r, unsigned byte)
{
    begin(r, "DECLARE", byte, "Z-I");
    decode_integer(r, "interest_id", byte >> 5 & 1, 32);
    decode_extensions(r, byte);
    key(r, "declaration");
    decode_declaration(r);
    finish(r);
}

static void decode_timestamp(Reader *r, bool present)
{
    key(r, "timestamp");
    if (!present) {
        append_text(r->out, "null");
        return;
    }
    append_text(r->out, "{\"time\": ");
    append_number(r->out, take_integer(r, 64));
    append_text(r->out, ", \"clock_id\": ");
    /* Refused before it is asked whether so many bytes are left. */
    size_t start = r->at;
    uint64_t count = take_integer(r, 8);
    if (r->reason == NULL && (count == 0 || count > MOST_CLOCK_ID))
        refuse(r, count == 0 ? "bad-value" : "too-long", start);
    r->at = start;
    put_blob(r, 8);
    append_text(r->out, "}");
}

static void decode_encoding(Reader *r, bool present)
{
    key(r, "encoding");
    uint64_t encoding = 0;
    if (present) {
        encoding = take_integer(r, 32);
        append_number(r->out, encoding);
    } else {
        append_text(r->out, "null");
    }
    decode_blob(r, "schema", present && (encoding & 1), 8);
}

/* PUT, DEL, QUERY, REPLY or ERR, if its bit in `allowed` says that it may stand here. */
static void decode_body(Reader *r, unsigned allowed)
{
    size_t start = r->at;
    key(r, "body");
    unsigned byte = take_byte(r), id = byte & 0x1F;
    if (r->reason != NULL)
        return;
    if (id > 5 || (allowed >> id & 1) == 0) {
        refuse(r, "unknown-id", start);
        return;
    }
    bool bit6 = byte >> 6 & 1, bit5 = byte >> 5 & 1;
    switch (id) {
    case 0x01:
        begin(r, "PUT", byte, "ZET");
        decode_timestamp(r, bit5);
        decode_encoding(r, bit6);
        decode_extensions(r, byte);
        decode_blob(r, "payload", true, 32);
        break;
    case 0x02:
        begin(r, "DEL", byte, "Z-T");
        decode_timestamp(r, bit5);
        decode_extensions(r, byte);
        break;
    case 0x03:
        begin(r, "QUERY", byte, "ZPC");
        decode_integer(r, "consolidation", bit5, 8);
        decode_text(r, "parameters", bit6, 32);
        decode_extensions(r, byte);
        break;
    case 0x04:
        begin(r, "REPLY", byte, "Z-C");
        decode_integer(r, "consolidation", bit5, 8);
        decode_extensions(r, byte);
        decode_body(r, 1u << 0x01 | 1u << 0x02);
        break;
    default:
        begin(r, "ERR", byte, "ZE-");
        decode_encoding(r, bit6);
        decode_extensions(r, byte);
        decode_blob(r, "payload", true, 32);
        break;
    }
    finish(r);
}

static void decode_network_message(Reader *r)
{
    unsigned byte = take_byte(r);
    if (r->reason != NULL)
        return;
    switch (byte & 0x1F) {
    case 0x19:
        decode_interest(r, byte);
        return;
    case 0x1E:
        decode_declare(r, byte);
        return;
    case 0x1D:
        begin(r, "PUSH", byte, "ZMN");
        decode_key(r, byte >> 5 & 1);
        decode_extensions(r, byte);
        decode_body(r, 1u << 0x01 | 1u << 0x02);
        break;
    case 0x1C:
        begin(r, "REQUEST", byte, "ZMN");
        decode_integer(r, "id", true, 32);
        decode_key(r, byte >> 5 & 1);
        decode_extensions(r, byte);
        decode_body(r, 1u << 0x03);
        break;
    case 0x1B:
        begin(r, "RESPONSE", byte, "ZMN");
        decode_integer(r, "id", true, 32);
        decode_key(r, byte >> 5 & 1);
        decode_extensions(r, byte);
        decode_body(r, 1u << 0x04 | 1u << 0x05);
        break;
    case 0x1A:
        begin(r, "RESPONSE_FINAL", byte, "Z--");
        decode_integer(r, "id", true, 32);
        decode_extensions(r, byte);
        break;
    case 0x1F:
        begin_wide(r, "OAM", byte, "encoding");
        decode_integer(r, "id", true, 16);
        decode_extensions(r, byte);
        if (r->reason == NULL)
            decode_content(r, "body", byte >> 5 & 3, "{}");
        break;
    default:
        refuse(r, "unknown-id", 0);
        return;
    }
    finish(r);
}

/* Writes the result for one frame. */
static void decode_frame(Buffer *out, const Json *frame)
{
    Buffer data = {0};
    if (!read_hex(frame, &data))
        die("a frame is not hex");
    size_t begun = out->length;
    append_text(out, "{\"value\": ");
    /* An empty buffer has no data; a pointer that may be added to is needed all the same. */
    Reader reader = {(const unsigned char *)(data.data != NULL ? data.data : ""), data.length, 0, out, NULL, 0};
    decode_network_message(&reader);
    if (reader.reason == NULL && reader.at < reader.length)
        refuse(&reader, "trailing", reader.at);
    if (reader.reason != NULL) {
        out->length = begun;
        append_text(out, "{\"error\": {\"reason\": \"");
        append_text(out, reader.reason);
        append_text(out, "\", \"offset\": ");
        append_number(out, reader.offset);
        append_text(out, "}");
    }
    append_text(out, "}");
    free(data.data);
}

/* ---------------------------------------------------------------------------------------------- encode */

/* The bytes that are written; `unfit` says why the value cannot be expressed, the first reason stays. */
typedef struct {
    Buffer out;
    char unfit[160];
} Writer;

static void unfit(Writer *w, const char *format, ...)
{
    if (w->unfit[0] != '\0')
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(w->unfit, sizeof w->unfit, format, arguments);
    va_end(arguments);
}

static uint64_t number(Writer *w, const Json *json, int bits, const char *name)
{
    if (json == NULL || json->kind != J_INTEGER || (bits < 64 && json->integer >> bits != 0)) {
        unfit(w, "%s is not an unsigned integer of %d bits", name, bits);
        return 0;
    }
    return json->integer;
}

/* A flag of a header; one that is missing counts as 0. */
static unsigned flag(Writer *w, const Json *header, const char *name, int bits)
{
    const Json *json = member(header, name);
    return json == NULL ? 0 : (unsigned)number(w, json, bits, name);
}

static void put_integer(Writer *w, uint64_t value)
{
    for (int i = 0; i < 8 && value > 0x7F; i++) {
        append_byte(&w->out, (unsigned)(value & 0x7F) | 0x80);
        value >>= 7;
    }
    append_byte(&w->out, (unsigned)value);
}

static void encode_integer(Writer *w, const Json *value, const char *name, int bits)
{
    put_integer(w, number(w, member(value, name), bits, name));
}

static void put_counted(Writer *w, const char *data, size_t length, int bits, const char *name)
{
    if ((uint64_t)length >> bits != 0)
        unfit(w, "the length of %s is not an unsigned integer of %d bits", name, bits);
    put_integer(w, length);
    append(&w->out, data, length);
}

static void encode_blob(Writer *w, const Json *value, const char *name, int bits)
{
    Buffer data = {0};
    if (read_hex(member(member(value, name), "hex"), &data))
        put_counted(w, data.data, data.length, bits, name);
    else
        unfit(w, "%s is not bytes", name);
    free(data.data);
}

static void encode_text(Writer *w, const Json *value, const char *name, int bits)
{
    const Json *text = member(value, name);
    if (text == NULL || text->kind != J_TEXT)
        unfit(w, "%s is not text", name);
    else if (!is_utf8((const unsigned char *)text->text, text->length))
        unfit(w, "%s has half of a surrogate pair", name);
    else
        put_counted(w, text->text, text->length, bits, name);
}

static const Json *table(Writer *w, const Json *value, const char *name)
{
    const Json *found = member(value, name);
    if (found == NULL || found->kind != J_TABLE)
        unfit(w, "%s is not a table", name);
    return found;
}

/* Writes a header byte and returns it; `flags` as for begin(). */
static unsigned encode_header(Writer *w, const Json *value, unsigned id, const char *flags)
{
    const Json *header = table(w, value, "header");
    unsigned byte = flag(w, header, "X", 8), reserved = 0;
    for (int i = 0; i < 3; i++)
        reserved |= flags[i] == '-' ? 0x80u >> i : 0;
    if ((byte & ~reserved) != 0)
        unfit(w, "X has bits that have a name");
    for (int i = 0; i < 3; i++) {
        char name[2] = {flags[i], '\0'};
        if (flags[i] != '-')
            byte |= flag(w, header, name, 1) << (7 - i);
    }
    append_byte(&w->out, byte | id);
    return byte | id;
}

static unsigned encode_wide_header(Writer *w, const Json *value, unsigned id, const char *wide)
{
    const Json *header = table(w, value, "header");
    unsigned byte = flag(w, header, "Z", 1) << 7 | flag(w, header, wide, 2) << 5 | id;
    if (flag(w, header, "X", 8) != 0)
        unfit(w, "X has bits that have a name");
    append_byte(&w->out, byte);
    return byte;
}

static void encode_content(Writer *w, const Json *value, const char *name, unsigned encoding)
{
    if (encoding == 3)
        unfit(w, "the encoding 3 is reserved");
    else if (encoding == 1)
        encode_integer(w, value, name, 64);
    else if (encoding == 2)
        encode_blob(w, value, name, 32);
}

/* The extensions if the header has Z; their own Z follow from the order. */
static void encode_extensions(Writer *w, const Json *value, unsigned header)
{
    if ((header & 0x80) == 0)
        return;
    const Json *extensions = member(value, "extensions");
    if (extensions == NULL || extensions->kind != J_LIST || extensions->length == 0 ||
        extensions->length > MOST_EXTENSIONS) {
        unfit(w, "Z is set: extensions have to be a list of 1 to %d", MOST_EXTENSIONS);
        return;
    }
    for (const Json *each = extensions->first; each != NULL; each = each->next) {
        const Json *own = table(w, each, "header");
        unsigned encoding = flag(w, own, "encoding", 2);
        if (flag(w, own, "X", 8) != 0)
            unfit(w, "X has bits that have a name");
        append_byte(&w->out, (each->next != NULL ? 0x80u : 0) | encoding << 5 | flag(w, own, "M", 1) << 4 |
                                 flag(w, own, "id", 4));
        encode_content(w, each, "value", encoding);
    }
}

static void encode_key(Writer *w, const Json *value, bool named)
{
    encode_integer(w, value, "key_scope", 16);
    if (named)
        encode_text(w, value, "key_suffix", 16);
}

static void encode_interest(Writer *w, const Json *value)
{
    unsigned byte = encode_wide_header(w, value, 0x19, "Mod");
    if ((byte >> 5 & 3) == 0)
        unfit(w, "an INTEREST with the mode 0 is an INTEREST_FINAL");
    encode_integer(w, value, "id", 32);
    const Json *options = table(w, value, "options");
    unsigned bits = 0;
    for (int i = 0; i < 8; i++) {
        char name[2] = {"AMNRTQSK"[i], '\0'};
        bits |= flag(w, options, name, 1) << (7 - i);
    }
    if (flag(w, options, "X", 8) != 0)
        unfit(w, "X has bits that have a name");
    append_byte(&w->out, bits);
    if (bits >> 4 & 1)
        encode_key(w, value, bits >> 5 & 1);
    encode_extensions(w, value, byte);
}

static void encode_interest_final(Writer *w, const Json *value)
{
    const Json *header = table(w, value, "header");
    unsigned byte = flag(w, header, "Z", 1) << 7 | 0x19;
    if (flag(w, header, "X", 8) != 0)
        unfit(w, "X has bits that have a name");
    append_byte(&w->out, byte);
    encode_integer(w, value, "id", 32);
    encode_extensions(w, value, byte);
}

static void encode_declaration(Writer *w, const Json *value)
{
    static const struct {
        const char *type, *number;
        unsigned id;
    } entities[] = {
        {"D_SUBSCRIBER", "subs_id", 0x02}, {"U_SUBSCRIBER", "subs_id", 0x03}, {"D_QUERYABLE", "qbls_id", 0x04},
        {"U_QUERYABLE", "qbls_id", 0x05},  {"D_TOKEN", "token_id", 0x06},     {"U_TOKEN", "token_id", 0x07},
    };
    const Json *type = member(value, "type");
    unsigned byte = 0;
    if (is_text(type, "D_KEYEXPR")) {
        byte = encode_header(w, value, 0x00, "Z-N");
        encode_integer(w, value, "expr_id", 16);
        encode_key(w, value, byte >> 5 & 1);
    } else if (is_text(type, "U_KEYEXPR")) {
        byte = encode_header(w, value, 0x01, "Z--");
        encode_integer(w, value, "expr_id", 16);
    } else if (is_text(type, "D_FINAL")) {
        byte = encode_header(w, value, 0x1A, "Z--");
    } else {
        size_t i = 0, count = sizeof entities / sizeof *entities;
        while (i < count && !is_text(type, entities[i].type))
            i++;
        if (i == count) {
            unfit(w, "no declaration has this type");
            return;
        }
        bool declares = entities[i].id % 2 == 0;
        byte = encode_header(w, value, entities[i].id, declares ? "ZMN" : "Z--");
        encode_integer(w, value, entities[i].number, 32);
        if (declares)
            encode_key(w, value, byte >> 5 & 1);
    }
    encode_extensions(w, value, byte);
}

static void encode_timestamp(Writer *w, const Json *value, bool present)
{
    if (!present)
        return;
    const Json *timestamp = table(w, value, "timestamp");
    encode_integer(w, timestamp, "time", 64);
    size_t before = w->out.length;
    encode_blob(w, timestamp, "clock_id", 8);
    size_t spelled = w->out.length - before;
    if (spelled < 2 || spelled > 1 + MOST_CLOCK_ID)
        unfit(w, "clock_id has not 1 to %d bytes", MOST_CLOCK_ID);
}

static void encode_encoding(Writer *w, const Json *value, bool present)
{
    if (!present)
        return;
    uint64_t encoding = number(w, member(value, "encoding"), 32, "encoding");
    put_integer(w, encoding);
    if (encoding & 1)
        encode_blob(w, value, "schema", 8);
}

/* PUT, DEL, QUERY, REPLY or ERR, if `allowed` says that it may stand here (as for decode_body). */
static void encode_body(Writer *w, const Json *parent, unsigned allowed)
{
    static const char *const types[] = {"", "PUT", "DEL", "QUERY", "REPLY", "ERR"};
    const Json *value = table(w, parent, "body"), *type = member(value, "type");
    unsigned id = 1, byte;
    while (id <= 5 && !is_text(type, types[id]))
        id++;
    if (id > 5 || (allowed >> id & 1) == 0) {
        unfit(w, "no body of this type can stand here");
        return;
    }
    switch (id) {
    case 0x01:
        byte = encode_header(w, value, id, "ZET");
        encode_timestamp(w, value, byte >> 5 & 1);
        encode_encoding(w, value, byte >> 6 & 1);
        encode_extensions(w, value, byte);
        encode_blob(w, value, "payload", 32);
        break;
    case 0x02:
        byte = encode_header(w, value, id, "Z-T");
        encode_timestamp(w, value, byte >> 5 & 1);
        encode_extensions(w, value, byte);
        break;
    case 0x03:
        byte = encode_header(w, value, id, "ZPC");
        if (byte >> 5 & 1)
            encode_integer(w, value, "consolidation", 8);
        if (byte >> 6 & 1)
            encode_text(w, value, "parameters", 32);
        encode_extensions(w, value, byte);
        break;
    case 0x04:
        byte = encode_header(w, value, id, "Z-C");
        if (byte >> 5 & 1)
            encode_integer(w, value, "consolidation", 8);
        encode_extensions(w, value, byte);
        encode_body(w, value, 1u << 0x01 | 1u << 0x02);
        break;
    default:
        byte = encode_header(w, value, id, "ZE-");
        encode_encoding(w, value, byte >> 6 & 1);
        encode_extensions(w, value, byte);
        encode_blob(w, value, "payload", 32);
        break;
    }
}

static void encode_network_message(Writer *w, const Json *value)
{
    const Json *type = member(value, "type");
    unsigned byte;
    if (is_text(type, "INTEREST")) {
        encode_interest(w, value);
    } else if (is_text(type, "INTEREST_FINAL")) {
        encode_interest_final(w, value);
    } else if (is_text(type, "DECLARE")) {
        byte = encode_header(w, value, 0x1E, "Z-I");
        if (byte >> 5 & 1)
            encode_integer(w, value, "interest_id", 32);
        encode_extensions(w, value, byte);
        encode_declaration(w, table(w, value, "declaration"));
    } else if (is_text(type, "PUSH")) {
        byte = encode_header(w, value, 0x1D, "ZMN");
        encode_key(w, value, byte >> 5 & 1);
        encode_extensions(w, value, byte);
        encode_body(w, value, 1u << 0x01 | 1u << 0x02);
    } else if (is_text(type, "REQUEST") || is_text(type, "RESPONSE")) {
        bool request = is_text(type, "REQUEST");
        byte = encode_header(w, value, request ? 0x1C : 0x1B, "ZMN");
        encode_integer(w, value, "id", 32);
        encode_key(w, value, byte >> 5 & 1);
        encode_extensions(w, value, byte);
        encode_body(w, value, request ? 1u << 0x03 : 1u << 0x04 | 1u << 0x05);
    } else if (is_text(type, "RESPONSE_FINAL")) {
        byte = encode_header(w, value, 0x1A, "Z--");
        encode_integer(w, value, "id", 32);
        encode_extensions(w, value, byte);
    } else if (is_text(type, "OAM")) {
        byte = encode_wide_header(w, value, 0x1F, "encoding");
        encode_integer(w, value, "id", 16);
        encode_extensions(w, value, byte);
        encode_content(w, value, "body", byte >> 5 & 3);
    } else {
        unfit(w, "no network message has this type");
    }
}

/* Writes the result for one value. */
static void encode_value(Buffer *out, const Json *value)
{
    Writer writer = {{0}, ""};
    encode_network_message(&writer, value);
    if (writer.unfit[0] != '\0') {
        append_text(out, "{\"error\": {\"detail\": ");
        write_string(out, writer.unfit, strlen(writer.unfit));
        append_text(out, "}}");
    } else {
        append_text(out, "{\"bytes\": ");
        write_hex(out, (const unsigned char *)writer.out.data, writer.out.length);
        append_text(out, "}");
    }
    free(writer.out.data);
}

/* ------------------------------------------------------------------------------------------------ pipe */

static void answer(Buffer *out, const Json *request)
{
    const Json *id = member(request, "id"), *todo = member(request, "do");
    if (id == NULL || id->kind != J_INTEGER)
        die("a request has no id");
    append_text(out, "{\"id\": ");
    append_number(out, id->integer);
    bool decode = is_text(todo, "decode");
    const Json *items = member(request, decode ? "frames" : "values");
    if (is_text(todo, "describe")) {
        append_text(out, ", \"pipe\": \"goldwire-pipe-1\", \"name\": \"goldwire example in C\", \"version\": \"1\", "
                         "\"language\": \"C\", \"layouts\": [\"" LAYOUT "\"]}\n");
    } else if (!decode && !is_text(todo, "encode")) {
        append_text(out, ", \"error\": {\"detail\": \"only describe, decode and encode are known\"}}\n");
    } else if (!is_text(member(request, "layout"), LAYOUT)) {
        append_text(out, ", \"error\": {\"detail\": \"only the layout " LAYOUT " is spoken here\"}}\n");
    } else if (items == NULL || items->kind != J_LIST) {
        append_text(out, ", \"error\": {\"detail\": \"there is no list of frames or values\"}}\n");
    } else {
        append_text(out, ", \"results\": [");
        for (const Json *item = items->first; item != NULL; item = item->next) {
            if (decode)
                decode_frame(out, item);
            else
                encode_value(out, item);
            if (item->next != NULL)
                append_text(out, ", ");
        }
        append_text(out, "]}\n");
    }
}

/* Reads a line without its end; false at the end of the input. */
static bool read_line(Buffer *line)
{
    int c;
    line->length = 0;
    while ((c = getc(stdin)) != EOF && c != '\n') {
        if (line->length == LONGEST_LINE)
            die("a request of more than 64 MiB");
        append_byte(line, (unsigned)c);
    }
    return c != EOF || line->length > 0;
}

int main(void)
{
    Buffer line = {0}, out = {0};
    while (read_line(&line)) {
        Source source = {line.data != NULL ? line.data : "", NULL, 0};
        source.end = source.at + line.length;
        Json *request = read_json(&source);
        skip_blanks(&source);
        if (source.at != source.end)
            die("a request is not JSON");
        out.length = 0;
        answer(&out, request);
        free_json(request);
        if (fwrite(out.data, 1, out.length, stdout) != out.length || fflush(stdout) != 0)
            die("cannot write an answer");
    }
    free(line.data);
    free(out.data);
    return 0;
}
