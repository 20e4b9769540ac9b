/* Codecs of zenoh: generated from wire/zenoh by `python -m wire.emit`. Do not edit. */

#include "records.h"

static kind kind_interest_final_header_bits = {
    .qualified = "wire.zenoh.generated.native.interest_final_header_bits",
    .count = 3,
    .names = {"Z", "Mod", "id"},
};
static const bits bits_interest_final_header_bits[] = {{0x80, 7}, {0x60, 5}, {0x1F, 0}};
static const uint8_t begins_interest_final_header_bits[] = {0x19, 0x99};
static PyObject *table_interest_final_header_bits[256];

static kind kind_extensions_item_header_bits = {
    .qualified = "wire.zenoh.generated.native.extensions_item_header_bits",
    .count = 4,
    .names = {"Z", "encoding", "M", "id"},
};
static const bits bits_extensions_item_header_bits[] = {{0x80, 7}, {0x60, 5}, {0x10, 4}, {0x0F, 0}};
static PyObject *table_extensions_item_header_bits[256];

static kind kind_interest_header_bits = {
    .qualified = "wire.zenoh.generated.native.interest_header_bits",
    .count = 3,
    .names = {"Z", "Mod", "id"},
};
static const bits bits_interest_header_bits[] = {{0x80, 7}, {0x60, 5}, {0x1F, 0}};
static const uint8_t begins_interest_header_bits[] = {0x39, 0x59, 0x79, 0xB9, 0xD9, 0xF9};
static PyObject *table_interest_header_bits[256];

static kind kind_interest_options_bits = {
    .qualified = "wire.zenoh.generated.native.interest_options_bits",
    .count = 8,
    .names = {"A", "M", "N", "R", "T", "Q", "S", "K"},
};
static const bits bits_interest_options_bits[] = {{0x80, 7}, {0x40, 6}, {0x20, 5}, {0x10, 4}, {0x08, 3}, {0x04, 2}, {0x02, 1}, {0x01, 0}};
static PyObject *table_interest_options_bits[256];

static kind kind_declare_header_bits = {
    .qualified = "wire.zenoh.generated.native.declare_header_bits",
    .count = 4,
    .names = {"Z", "I", "id", "X"},
};
static const bits bits_declare_header_bits[] = {{0x80, 7}, {0x20, 5}, {0x1F, 0}, {0x40, 0}};
static const uint8_t begins_declare_header_bits[] = {0x1E, 0x3E, 0x5E, 0x7E, 0x9E, 0xBE, 0xDE, 0xFE};
static PyObject *table_declare_header_bits[256];

static kind kind_d_keyexpr_header_bits = {
    .qualified = "wire.zenoh.generated.native.d_keyexpr_header_bits",
    .count = 4,
    .names = {"Z", "N", "id", "X"},
};
static const bits bits_d_keyexpr_header_bits[] = {{0x80, 7}, {0x20, 5}, {0x1F, 0}, {0x40, 0}};
static const uint8_t begins_d_keyexpr_header_bits[] = {0x00, 0x20, 0x40, 0x60, 0x80, 0xA0, 0xC0, 0xE0};
static PyObject *table_d_keyexpr_header_bits[256];

static kind kind_u_keyexpr_header_bits = {
    .qualified = "wire.zenoh.generated.native.u_keyexpr_header_bits",
    .count = 3,
    .names = {"Z", "id", "X"},
};
static const bits bits_u_keyexpr_header_bits[] = {{0x80, 7}, {0x1F, 0}, {0x60, 0}};
static const uint8_t begins_u_keyexpr_header_bits[] = {0x01, 0x21, 0x41, 0x61, 0x81, 0xA1, 0xC1, 0xE1};
static PyObject *table_u_keyexpr_header_bits[256];

static kind kind_d_subscriber_header_bits = {
    .qualified = "wire.zenoh.generated.native.d_subscriber_header_bits",
    .count = 4,
    .names = {"Z", "M", "N", "id"},
};
static const bits bits_d_subscriber_header_bits[] = {{0x80, 7}, {0x40, 6}, {0x20, 5}, {0x1F, 0}};
static const uint8_t begins_d_subscriber_header_bits[] = {0x02, 0x22, 0x42, 0x62, 0x82, 0xA2, 0xC2, 0xE2};
static PyObject *table_d_subscriber_header_bits[256];

static kind kind_u_subscriber_header_bits = {
    .qualified = "wire.zenoh.generated.native.u_subscriber_header_bits",
    .count = 3,
    .names = {"Z", "id", "X"},
};
static const bits bits_u_subscriber_header_bits[] = {{0x80, 7}, {0x1F, 0}, {0x60, 0}};
static const uint8_t begins_u_subscriber_header_bits[] = {0x03, 0x23, 0x43, 0x63, 0x83, 0xA3, 0xC3, 0xE3};
static PyObject *table_u_subscriber_header_bits[256];

static kind kind_d_queryable_header_bits = {
    .qualified = "wire.zenoh.generated.native.d_queryable_header_bits",
    .count = 4,
    .names = {"Z", "M", "N", "id"},
};
static const bits bits_d_queryable_header_bits[] = {{0x80, 7}, {0x40, 6}, {0x20, 5}, {0x1F, 0}};
static const uint8_t begins_d_queryable_header_bits[] = {0x04, 0x24, 0x44, 0x64, 0x84, 0xA4, 0xC4, 0xE4};
static PyObject *table_d_queryable_header_bits[256];

static kind kind_u_queryable_header_bits = {
    .qualified = "wire.zenoh.generated.native.u_queryable_header_bits",
    .count = 3,
    .names = {"Z", "id", "X"},
};
static const bits bits_u_queryable_header_bits[] = {{0x80, 7}, {0x1F, 0}, {0x60, 0}};
static const uint8_t begins_u_queryable_header_bits[] = {0x05, 0x25, 0x45, 0x65, 0x85, 0xA5, 0xC5, 0xE5};
static PyObject *table_u_queryable_header_bits[256];

static kind kind_d_token_header_bits = {
    .qualified = "wire.zenoh.generated.native.d_token_header_bits",
    .count = 4,
    .names = {"Z", "M", "N", "id"},
};
static const bits bits_d_token_header_bits[] = {{0x80, 7}, {0x40, 6}, {0x20, 5}, {0x1F, 0}};
static const uint8_t begins_d_token_header_bits[] = {0x06, 0x26, 0x46, 0x66, 0x86, 0xA6, 0xC6, 0xE6};
static PyObject *table_d_token_header_bits[256];

static kind kind_u_token_header_bits = {
    .qualified = "wire.zenoh.generated.native.u_token_header_bits",
    .count = 3,
    .names = {"Z", "id", "X"},
};
static const bits bits_u_token_header_bits[] = {{0x80, 7}, {0x1F, 0}, {0x60, 0}};
static const uint8_t begins_u_token_header_bits[] = {0x07, 0x27, 0x47, 0x67, 0x87, 0xA7, 0xC7, 0xE7};
static PyObject *table_u_token_header_bits[256];

static kind kind_d_final_header_bits = {
    .qualified = "wire.zenoh.generated.native.d_final_header_bits",
    .count = 3,
    .names = {"Z", "id", "X"},
};
static const bits bits_d_final_header_bits[] = {{0x80, 7}, {0x1F, 0}, {0x60, 0}};
static const uint8_t begins_d_final_header_bits[] = {0x1A, 0x3A, 0x5A, 0x7A, 0x9A, 0xBA, 0xDA, 0xFA};
static PyObject *table_d_final_header_bits[256];

static kind kind_push_header_bits = {
    .qualified = "wire.zenoh.generated.native.push_header_bits",
    .count = 4,
    .names = {"Z", "M", "N", "id"},
};
static const bits bits_push_header_bits[] = {{0x80, 7}, {0x40, 6}, {0x20, 5}, {0x1F, 0}};
static const uint8_t begins_push_header_bits[] = {0x1D, 0x3D, 0x5D, 0x7D, 0x9D, 0xBD, 0xDD, 0xFD};
static PyObject *table_push_header_bits[256];

static kind kind_put_header_bits = {
    .qualified = "wire.zenoh.generated.native.put_header_bits",
    .count = 4,
    .names = {"Z", "E", "T", "id"},
};
static const bits bits_put_header_bits[] = {{0x80, 7}, {0x40, 6}, {0x20, 5}, {0x1F, 0}};
static const uint8_t begins_put_header_bits[] = {0x01, 0x21, 0x41, 0x61, 0x81, 0xA1, 0xC1, 0xE1};
static PyObject *table_put_header_bits[256];

static kind kind_del_header_bits = {
    .qualified = "wire.zenoh.generated.native.del_header_bits",
    .count = 4,
    .names = {"Z", "T", "id", "X"},
};
static const bits bits_del_header_bits[] = {{0x80, 7}, {0x20, 5}, {0x1F, 0}, {0x40, 0}};
static const uint8_t begins_del_header_bits[] = {0x02, 0x22, 0x42, 0x62, 0x82, 0xA2, 0xC2, 0xE2};
static PyObject *table_del_header_bits[256];

static kind kind_request_header_bits = {
    .qualified = "wire.zenoh.generated.native.request_header_bits",
    .count = 4,
    .names = {"Z", "M", "N", "id"},
};
static const bits bits_request_header_bits[] = {{0x80, 7}, {0x40, 6}, {0x20, 5}, {0x1F, 0}};
static const uint8_t begins_request_header_bits[] = {0x1C, 0x3C, 0x5C, 0x7C, 0x9C, 0xBC, 0xDC, 0xFC};
static PyObject *table_request_header_bits[256];

static kind kind_query_header_bits = {
    .qualified = "wire.zenoh.generated.native.query_header_bits",
    .count = 4,
    .names = {"Z", "P", "C", "id"},
};
static const bits bits_query_header_bits[] = {{0x80, 7}, {0x40, 6}, {0x20, 5}, {0x1F, 0}};
static const uint8_t begins_query_header_bits[] = {0x03, 0x23, 0x43, 0x63, 0x83, 0xA3, 0xC3, 0xE3};
static PyObject *table_query_header_bits[256];

static kind kind_response_header_bits = {
    .qualified = "wire.zenoh.generated.native.response_header_bits",
    .count = 4,
    .names = {"Z", "M", "N", "id"},
};
static const bits bits_response_header_bits[] = {{0x80, 7}, {0x40, 6}, {0x20, 5}, {0x1F, 0}};
static const uint8_t begins_response_header_bits[] = {0x1B, 0x3B, 0x5B, 0x7B, 0x9B, 0xBB, 0xDB, 0xFB};
static PyObject *table_response_header_bits[256];

static kind kind_reply_header_bits = {
    .qualified = "wire.zenoh.generated.native.reply_header_bits",
    .count = 4,
    .names = {"Z", "C", "id", "X"},
};
static const bits bits_reply_header_bits[] = {{0x80, 7}, {0x20, 5}, {0x1F, 0}, {0x40, 0}};
static const uint8_t begins_reply_header_bits[] = {0x04, 0x24, 0x44, 0x64, 0x84, 0xA4, 0xC4, 0xE4};
static PyObject *table_reply_header_bits[256];

static kind kind_err_header_bits = {
    .qualified = "wire.zenoh.generated.native.err_header_bits",
    .count = 4,
    .names = {"Z", "E", "id", "X"},
};
static const bits bits_err_header_bits[] = {{0x80, 7}, {0x40, 6}, {0x1F, 0}, {0x20, 0}};
static const uint8_t begins_err_header_bits[] = {0x05, 0x25, 0x45, 0x65, 0x85, 0xA5, 0xC5, 0xE5};
static PyObject *table_err_header_bits[256];

static kind kind_oam_header_bits = {
    .qualified = "wire.zenoh.generated.native.oam_header_bits",
    .count = 3,
    .names = {"Z", "encoding", "id"},
};
static const bits bits_oam_header_bits[] = {{0x80, 7}, {0x60, 5}, {0x1F, 0}};
static const uint8_t begins_oam_header_bits[] = {0x1F, 0x3F, 0x5F, 0x7F, 0x9F, 0xBF, 0xDF, 0xFF};
static PyObject *table_oam_header_bits[256];

static kind kind_t_oam_header_bits = {
    .qualified = "wire.zenoh.generated.native.t_oam_header_bits",
    .count = 3,
    .names = {"Z", "encoding", "id"},
};
static const bits bits_t_oam_header_bits[] = {{0x80, 7}, {0x60, 5}, {0x1F, 0}};
static const uint8_t begins_t_oam_header_bits[] = {0x00, 0x20, 0x40, 0x60, 0x80, 0xA0, 0xC0, 0xE0};
static PyObject *table_t_oam_header_bits[256];

static kind kind_init_header_bits = {
    .qualified = "wire.zenoh.generated.native.init_header_bits",
    .count = 4,
    .names = {"Z", "S", "A", "id"},
};
static const bits bits_init_header_bits[] = {{0x80, 7}, {0x40, 6}, {0x20, 5}, {0x1F, 0}};
static const uint8_t begins_init_header_bits[] = {0x01, 0x21, 0x41, 0x61, 0x81, 0xA1, 0xC1, 0xE1};
static PyObject *table_init_header_bits[256];

static kind kind_init_node_bits = {
    .qualified = "wire.zenoh.generated.native.init_node_bits",
    .count = 3,
    .names = {"zid_length", "whatami", "X"},
};
static const bits bits_init_node_bits[] = {{0xF0, 4}, {0x03, 0}, {0x0C, 0}};
static PyObject *table_init_node_bits[256];

static kind kind_init_resolution_bits = {
    .qualified = "wire.zenoh.generated.native.init_resolution_bits",
    .count = 3,
    .names = {"request_id", "frame_sn", "X"},
};
static const bits bits_init_resolution_bits[] = {{0x0C, 2}, {0x03, 0}, {0xF0, 0}};
static PyObject *table_init_resolution_bits[256];

static kind kind_open_header_bits = {
    .qualified = "wire.zenoh.generated.native.open_header_bits",
    .count = 4,
    .names = {"Z", "T", "A", "id"},
};
static const bits bits_open_header_bits[] = {{0x80, 7}, {0x40, 6}, {0x20, 5}, {0x1F, 0}};
static const uint8_t begins_open_header_bits[] = {0x02, 0x22, 0x42, 0x62, 0x82, 0xA2, 0xC2, 0xE2};
static PyObject *table_open_header_bits[256];

static kind kind_close_header_bits = {
    .qualified = "wire.zenoh.generated.native.close_header_bits",
    .count = 4,
    .names = {"Z", "S", "id", "X"},
};
static const bits bits_close_header_bits[] = {{0x80, 7}, {0x20, 5}, {0x1F, 0}, {0x40, 0}};
static const uint8_t begins_close_header_bits[] = {0x03, 0x23, 0x43, 0x63, 0x83, 0xA3, 0xC3, 0xE3};
static PyObject *table_close_header_bits[256];

static kind kind_keep_alive_header_bits = {
    .qualified = "wire.zenoh.generated.native.keep_alive_header_bits",
    .count = 3,
    .names = {"Z", "id", "X"},
};
static const bits bits_keep_alive_header_bits[] = {{0x80, 7}, {0x1F, 0}, {0x60, 0}};
static const uint8_t begins_keep_alive_header_bits[] = {0x04, 0x24, 0x44, 0x64, 0x84, 0xA4, 0xC4, 0xE4};
static PyObject *table_keep_alive_header_bits[256];

static kind kind_frame_header_bits = {
    .qualified = "wire.zenoh.generated.native.frame_header_bits",
    .count = 4,
    .names = {"Z", "R", "id", "X"},
};
static const bits bits_frame_header_bits[] = {{0x80, 7}, {0x20, 5}, {0x1F, 0}, {0x40, 0}};
static const uint8_t begins_frame_header_bits[] = {0x05, 0x25, 0x45, 0x65, 0x85, 0xA5, 0xC5, 0xE5};
static PyObject *table_frame_header_bits[256];

static kind kind_fragment_header_bits = {
    .qualified = "wire.zenoh.generated.native.fragment_header_bits",
    .count = 4,
    .names = {"Z", "M", "R", "id"},
};
static const bits bits_fragment_header_bits[] = {{0x80, 7}, {0x40, 6}, {0x20, 5}, {0x1F, 0}};
static const uint8_t begins_fragment_header_bits[] = {0x06, 0x26, 0x46, 0x66, 0x86, 0xA6, 0xC6, 0xE6};
static PyObject *table_fragment_header_bits[256];

static kind kind_extensions_item = {
    .qualified = "wire.zenoh.generated.native.extensions_item",
    .count = 2,
    .names = {"header", "value"},
};

static kind kind_interest_final = {
    .qualified = "wire.zenoh.generated.native.INTEREST_FINAL",
    .count = 4,
    .names = {"type", "header", "id", "extensions"},
};
static PyObject *type_interest_final;

static kind kind_interest = {
    .qualified = "wire.zenoh.generated.native.INTEREST",
    .count = 7,
    .names = {"type", "header", "id", "options", "key_scope", "key_suffix", "extensions"},
};
static PyObject *type_interest;

static kind kind_d_keyexpr = {
    .qualified = "wire.zenoh.generated.native.D_KEYEXPR",
    .count = 6,
    .names = {"type", "header", "expr_id", "key_scope", "key_suffix", "extensions"},
};
static PyObject *type_d_keyexpr;

static kind kind_u_keyexpr = {
    .qualified = "wire.zenoh.generated.native.U_KEYEXPR",
    .count = 4,
    .names = {"type", "header", "expr_id", "extensions"},
};
static PyObject *type_u_keyexpr;

static kind kind_d_subscriber = {
    .qualified = "wire.zenoh.generated.native.D_SUBSCRIBER",
    .count = 6,
    .names = {"type", "header", "subs_id", "key_scope", "key_suffix", "extensions"},
};
static PyObject *type_d_subscriber;

static kind kind_u_subscriber = {
    .qualified = "wire.zenoh.generated.native.U_SUBSCRIBER",
    .count = 4,
    .names = {"type", "header", "subs_id", "extensions"},
};
static PyObject *type_u_subscriber;

static kind kind_d_queryable = {
    .qualified = "wire.zenoh.generated.native.D_QUERYABLE",
    .count = 6,
    .names = {"type", "header", "qbls_id", "key_scope", "key_suffix", "extensions"},
};
static PyObject *type_d_queryable;

static kind kind_u_queryable = {
    .qualified = "wire.zenoh.generated.native.U_QUERYABLE",
    .count = 4,
    .names = {"type", "header", "qbls_id", "extensions"},
};
static PyObject *type_u_queryable;

static kind kind_d_token = {
    .qualified = "wire.zenoh.generated.native.D_TOKEN",
    .count = 6,
    .names = {"type", "header", "token_id", "key_scope", "key_suffix", "extensions"},
};
static PyObject *type_d_token;

static kind kind_u_token = {
    .qualified = "wire.zenoh.generated.native.U_TOKEN",
    .count = 4,
    .names = {"type", "header", "token_id", "extensions"},
};
static PyObject *type_u_token;

static kind kind_d_final = {
    .qualified = "wire.zenoh.generated.native.D_FINAL",
    .count = 3,
    .names = {"type", "header", "extensions"},
};
static PyObject *type_d_final;

static kind kind_declare = {
    .qualified = "wire.zenoh.generated.native.DECLARE",
    .count = 5,
    .names = {"type", "header", "interest_id", "extensions", "declaration"},
};
static PyObject *type_declare;

static kind kind_timestamp = {
    .qualified = "wire.zenoh.generated.native.timestamp",
    .count = 2,
    .names = {"time", "clock_id"},
};

static kind kind_put = {
    .qualified = "wire.zenoh.generated.native.PUT",
    .count = 7,
    .names = {"type", "header", "timestamp", "encoding", "schema", "extensions", "payload"},
};
static PyObject *type_put;

static kind kind_del = {
    .qualified = "wire.zenoh.generated.native.DEL",
    .count = 4,
    .names = {"type", "header", "timestamp", "extensions"},
};
static PyObject *type_del;

static kind kind_push = {
    .qualified = "wire.zenoh.generated.native.PUSH",
    .count = 6,
    .names = {"type", "header", "key_scope", "key_suffix", "extensions", "body"},
};
static PyObject *type_push;

static kind kind_query = {
    .qualified = "wire.zenoh.generated.native.QUERY",
    .count = 5,
    .names = {"type", "header", "consolidation", "parameters", "extensions"},
};
static PyObject *type_query;

static kind kind_request = {
    .qualified = "wire.zenoh.generated.native.REQUEST",
    .count = 7,
    .names = {"type", "header", "id", "key_scope", "key_suffix", "extensions", "body"},
};
static PyObject *type_request;

static kind kind_reply = {
    .qualified = "wire.zenoh.generated.native.REPLY",
    .count = 5,
    .names = {"type", "header", "consolidation", "extensions", "body"},
};
static PyObject *type_reply;

static kind kind_err = {
    .qualified = "wire.zenoh.generated.native.ERR",
    .count = 6,
    .names = {"type", "header", "encoding", "schema", "extensions", "payload"},
};
static PyObject *type_err;

static kind kind_response = {
    .qualified = "wire.zenoh.generated.native.RESPONSE",
    .count = 7,
    .names = {"type", "header", "id", "key_scope", "key_suffix", "extensions", "body"},
};
static PyObject *type_response;

static kind kind_response_final = {
    .qualified = "wire.zenoh.generated.native.RESPONSE_FINAL",
    .count = 4,
    .names = {"type", "header", "id", "extensions"},
};
static PyObject *type_response_final;

static kind kind_body_4 = {
    .qualified = "wire.zenoh.generated.native.body_4",
    .count = 0,
};

static kind kind_oam = {
    .qualified = "wire.zenoh.generated.native.OAM",
    .count = 5,
    .names = {"type", "header", "id", "extensions", "body"},
};
static PyObject *type_oam;

static kind kind_t_oam = {
    .qualified = "wire.zenoh.generated.native.T_OAM",
    .count = 5,
    .names = {"type", "header", "id", "extensions", "body"},
};
static PyObject *type_t_oam;

static kind kind_init = {
    .qualified = "wire.zenoh.generated.native.INIT",
    .count = 9,
    .names = {"type", "header", "version", "node", "zid", "resolution", "batch_size", "cookie", "extensions"},
};
static PyObject *type_init;

static kind kind_open = {
    .qualified = "wire.zenoh.generated.native.OPEN",
    .count = 6,
    .names = {"type", "header", "lease", "initial_sn", "cookie", "extensions"},
};
static PyObject *type_open;

static kind kind_close = {
    .qualified = "wire.zenoh.generated.native.CLOSE",
    .count = 4,
    .names = {"type", "header", "reason", "extensions"},
};
static PyObject *type_close;

static kind kind_keep_alive = {
    .qualified = "wire.zenoh.generated.native.KEEP_ALIVE",
    .count = 3,
    .names = {"type", "header", "extensions"},
};
static PyObject *type_keep_alive;

static kind kind_frame = {
    .qualified = "wire.zenoh.generated.native.FRAME",
    .count = 5,
    .names = {"type", "header", "sn", "extensions", "messages"},
};
static PyObject *type_frame;

static kind kind_fragment = {
    .qualified = "wire.zenoh.generated.native.FRAGMENT",
    .count = 5,
    .names = {"type", "header", "sn", "extensions", "data"},
};
static PyObject *type_fragment;

static PyObject *extensions_item_read(reader *r)
{
    record *v = make(&kind_extensions_item, 2);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[0] = Py_NewRef(table_extensions_item_header_bits[b_header]);
    switch ((b_header >> 5 & 0x3)) {
    case 0:
        v->fields[1] = Py_NewRef(Py_None);
        break;
    case 1:
        {
            uint64_t n;
            if (!read_varint(r, 64, &n))
                goto bad;
            if ((v->fields[1] = number(n)) == NULL)
                goto bad;
        }
        break;
    case 2:
        {
            size_t start, count;
            if (!read_counted(r, 32, &start, &count))
                goto bad;
            if ((v->fields[1] = octets(r, start, count)) == NULL)
                goto bad;
        }
        break;
    default:
        refuse(r, RESERVED, r->at - 1);
        goto bad;
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int extensions_item_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_extensions_item.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[0])->byte;
    if (!write_octet(w, b_header))
        return 0;
    switch ((b_header >> 5 & 0x3)) {
    case 0:
        ;
        break;
    case 1:
        if (!write_varint(w, number_of(v->fields[1])))
            return 0;
        break;
    case 2:
        if (!write_bytes(w, v->fields[1], 1))
            return 0;
        break;
    default:
        return 0;
    }
    return 1;
}

static PyObject *extensions_read(reader *r)
{
    gathering g = {.count = 0};
    for (;;) {
        if (g.count == 65535) {
            refuse(r, TOO_LONG, r->at);
            return scattered(&g);
        }
        size_t start = r->at;
        PyObject *item = extensions_item_read(r);
        if (item == NULL || !gather(&g, item))
            return scattered(&g);
        if (!(r->data[start] & 0x80))
            return gathered(&g);
    }
}

static int extensions_write(writer *w, PyObject *value)
{
    if (!PyList_CheckExact(value))
        return 0;
    Py_ssize_t count = PyList_Size(value);
    if (count > 65535)
        return 0;
    for (Py_ssize_t i = 0; i < count; i++) {
        size_t start = w->size;
        if (!extensions_item_write(w, PyList_GetItem(value, i)))
            return 0;
        w->data[start] &= 0x7F;
        if (i + 1 < count)
            w->data[start] |= 0x80;
    }
    return count > 0;
}

static PyObject *interest_final_read(reader *r)
{
    record *v = make(&kind_interest_final, 4);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_interest_final);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_interest_final_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 32, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    if (b_header & 0x80) {
        if ((v->fields[3] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[3] = Py_NewRef(Py_None);
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int interest_final_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_interest_final.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[3]))
            return 0;
    }
    return 1;
}

static PyObject *interest_read(reader *r)
{
    record *v = make(&kind_interest, 7);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    uint8_t b_options = 0;
    v->fields[0] = Py_NewRef(type_interest);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_interest_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 32, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    if (!read_octet(r, &b_options))
        goto bad;
    v->fields[3] = Py_NewRef(table_interest_options_bits[b_options]);
    if (b_options & 0x10) {
        {
            uint64_t n;
            if (!read_varint(r, 16, &n))
                goto bad;
            if ((v->fields[4] = number(n)) == NULL)
                goto bad;
        }
    } else {
        v->fields[4] = Py_NewRef(Py_None);
    }
    if ((int64_t)(b_options >> 4 & 0x1) & (b_options >> 5 & 0x1)) {
        {
            size_t announced = r->at, start, count;
            if (!read_counted(r, 16, &start, &count))
                goto bad;
            if ((v->fields[5] = text(r, start, count, announced)) == NULL)
                goto bad;
        }
    } else {
        v->fields[5] = Py_NewRef(Py_None);
    }
    if (b_header & 0x80) {
        if ((v->fields[6] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[6] = Py_NewRef(Py_None);
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int interest_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_interest.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    uint8_t b_options = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    b_options = (uint8_t)((record *)v->fields[3])->byte;
    if (!write_octet(w, b_options))
        return 0;
    if (b_options & 0x10) {
        if (!write_varint(w, number_of(v->fields[4])))
            return 0;
    }
    if ((int64_t)(b_options >> 4 & 0x1) & (b_options >> 5 & 0x1)) {
        if (!write_text(w, v->fields[5], 1))
            return 0;
    }
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[6]))
            return 0;
    }
    return 1;
}

static PyObject *d_keyexpr_read(reader *r)
{
    record *v = make(&kind_d_keyexpr, 6);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_d_keyexpr);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_d_keyexpr_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 16, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    {
        uint64_t n;
        if (!read_varint(r, 16, &n))
            goto bad;
        if ((v->fields[3] = number(n)) == NULL)
            goto bad;
    }
    if (b_header & 0x20) {
        {
            size_t announced = r->at, start, count;
            if (!read_counted(r, 16, &start, &count))
                goto bad;
            if ((v->fields[4] = text(r, start, count, announced)) == NULL)
                goto bad;
        }
    } else {
        v->fields[4] = Py_NewRef(Py_None);
    }
    if (b_header & 0x80) {
        if ((v->fields[5] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[5] = Py_NewRef(Py_None);
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int d_keyexpr_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_d_keyexpr.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    if (!write_varint(w, number_of(v->fields[3])))
        return 0;
    if (b_header & 0x20) {
        if (!write_text(w, v->fields[4], 1))
            return 0;
    }
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[5]))
            return 0;
    }
    return 1;
}

static PyObject *u_keyexpr_read(reader *r)
{
    record *v = make(&kind_u_keyexpr, 4);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_u_keyexpr);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_u_keyexpr_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 16, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    if (b_header & 0x80) {
        if ((v->fields[3] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[3] = Py_NewRef(Py_None);
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int u_keyexpr_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_u_keyexpr.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[3]))
            return 0;
    }
    return 1;
}

static PyObject *d_subscriber_read(reader *r)
{
    record *v = make(&kind_d_subscriber, 6);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_d_subscriber);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_d_subscriber_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 32, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    {
        uint64_t n;
        if (!read_varint(r, 16, &n))
            goto bad;
        if ((v->fields[3] = number(n)) == NULL)
            goto bad;
    }
    if (b_header & 0x20) {
        {
            size_t announced = r->at, start, count;
            if (!read_counted(r, 16, &start, &count))
                goto bad;
            if ((v->fields[4] = text(r, start, count, announced)) == NULL)
                goto bad;
        }
    } else {
        v->fields[4] = Py_NewRef(Py_None);
    }
    if (b_header & 0x80) {
        if ((v->fields[5] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[5] = Py_NewRef(Py_None);
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int d_subscriber_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_d_subscriber.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    if (!write_varint(w, number_of(v->fields[3])))
        return 0;
    if (b_header & 0x20) {
        if (!write_text(w, v->fields[4], 1))
            return 0;
    }
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[5]))
            return 0;
    }
    return 1;
}

static PyObject *u_subscriber_read(reader *r)
{
    record *v = make(&kind_u_subscriber, 4);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_u_subscriber);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_u_subscriber_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 32, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    if (b_header & 0x80) {
        if ((v->fields[3] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[3] = Py_NewRef(Py_None);
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int u_subscriber_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_u_subscriber.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[3]))
            return 0;
    }
    return 1;
}

static PyObject *d_queryable_read(reader *r)
{
    record *v = make(&kind_d_queryable, 6);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_d_queryable);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_d_queryable_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 32, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    {
        uint64_t n;
        if (!read_varint(r, 16, &n))
            goto bad;
        if ((v->fields[3] = number(n)) == NULL)
            goto bad;
    }
    if (b_header & 0x20) {
        {
            size_t announced = r->at, start, count;
            if (!read_counted(r, 16, &start, &count))
                goto bad;
            if ((v->fields[4] = text(r, start, count, announced)) == NULL)
                goto bad;
        }
    } else {
        v->fields[4] = Py_NewRef(Py_None);
    }
    if (b_header & 0x80) {
        if ((v->fields[5] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[5] = Py_NewRef(Py_None);
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int d_queryable_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_d_queryable.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    if (!write_varint(w, number_of(v->fields[3])))
        return 0;
    if (b_header & 0x20) {
        if (!write_text(w, v->fields[4], 1))
            return 0;
    }
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[5]))
            return 0;
    }
    return 1;
}

static PyObject *u_queryable_read(reader *r)
{
    record *v = make(&kind_u_queryable, 4);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_u_queryable);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_u_queryable_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 32, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    if (b_header & 0x80) {
        if ((v->fields[3] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[3] = Py_NewRef(Py_None);
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int u_queryable_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_u_queryable.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[3]))
            return 0;
    }
    return 1;
}

static PyObject *d_token_read(reader *r)
{
    record *v = make(&kind_d_token, 6);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_d_token);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_d_token_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 32, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    {
        uint64_t n;
        if (!read_varint(r, 16, &n))
            goto bad;
        if ((v->fields[3] = number(n)) == NULL)
            goto bad;
    }
    if (b_header & 0x20) {
        {
            size_t announced = r->at, start, count;
            if (!read_counted(r, 16, &start, &count))
                goto bad;
            if ((v->fields[4] = text(r, start, count, announced)) == NULL)
                goto bad;
        }
    } else {
        v->fields[4] = Py_NewRef(Py_None);
    }
    if (b_header & 0x80) {
        if ((v->fields[5] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[5] = Py_NewRef(Py_None);
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int d_token_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_d_token.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    if (!write_varint(w, number_of(v->fields[3])))
        return 0;
    if (b_header & 0x20) {
        if (!write_text(w, v->fields[4], 1))
            return 0;
    }
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[5]))
            return 0;
    }
    return 1;
}

static PyObject *u_token_read(reader *r)
{
    record *v = make(&kind_u_token, 4);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_u_token);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_u_token_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 32, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    if (b_header & 0x80) {
        if ((v->fields[3] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[3] = Py_NewRef(Py_None);
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int u_token_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_u_token.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[3]))
            return 0;
    }
    return 1;
}

static PyObject *d_final_read(reader *r)
{
    record *v = make(&kind_d_final, 3);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_d_final);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_d_final_header_bits[b_header]);
    if (b_header & 0x80) {
        if ((v->fields[2] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[2] = Py_NewRef(Py_None);
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int d_final_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_d_final.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[2]))
            return 0;
    }
    return 1;
}

static PyObject *declaration_read(reader *r)
{
    if (r->at == r->size) {
        refuse(r, TRUNCATED, r->size);
        return NULL;
    }
    switch (r->data[r->at]) {
    case 0x00:
    case 0x20:
    case 0x40:
    case 0x60:
    case 0x80:
    case 0xA0:
    case 0xC0:
    case 0xE0:
        return d_keyexpr_read(r);
    case 0x01:
    case 0x21:
    case 0x41:
    case 0x61:
    case 0x81:
    case 0xA1:
    case 0xC1:
    case 0xE1:
        return u_keyexpr_read(r);
    case 0x02:
    case 0x22:
    case 0x42:
    case 0x62:
    case 0x82:
    case 0xA2:
    case 0xC2:
    case 0xE2:
        return d_subscriber_read(r);
    case 0x03:
    case 0x23:
    case 0x43:
    case 0x63:
    case 0x83:
    case 0xA3:
    case 0xC3:
    case 0xE3:
        return u_subscriber_read(r);
    case 0x04:
    case 0x24:
    case 0x44:
    case 0x64:
    case 0x84:
    case 0xA4:
    case 0xC4:
    case 0xE4:
        return d_queryable_read(r);
    case 0x05:
    case 0x25:
    case 0x45:
    case 0x65:
    case 0x85:
    case 0xA5:
    case 0xC5:
    case 0xE5:
        return u_queryable_read(r);
    case 0x06:
    case 0x26:
    case 0x46:
    case 0x66:
    case 0x86:
    case 0xA6:
    case 0xC6:
    case 0xE6:
        return d_token_read(r);
    case 0x07:
    case 0x27:
    case 0x47:
    case 0x67:
    case 0x87:
    case 0xA7:
    case 0xC7:
    case 0xE7:
        return u_token_read(r);
    case 0x1A:
    case 0x3A:
    case 0x5A:
    case 0x7A:
    case 0x9A:
    case 0xBA:
    case 0xDA:
    case 0xFA:
        return d_final_read(r);
    default:
        refuse(r, UNKNOWN_ID, r->at);
        return NULL;
    }
}

static int declaration_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) == kind_d_keyexpr.type)
        return d_keyexpr_write(w, value);
    if (Py_TYPE(value) == kind_u_keyexpr.type)
        return u_keyexpr_write(w, value);
    if (Py_TYPE(value) == kind_d_subscriber.type)
        return d_subscriber_write(w, value);
    if (Py_TYPE(value) == kind_u_subscriber.type)
        return u_subscriber_write(w, value);
    if (Py_TYPE(value) == kind_d_queryable.type)
        return d_queryable_write(w, value);
    if (Py_TYPE(value) == kind_u_queryable.type)
        return u_queryable_write(w, value);
    if (Py_TYPE(value) == kind_d_token.type)
        return d_token_write(w, value);
    if (Py_TYPE(value) == kind_u_token.type)
        return u_token_write(w, value);
    if (Py_TYPE(value) == kind_d_final.type)
        return d_final_write(w, value);
    (void)w;
    return 0;
}

static PyObject *declare_read(reader *r)
{
    record *v = make(&kind_declare, 5);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_declare);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_declare_header_bits[b_header]);
    if (b_header & 0x20) {
        {
            uint64_t n;
            if (!read_varint(r, 32, &n))
                goto bad;
            if ((v->fields[2] = number(n)) == NULL)
                goto bad;
        }
    } else {
        v->fields[2] = Py_NewRef(Py_None);
    }
    if (b_header & 0x80) {
        if ((v->fields[3] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[3] = Py_NewRef(Py_None);
    }
    if ((v->fields[4] = declaration_read(r)) == NULL)
        goto bad;
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int declare_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_declare.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (b_header & 0x20) {
        if (!write_varint(w, number_of(v->fields[2])))
            return 0;
    }
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[3]))
            return 0;
    }
    if (!declaration_write(w, v->fields[4]))
        return 0;
    return 1;
}

static PyObject *timestamp_read(reader *r)
{
    record *v = make(&kind_timestamp, 2);
    if (v == NULL)
        return NULL;
    {
        uint64_t n;
        if (!read_varint(r, 64, &n))
            goto bad;
        if ((v->fields[0] = number(n)) == NULL)
            goto bad;
    }
    {
        size_t start, count;
        if (!read_counted_within(r, 8, 1, 16, &start, &count))
            goto bad;
        if ((v->fields[1] = octets(r, start, count)) == NULL)
            goto bad;
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int timestamp_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_timestamp.type)
        return 0;
    record *v = (record *)value;
    if (!write_varint(w, number_of(v->fields[0])))
        return 0;
    if (!write_bytes(w, v->fields[1], 1))
        return 0;
    return 1;
}

static PyObject *put_read(reader *r)
{
    record *v = make(&kind_put, 7);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    uint64_t n_encoding = 0;
    v->fields[0] = Py_NewRef(type_put);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_put_header_bits[b_header]);
    if (b_header & 0x20) {
        if ((v->fields[2] = timestamp_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[2] = Py_NewRef(Py_None);
    }
    if (b_header & 0x40) {
        {
            uint64_t n;
            if (!read_varint(r, 32, &n))
                goto bad;
            n_encoding = n;
            if ((v->fields[3] = number(n)) == NULL)
                goto bad;
        }
    } else {
        v->fields[3] = Py_NewRef(Py_None);
    }
    if (b_header & 0x40) {
        switch (((int64_t)(int64_t)n_encoding & 1)) {
        case 1:
            {
                size_t start, count;
                if (!read_counted(r, 8, &start, &count))
                    goto bad;
                if ((v->fields[4] = octets(r, start, count)) == NULL)
                    goto bad;
            }
            break;
        default:
            v->fields[4] = Py_NewRef(Py_None);
            break;
        }
    } else {
        v->fields[4] = Py_NewRef(Py_None);
    }
    if (b_header & 0x80) {
        if ((v->fields[5] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[5] = Py_NewRef(Py_None);
    }
    {
        size_t start, count;
        if (!read_counted(r, 32, &start, &count))
            goto bad;
        if ((v->fields[6] = octets(r, start, count)) == NULL)
            goto bad;
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int put_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_put.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    uint64_t n_encoding = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (b_header & 0x20) {
        if (!timestamp_write(w, v->fields[2]))
            return 0;
    }
    if (b_header & 0x40) {
        n_encoding = number_of(v->fields[3]);
        if (!write_varint(w, n_encoding))
            return 0;
    }
    if (b_header & 0x40) {
        switch (((int64_t)(int64_t)n_encoding & 1)) {
        case 1:
            if (!write_bytes(w, v->fields[4], 1))
                return 0;
            break;
        default:
            ;
            break;
        }
    }
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[5]))
            return 0;
    }
    if (!write_bytes(w, v->fields[6], 1))
        return 0;
    return 1;
}

static PyObject *del_read(reader *r)
{
    record *v = make(&kind_del, 4);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_del);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_del_header_bits[b_header]);
    if (b_header & 0x20) {
        if ((v->fields[2] = timestamp_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[2] = Py_NewRef(Py_None);
    }
    if (b_header & 0x80) {
        if ((v->fields[3] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[3] = Py_NewRef(Py_None);
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int del_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_del.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (b_header & 0x20) {
        if (!timestamp_write(w, v->fields[2]))
            return 0;
    }
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[3]))
            return 0;
    }
    return 1;
}

static PyObject *body_read(reader *r)
{
    if (r->at == r->size) {
        refuse(r, TRUNCATED, r->size);
        return NULL;
    }
    switch (r->data[r->at]) {
    case 0x01:
    case 0x21:
    case 0x41:
    case 0x61:
    case 0x81:
    case 0xA1:
    case 0xC1:
    case 0xE1:
        return put_read(r);
    case 0x02:
    case 0x22:
    case 0x42:
    case 0x62:
    case 0x82:
    case 0xA2:
    case 0xC2:
    case 0xE2:
        return del_read(r);
    default:
        refuse(r, UNKNOWN_ID, r->at);
        return NULL;
    }
}

static int body_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) == kind_put.type)
        return put_write(w, value);
    if (Py_TYPE(value) == kind_del.type)
        return del_write(w, value);
    (void)w;
    return 0;
}

static PyObject *push_read(reader *r)
{
    record *v = make(&kind_push, 6);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_push);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_push_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 16, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    if (b_header & 0x20) {
        {
            size_t announced = r->at, start, count;
            if (!read_counted(r, 16, &start, &count))
                goto bad;
            if ((v->fields[3] = text(r, start, count, announced)) == NULL)
                goto bad;
        }
    } else {
        v->fields[3] = Py_NewRef(Py_None);
    }
    if (b_header & 0x80) {
        if ((v->fields[4] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[4] = Py_NewRef(Py_None);
    }
    if ((v->fields[5] = body_read(r)) == NULL)
        goto bad;
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int push_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_push.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    if (b_header & 0x20) {
        if (!write_text(w, v->fields[3], 1))
            return 0;
    }
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[4]))
            return 0;
    }
    if (!body_write(w, v->fields[5]))
        return 0;
    return 1;
}

static PyObject *query_read(reader *r)
{
    record *v = make(&kind_query, 5);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_query);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_query_header_bits[b_header]);
    if (b_header & 0x20) {
        {
            uint64_t n;
            if (!read_varint(r, 8, &n))
                goto bad;
            if ((v->fields[2] = number(n)) == NULL)
                goto bad;
        }
    } else {
        v->fields[2] = Py_NewRef(Py_None);
    }
    if (b_header & 0x40) {
        {
            size_t announced = r->at, start, count;
            if (!read_counted(r, 32, &start, &count))
                goto bad;
            if ((v->fields[3] = text(r, start, count, announced)) == NULL)
                goto bad;
        }
    } else {
        v->fields[3] = Py_NewRef(Py_None);
    }
    if (b_header & 0x80) {
        if ((v->fields[4] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[4] = Py_NewRef(Py_None);
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int query_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_query.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (b_header & 0x20) {
        if (!write_varint(w, number_of(v->fields[2])))
            return 0;
    }
    if (b_header & 0x40) {
        if (!write_text(w, v->fields[3], 1))
            return 0;
    }
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[4]))
            return 0;
    }
    return 1;
}

static PyObject *body_2_read(reader *r)
{
    if (r->at == r->size) {
        refuse(r, TRUNCATED, r->size);
        return NULL;
    }
    switch (r->data[r->at]) {
    case 0x03:
    case 0x23:
    case 0x43:
    case 0x63:
    case 0x83:
    case 0xA3:
    case 0xC3:
    case 0xE3:
        return query_read(r);
    default:
        refuse(r, UNKNOWN_ID, r->at);
        return NULL;
    }
}

static int body_2_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) == kind_query.type)
        return query_write(w, value);
    (void)w;
    return 0;
}

static PyObject *request_read(reader *r)
{
    record *v = make(&kind_request, 7);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_request);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_request_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 32, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    {
        uint64_t n;
        if (!read_varint(r, 16, &n))
            goto bad;
        if ((v->fields[3] = number(n)) == NULL)
            goto bad;
    }
    if (b_header & 0x20) {
        {
            size_t announced = r->at, start, count;
            if (!read_counted(r, 16, &start, &count))
                goto bad;
            if ((v->fields[4] = text(r, start, count, announced)) == NULL)
                goto bad;
        }
    } else {
        v->fields[4] = Py_NewRef(Py_None);
    }
    if (b_header & 0x80) {
        if ((v->fields[5] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[5] = Py_NewRef(Py_None);
    }
    if ((v->fields[6] = body_2_read(r)) == NULL)
        goto bad;
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int request_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_request.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    if (!write_varint(w, number_of(v->fields[3])))
        return 0;
    if (b_header & 0x20) {
        if (!write_text(w, v->fields[4], 1))
            return 0;
    }
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[5]))
            return 0;
    }
    if (!body_2_write(w, v->fields[6]))
        return 0;
    return 1;
}

static PyObject *reply_read(reader *r)
{
    record *v = make(&kind_reply, 5);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_reply);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_reply_header_bits[b_header]);
    if (b_header & 0x20) {
        {
            uint64_t n;
            if (!read_varint(r, 8, &n))
                goto bad;
            if ((v->fields[2] = number(n)) == NULL)
                goto bad;
        }
    } else {
        v->fields[2] = Py_NewRef(Py_None);
    }
    if (b_header & 0x80) {
        if ((v->fields[3] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[3] = Py_NewRef(Py_None);
    }
    if ((v->fields[4] = body_read(r)) == NULL)
        goto bad;
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int reply_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_reply.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (b_header & 0x20) {
        if (!write_varint(w, number_of(v->fields[2])))
            return 0;
    }
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[3]))
            return 0;
    }
    if (!body_write(w, v->fields[4]))
        return 0;
    return 1;
}

static PyObject *err_read(reader *r)
{
    record *v = make(&kind_err, 6);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    uint64_t n_encoding = 0;
    v->fields[0] = Py_NewRef(type_err);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_err_header_bits[b_header]);
    if (b_header & 0x40) {
        {
            uint64_t n;
            if (!read_varint(r, 32, &n))
                goto bad;
            n_encoding = n;
            if ((v->fields[2] = number(n)) == NULL)
                goto bad;
        }
    } else {
        v->fields[2] = Py_NewRef(Py_None);
    }
    if (b_header & 0x40) {
        switch (((int64_t)(int64_t)n_encoding & 1)) {
        case 1:
            {
                size_t start, count;
                if (!read_counted(r, 8, &start, &count))
                    goto bad;
                if ((v->fields[3] = octets(r, start, count)) == NULL)
                    goto bad;
            }
            break;
        default:
            v->fields[3] = Py_NewRef(Py_None);
            break;
        }
    } else {
        v->fields[3] = Py_NewRef(Py_None);
    }
    if (b_header & 0x80) {
        if ((v->fields[4] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[4] = Py_NewRef(Py_None);
    }
    {
        size_t start, count;
        if (!read_counted(r, 32, &start, &count))
            goto bad;
        if ((v->fields[5] = octets(r, start, count)) == NULL)
            goto bad;
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int err_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_err.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    uint64_t n_encoding = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (b_header & 0x40) {
        n_encoding = number_of(v->fields[2]);
        if (!write_varint(w, n_encoding))
            return 0;
    }
    if (b_header & 0x40) {
        switch (((int64_t)(int64_t)n_encoding & 1)) {
        case 1:
            if (!write_bytes(w, v->fields[3], 1))
                return 0;
            break;
        default:
            ;
            break;
        }
    }
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[4]))
            return 0;
    }
    if (!write_bytes(w, v->fields[5], 1))
        return 0;
    return 1;
}

static PyObject *body_3_read(reader *r)
{
    if (r->at == r->size) {
        refuse(r, TRUNCATED, r->size);
        return NULL;
    }
    switch (r->data[r->at]) {
    case 0x04:
    case 0x24:
    case 0x44:
    case 0x64:
    case 0x84:
    case 0xA4:
    case 0xC4:
    case 0xE4:
        return reply_read(r);
    case 0x05:
    case 0x25:
    case 0x45:
    case 0x65:
    case 0x85:
    case 0xA5:
    case 0xC5:
    case 0xE5:
        return err_read(r);
    default:
        refuse(r, UNKNOWN_ID, r->at);
        return NULL;
    }
}

static int body_3_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) == kind_reply.type)
        return reply_write(w, value);
    if (Py_TYPE(value) == kind_err.type)
        return err_write(w, value);
    (void)w;
    return 0;
}

static PyObject *response_read(reader *r)
{
    record *v = make(&kind_response, 7);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_response);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_response_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 32, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    {
        uint64_t n;
        if (!read_varint(r, 16, &n))
            goto bad;
        if ((v->fields[3] = number(n)) == NULL)
            goto bad;
    }
    if (b_header & 0x20) {
        {
            size_t announced = r->at, start, count;
            if (!read_counted(r, 16, &start, &count))
                goto bad;
            if ((v->fields[4] = text(r, start, count, announced)) == NULL)
                goto bad;
        }
    } else {
        v->fields[4] = Py_NewRef(Py_None);
    }
    if (b_header & 0x80) {
        if ((v->fields[5] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[5] = Py_NewRef(Py_None);
    }
    if ((v->fields[6] = body_3_read(r)) == NULL)
        goto bad;
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int response_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_response.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    if (!write_varint(w, number_of(v->fields[3])))
        return 0;
    if (b_header & 0x20) {
        if (!write_text(w, v->fields[4], 1))
            return 0;
    }
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[5]))
            return 0;
    }
    if (!body_3_write(w, v->fields[6]))
        return 0;
    return 1;
}

static PyObject *response_final_read(reader *r)
{
    record *v = make(&kind_response_final, 4);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_response_final);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_d_final_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 32, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    if (b_header & 0x80) {
        if ((v->fields[3] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[3] = Py_NewRef(Py_None);
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int response_final_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_response_final.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[3]))
            return 0;
    }
    return 1;
}

static PyObject *body_4_read(reader *r)
{
    record *v = make(&kind_body_4, 0);
    (void)r;
    return (PyObject *)v;
}

static int body_4_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_body_4.type)
        return 0;
    (void)w;
    return 1;
}

static PyObject *oam_read(reader *r)
{
    record *v = make(&kind_oam, 5);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_oam);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_oam_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 16, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    if (b_header & 0x80) {
        if ((v->fields[3] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[3] = Py_NewRef(Py_None);
    }
    switch ((b_header >> 5 & 0x3)) {
    case 1:
        {
            uint64_t n;
            if (!read_varint(r, 64, &n))
                goto bad;
            if ((v->fields[4] = number(n)) == NULL)
                goto bad;
        }
        break;
    case 2:
        {
            size_t start, count;
            if (!read_counted(r, 32, &start, &count))
                goto bad;
            if ((v->fields[4] = octets(r, start, count)) == NULL)
                goto bad;
        }
        break;
    case 0:
        if ((v->fields[4] = body_4_read(r)) == NULL)
            goto bad;
        break;
    default:
        refuse(r, RESERVED, r->at - 1);
        goto bad;
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int oam_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_oam.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[3]))
            return 0;
    }
    switch ((b_header >> 5 & 0x3)) {
    case 1:
        if (!write_varint(w, number_of(v->fields[4])))
            return 0;
        break;
    case 2:
        if (!write_bytes(w, v->fields[4], 1))
            return 0;
        break;
    case 0:
        if (!body_4_write(w, v->fields[4]))
            return 0;
        break;
    default:
        return 0;
    }
    return 1;
}

static PyObject *network_message_read(reader *r)
{
    if (r->at == r->size) {
        refuse(r, TRUNCATED, r->size);
        return NULL;
    }
    switch (r->data[r->at]) {
    case 0x19:
    case 0x99:
        return interest_final_read(r);
    case 0x39:
    case 0x59:
    case 0x79:
    case 0xB9:
    case 0xD9:
    case 0xF9:
        return interest_read(r);
    case 0x1E:
    case 0x3E:
    case 0x5E:
    case 0x7E:
    case 0x9E:
    case 0xBE:
    case 0xDE:
    case 0xFE:
        return declare_read(r);
    case 0x1D:
    case 0x3D:
    case 0x5D:
    case 0x7D:
    case 0x9D:
    case 0xBD:
    case 0xDD:
    case 0xFD:
        return push_read(r);
    case 0x1C:
    case 0x3C:
    case 0x5C:
    case 0x7C:
    case 0x9C:
    case 0xBC:
    case 0xDC:
    case 0xFC:
        return request_read(r);
    case 0x1B:
    case 0x3B:
    case 0x5B:
    case 0x7B:
    case 0x9B:
    case 0xBB:
    case 0xDB:
    case 0xFB:
        return response_read(r);
    case 0x1A:
    case 0x3A:
    case 0x5A:
    case 0x7A:
    case 0x9A:
    case 0xBA:
    case 0xDA:
    case 0xFA:
        return response_final_read(r);
    case 0x1F:
    case 0x3F:
    case 0x5F:
    case 0x7F:
    case 0x9F:
    case 0xBF:
    case 0xDF:
    case 0xFF:
        return oam_read(r);
    default:
        refuse(r, UNKNOWN_ID, r->at);
        return NULL;
    }
}

static int network_message_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) == kind_interest_final.type)
        return interest_final_write(w, value);
    if (Py_TYPE(value) == kind_interest.type)
        return interest_write(w, value);
    if (Py_TYPE(value) == kind_declare.type)
        return declare_write(w, value);
    if (Py_TYPE(value) == kind_push.type)
        return push_write(w, value);
    if (Py_TYPE(value) == kind_request.type)
        return request_write(w, value);
    if (Py_TYPE(value) == kind_response.type)
        return response_write(w, value);
    if (Py_TYPE(value) == kind_response_final.type)
        return response_final_write(w, value);
    if (Py_TYPE(value) == kind_oam.type)
        return oam_write(w, value);
    (void)w;
    return 0;
}

static PyObject *t_oam_read(reader *r)
{
    record *v = make(&kind_t_oam, 5);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_t_oam);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_t_oam_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 16, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    if (b_header & 0x80) {
        if ((v->fields[3] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[3] = Py_NewRef(Py_None);
    }
    switch ((b_header >> 5 & 0x3)) {
    case 1:
        {
            uint64_t n;
            if (!read_varint(r, 64, &n))
                goto bad;
            if ((v->fields[4] = number(n)) == NULL)
                goto bad;
        }
        break;
    case 2:
        {
            size_t start, count;
            if (!read_counted(r, 32, &start, &count))
                goto bad;
            if ((v->fields[4] = octets(r, start, count)) == NULL)
                goto bad;
        }
        break;
    case 0:
        if ((v->fields[4] = body_4_read(r)) == NULL)
            goto bad;
        break;
    default:
        refuse(r, RESERVED, r->at - 1);
        goto bad;
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int t_oam_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_t_oam.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[3]))
            return 0;
    }
    switch ((b_header >> 5 & 0x3)) {
    case 1:
        if (!write_varint(w, number_of(v->fields[4])))
            return 0;
        break;
    case 2:
        if (!write_bytes(w, v->fields[4], 1))
            return 0;
        break;
    case 0:
        if (!body_4_write(w, v->fields[4]))
            return 0;
        break;
    default:
        return 0;
    }
    return 1;
}

static PyObject *init_read(reader *r)
{
    record *v = make(&kind_init, 9);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    uint8_t b_node = 0;
    uint8_t b_resolution = 0;
    v->fields[0] = Py_NewRef(type_init);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_init_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_integer(r, 1, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    if (!read_octet(r, &b_node))
        goto bad;
    v->fields[3] = Py_NewRef(table_init_node_bits[b_node]);
    {
        size_t start;
        int64_t count = ((int64_t)(b_node >> 4 & 0xF) + 1);
        if (count < 0) {
            refuse(r, BAD_VALUE, r->at);
            goto bad;
        }
        if (!read_sized(r, (uint64_t)count, &start))
            goto bad;
        if ((v->fields[4] = octets(r, start, (size_t)count)) == NULL)
            goto bad;
    }
    if (b_header & 0x40) {
        if (!read_octet(r, &b_resolution))
            goto bad;
        v->fields[5] = Py_NewRef(table_init_resolution_bits[b_resolution]);
    } else {
        v->fields[5] = Py_NewRef(Py_None);
    }
    if (b_header & 0x40) {
        {
            uint64_t n;
            if (!read_integer(r, 2, &n))
                goto bad;
            if ((v->fields[6] = number(n)) == NULL)
                goto bad;
        }
    } else {
        v->fields[6] = Py_NewRef(Py_None);
    }
    if (b_header & 0x20) {
        {
            size_t start, count;
            if (!read_counted(r, 16, &start, &count))
                goto bad;
            if ((v->fields[7] = octets(r, start, count)) == NULL)
                goto bad;
        }
    } else {
        v->fields[7] = Py_NewRef(Py_None);
    }
    if (b_header & 0x80) {
        if ((v->fields[8] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[8] = Py_NewRef(Py_None);
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int init_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_init.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    uint8_t b_node = 0;
    uint8_t b_resolution = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_integer(w, 1, number_of(v->fields[2])))
        return 0;
    b_node = (uint8_t)((record *)v->fields[3])->byte;
    if (!write_octet(w, b_node))
        return 0;
    if (!write_bytes(w, v->fields[4], 0))
        return 0;
    if (b_header & 0x40) {
        b_resolution = (uint8_t)((record *)v->fields[5])->byte;
        if (!write_octet(w, b_resolution))
            return 0;
    }
    if (b_header & 0x40) {
        if (!write_integer(w, 2, number_of(v->fields[6])))
            return 0;
    }
    if (b_header & 0x20) {
        if (!write_bytes(w, v->fields[7], 1))
            return 0;
    }
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[8]))
            return 0;
    }
    return 1;
}

static PyObject *open_read(reader *r)
{
    record *v = make(&kind_open, 6);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_open);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_open_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 64, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    {
        uint64_t n;
        if (!read_varint(r, 32, &n))
            goto bad;
        if ((v->fields[3] = number(n)) == NULL)
            goto bad;
    }
    if ((int64_t)(b_header >> 5 & 0x1) == 0) {
        {
            size_t start, count;
            if (!read_counted(r, 16, &start, &count))
                goto bad;
            if ((v->fields[4] = octets(r, start, count)) == NULL)
                goto bad;
        }
    } else {
        v->fields[4] = Py_NewRef(Py_None);
    }
    if (b_header & 0x80) {
        if ((v->fields[5] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[5] = Py_NewRef(Py_None);
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int open_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_open.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    if (!write_varint(w, number_of(v->fields[3])))
        return 0;
    if ((int64_t)(b_header >> 5 & 0x1) == 0) {
        if (!write_bytes(w, v->fields[4], 1))
            return 0;
    }
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[5]))
            return 0;
    }
    return 1;
}

static PyObject *close_read(reader *r)
{
    record *v = make(&kind_close, 4);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_close);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_close_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_integer(r, 1, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    if (b_header & 0x80) {
        if ((v->fields[3] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[3] = Py_NewRef(Py_None);
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int close_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_close.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_integer(w, 1, number_of(v->fields[2])))
        return 0;
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[3]))
            return 0;
    }
    return 1;
}

static PyObject *keep_alive_read(reader *r)
{
    record *v = make(&kind_keep_alive, 3);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_keep_alive);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_keep_alive_header_bits[b_header]);
    if (b_header & 0x80) {
        if ((v->fields[2] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[2] = Py_NewRef(Py_None);
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int keep_alive_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_keep_alive.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[2]))
            return 0;
    }
    return 1;
}

static PyObject *messages_read(reader *r)
{
    gathering g = {.count = 0};
    while (r->at < r->size) {
        switch (r->data[r->at]) {
        case 0x19:
        case 0x99:
        case 0x39:
        case 0x59:
        case 0x79:
        case 0xB9:
        case 0xD9:
        case 0xF9:
        case 0x1E:
        case 0x3E:
        case 0x5E:
        case 0x7E:
        case 0x9E:
        case 0xBE:
        case 0xDE:
        case 0xFE:
        case 0x1D:
        case 0x3D:
        case 0x5D:
        case 0x7D:
        case 0x9D:
        case 0xBD:
        case 0xDD:
        case 0xFD:
        case 0x1C:
        case 0x3C:
        case 0x5C:
        case 0x7C:
        case 0x9C:
        case 0xBC:
        case 0xDC:
        case 0xFC:
        case 0x1B:
        case 0x3B:
        case 0x5B:
        case 0x7B:
        case 0x9B:
        case 0xBB:
        case 0xDB:
        case 0xFB:
        case 0x1A:
        case 0x3A:
        case 0x5A:
        case 0x7A:
        case 0x9A:
        case 0xBA:
        case 0xDA:
        case 0xFA:
        case 0x1F:
        case 0x3F:
        case 0x5F:
        case 0x7F:
        case 0x9F:
        case 0xBF:
        case 0xDF:
        case 0xFF:
            break;
        default:
            return gathered(&g);
        }
        if (g.count == 65535) {
            refuse(r, TOO_LONG, r->at);
            return scattered(&g);
        }
        PyObject *item = network_message_read(r);
        if (item == NULL || !gather(&g, item))
            return scattered(&g);
    }
    return gathered(&g);
}

static int messages_write(writer *w, PyObject *value)
{
    if (!PyList_CheckExact(value))
        return 0;
    Py_ssize_t count = PyList_Size(value);
    if (count > 65535)
        return 0;
    for (Py_ssize_t i = 0; i < count; i++)
        if (!network_message_write(w, PyList_GetItem(value, i)))
            return 0;
    return 1;
}

static PyObject *frame_read(reader *r)
{
    record *v = make(&kind_frame, 5);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_frame);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_frame_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 32, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    if (b_header & 0x80) {
        if ((v->fields[3] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[3] = Py_NewRef(Py_None);
    }
    if ((v->fields[4] = messages_read(r)) == NULL)
        goto bad;
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int frame_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_frame.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[3]))
            return 0;
    }
    if (!messages_write(w, v->fields[4]))
        return 0;
    return 1;
}

static PyObject *fragment_read(reader *r)
{
    record *v = make(&kind_fragment, 5);
    if (v == NULL)
        return NULL;
    uint8_t b_header = 0;
    v->fields[0] = Py_NewRef(type_fragment);
    if (!read_octet(r, &b_header))
        goto bad;
    v->fields[1] = Py_NewRef(table_fragment_header_bits[b_header]);
    {
        uint64_t n;
        if (!read_varint(r, 32, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    if (b_header & 0x80) {
        if ((v->fields[3] = extensions_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[3] = Py_NewRef(Py_None);
    }
    {
        size_t start = r->at;
        r->at = r->size;
        if ((v->fields[4] = octets(r, start, r->size - start)) == NULL)
            goto bad;
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int fragment_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_fragment.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_header = 0;
    b_header = (uint8_t)((record *)v->fields[1])->byte;
    if (!write_octet(w, b_header))
        return 0;
    if (!write_varint(w, number_of(v->fields[2])))
        return 0;
    if (b_header & 0x80) {
        if (!extensions_write(w, v->fields[3]))
            return 0;
    }
    if (!write_bytes(w, v->fields[4], 0))
        return 0;
    return 1;
}

static PyObject *transport_message_read(reader *r)
{
    if (r->at == r->size) {
        refuse(r, TRUNCATED, r->size);
        return NULL;
    }
    switch (r->data[r->at]) {
    case 0x00:
    case 0x20:
    case 0x40:
    case 0x60:
    case 0x80:
    case 0xA0:
    case 0xC0:
    case 0xE0:
        return t_oam_read(r);
    case 0x01:
    case 0x21:
    case 0x41:
    case 0x61:
    case 0x81:
    case 0xA1:
    case 0xC1:
    case 0xE1:
        return init_read(r);
    case 0x02:
    case 0x22:
    case 0x42:
    case 0x62:
    case 0x82:
    case 0xA2:
    case 0xC2:
    case 0xE2:
        return open_read(r);
    case 0x03:
    case 0x23:
    case 0x43:
    case 0x63:
    case 0x83:
    case 0xA3:
    case 0xC3:
    case 0xE3:
        return close_read(r);
    case 0x04:
    case 0x24:
    case 0x44:
    case 0x64:
    case 0x84:
    case 0xA4:
    case 0xC4:
    case 0xE4:
        return keep_alive_read(r);
    case 0x05:
    case 0x25:
    case 0x45:
    case 0x65:
    case 0x85:
    case 0xA5:
    case 0xC5:
    case 0xE5:
        return frame_read(r);
    case 0x06:
    case 0x26:
    case 0x46:
    case 0x66:
    case 0x86:
    case 0xA6:
    case 0xC6:
    case 0xE6:
        return fragment_read(r);
    default:
        refuse(r, UNKNOWN_ID, r->at);
        return NULL;
    }
}

static int transport_message_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) == kind_t_oam.type)
        return t_oam_write(w, value);
    if (Py_TYPE(value) == kind_init.type)
        return init_write(w, value);
    if (Py_TYPE(value) == kind_open.type)
        return open_write(w, value);
    if (Py_TYPE(value) == kind_close.type)
        return close_write(w, value);
    if (Py_TYPE(value) == kind_keep_alive.type)
        return keep_alive_write(w, value);
    if (Py_TYPE(value) == kind_frame.type)
        return frame_write(w, value);
    if (Py_TYPE(value) == kind_fragment.type)
        return fragment_write(w, value);
    (void)w;
    return 0;
}

static PyObject *batch_read(reader *r)
{
    gathering g = {.count = 0};
    while (r->at < r->size) {
        if (g.count == 65535) {
            refuse(r, TOO_LONG, r->at);
            return scattered(&g);
        }
        PyObject *item = transport_message_read(r);
        if (item == NULL || !gather(&g, item))
            return scattered(&g);
    }
    return gathered(&g);
}

static int batch_write(writer *w, PyObject *value)
{
    if (!PyList_CheckExact(value))
        return 0;
    Py_ssize_t count = PyList_Size(value);
    if (count > 65535)
        return 0;
    for (Py_ssize_t i = 0; i < count; i++)
        if (!transport_message_write(w, PyList_GetItem(value, i)))
            return 0;
    return 1;
}

static PyObject *encode_network_message_otherwise;

static PyObject *decode_network_message(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    (void)self;
    return decoded(arguments, count, "zenoh/network-message", 0, network_message_read);
}

static PyObject *encode_network_message(PyObject *self, PyObject *value)
{
    (void)self;
    return encoded(value, 0, network_message_write, encode_network_message_otherwise);
}

static PyObject *encode_transport_message_otherwise;

static PyObject *decode_transport_message(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    (void)self;
    return decoded(arguments, count, "zenoh/transport-message", 65535, transport_message_read);
}

static PyObject *encode_transport_message(PyObject *self, PyObject *value)
{
    (void)self;
    return encoded(value, 65535, transport_message_write, encode_transport_message_otherwise);
}

static PyObject *encode_batch_otherwise;

static PyObject *decode_batch(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    (void)self;
    return decoded(arguments, count, "zenoh/batch", 65535, batch_read);
}

static PyObject *encode_batch(PyObject *self, PyObject *value)
{
    (void)self;
    return encoded(value, 65535, batch_write, encode_batch_otherwise);
}

static PyMethodDef functions[] = {
    {"decode_network_message", (PyCFunction)(void (*)(void))decode_network_message, METH_FASTCALL, "Decode one zenoh/network-message."},
    {"encode_network_message", encode_network_message, METH_O, "Encode one zenoh/network-message."},
    {"decode_transport_message", (PyCFunction)(void (*)(void))decode_transport_message, METH_FASTCALL, "Decode one zenoh/transport-message."},
    {"encode_transport_message", encode_transport_message, METH_O, "Encode one zenoh/transport-message."},
    {"decode_batch", (PyCFunction)(void (*)(void))decode_batch, METH_FASTCALL, "Decode one zenoh/batch."},
    {"encode_batch", encode_batch, METH_O, "Encode one zenoh/batch."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "native",
    .m_doc = "Codecs of zenoh in C.",
    .m_size = -1,
    .m_methods = functions,
};

static int prepare(void)
{
    if (!connect())
        return 0;
    if (!establish(&kind_interest_final_header_bits) || !tabulate(&kind_interest_final_header_bits, bits_interest_final_header_bits, table_interest_final_header_bits, begins_interest_final_header_bits, 2))
        return 0;
    if (!establish(&kind_extensions_item_header_bits) || !tabulate(&kind_extensions_item_header_bits, bits_extensions_item_header_bits, table_extensions_item_header_bits, NULL, 256))
        return 0;
    if (!establish(&kind_interest_header_bits) || !tabulate(&kind_interest_header_bits, bits_interest_header_bits, table_interest_header_bits, begins_interest_header_bits, 6))
        return 0;
    if (!establish(&kind_interest_options_bits) || !tabulate(&kind_interest_options_bits, bits_interest_options_bits, table_interest_options_bits, NULL, 256))
        return 0;
    if (!establish(&kind_declare_header_bits) || !tabulate(&kind_declare_header_bits, bits_declare_header_bits, table_declare_header_bits, begins_declare_header_bits, 8))
        return 0;
    if (!establish(&kind_d_keyexpr_header_bits) || !tabulate(&kind_d_keyexpr_header_bits, bits_d_keyexpr_header_bits, table_d_keyexpr_header_bits, begins_d_keyexpr_header_bits, 8))
        return 0;
    if (!establish(&kind_u_keyexpr_header_bits) || !tabulate(&kind_u_keyexpr_header_bits, bits_u_keyexpr_header_bits, table_u_keyexpr_header_bits, begins_u_keyexpr_header_bits, 8))
        return 0;
    if (!establish(&kind_d_subscriber_header_bits) || !tabulate(&kind_d_subscriber_header_bits, bits_d_subscriber_header_bits, table_d_subscriber_header_bits, begins_d_subscriber_header_bits, 8))
        return 0;
    if (!establish(&kind_u_subscriber_header_bits) || !tabulate(&kind_u_subscriber_header_bits, bits_u_subscriber_header_bits, table_u_subscriber_header_bits, begins_u_subscriber_header_bits, 8))
        return 0;
    if (!establish(&kind_d_queryable_header_bits) || !tabulate(&kind_d_queryable_header_bits, bits_d_queryable_header_bits, table_d_queryable_header_bits, begins_d_queryable_header_bits, 8))
        return 0;
    if (!establish(&kind_u_queryable_header_bits) || !tabulate(&kind_u_queryable_header_bits, bits_u_queryable_header_bits, table_u_queryable_header_bits, begins_u_queryable_header_bits, 8))
        return 0;
    if (!establish(&kind_d_token_header_bits) || !tabulate(&kind_d_token_header_bits, bits_d_token_header_bits, table_d_token_header_bits, begins_d_token_header_bits, 8))
        return 0;
    if (!establish(&kind_u_token_header_bits) || !tabulate(&kind_u_token_header_bits, bits_u_token_header_bits, table_u_token_header_bits, begins_u_token_header_bits, 8))
        return 0;
    if (!establish(&kind_d_final_header_bits) || !tabulate(&kind_d_final_header_bits, bits_d_final_header_bits, table_d_final_header_bits, begins_d_final_header_bits, 8))
        return 0;
    if (!establish(&kind_push_header_bits) || !tabulate(&kind_push_header_bits, bits_push_header_bits, table_push_header_bits, begins_push_header_bits, 8))
        return 0;
    if (!establish(&kind_put_header_bits) || !tabulate(&kind_put_header_bits, bits_put_header_bits, table_put_header_bits, begins_put_header_bits, 8))
        return 0;
    if (!establish(&kind_del_header_bits) || !tabulate(&kind_del_header_bits, bits_del_header_bits, table_del_header_bits, begins_del_header_bits, 8))
        return 0;
    if (!establish(&kind_request_header_bits) || !tabulate(&kind_request_header_bits, bits_request_header_bits, table_request_header_bits, begins_request_header_bits, 8))
        return 0;
    if (!establish(&kind_query_header_bits) || !tabulate(&kind_query_header_bits, bits_query_header_bits, table_query_header_bits, begins_query_header_bits, 8))
        return 0;
    if (!establish(&kind_response_header_bits) || !tabulate(&kind_response_header_bits, bits_response_header_bits, table_response_header_bits, begins_response_header_bits, 8))
        return 0;
    if (!establish(&kind_reply_header_bits) || !tabulate(&kind_reply_header_bits, bits_reply_header_bits, table_reply_header_bits, begins_reply_header_bits, 8))
        return 0;
    if (!establish(&kind_err_header_bits) || !tabulate(&kind_err_header_bits, bits_err_header_bits, table_err_header_bits, begins_err_header_bits, 8))
        return 0;
    if (!establish(&kind_oam_header_bits) || !tabulate(&kind_oam_header_bits, bits_oam_header_bits, table_oam_header_bits, begins_oam_header_bits, 8))
        return 0;
    if (!establish(&kind_t_oam_header_bits) || !tabulate(&kind_t_oam_header_bits, bits_t_oam_header_bits, table_t_oam_header_bits, begins_t_oam_header_bits, 8))
        return 0;
    if (!establish(&kind_init_header_bits) || !tabulate(&kind_init_header_bits, bits_init_header_bits, table_init_header_bits, begins_init_header_bits, 8))
        return 0;
    if (!establish(&kind_init_node_bits) || !tabulate(&kind_init_node_bits, bits_init_node_bits, table_init_node_bits, NULL, 256))
        return 0;
    if (!establish(&kind_init_resolution_bits) || !tabulate(&kind_init_resolution_bits, bits_init_resolution_bits, table_init_resolution_bits, NULL, 256))
        return 0;
    if (!establish(&kind_open_header_bits) || !tabulate(&kind_open_header_bits, bits_open_header_bits, table_open_header_bits, begins_open_header_bits, 8))
        return 0;
    if (!establish(&kind_close_header_bits) || !tabulate(&kind_close_header_bits, bits_close_header_bits, table_close_header_bits, begins_close_header_bits, 8))
        return 0;
    if (!establish(&kind_keep_alive_header_bits) || !tabulate(&kind_keep_alive_header_bits, bits_keep_alive_header_bits, table_keep_alive_header_bits, begins_keep_alive_header_bits, 8))
        return 0;
    if (!establish(&kind_frame_header_bits) || !tabulate(&kind_frame_header_bits, bits_frame_header_bits, table_frame_header_bits, begins_frame_header_bits, 8))
        return 0;
    if (!establish(&kind_fragment_header_bits) || !tabulate(&kind_fragment_header_bits, bits_fragment_header_bits, table_fragment_header_bits, begins_fragment_header_bits, 8))
        return 0;
    if (!establish(&kind_extensions_item))
        return 0;
    if (!establish(&kind_interest_final))
        return 0;
    if ((type_interest_final = PyUnicode_InternFromString("INTEREST_FINAL")) == NULL)
        return 0;
    if (!establish(&kind_interest))
        return 0;
    if ((type_interest = PyUnicode_InternFromString("INTEREST")) == NULL)
        return 0;
    if (!establish(&kind_d_keyexpr))
        return 0;
    if ((type_d_keyexpr = PyUnicode_InternFromString("D_KEYEXPR")) == NULL)
        return 0;
    if (!establish(&kind_u_keyexpr))
        return 0;
    if ((type_u_keyexpr = PyUnicode_InternFromString("U_KEYEXPR")) == NULL)
        return 0;
    if (!establish(&kind_d_subscriber))
        return 0;
    if ((type_d_subscriber = PyUnicode_InternFromString("D_SUBSCRIBER")) == NULL)
        return 0;
    if (!establish(&kind_u_subscriber))
        return 0;
    if ((type_u_subscriber = PyUnicode_InternFromString("U_SUBSCRIBER")) == NULL)
        return 0;
    if (!establish(&kind_d_queryable))
        return 0;
    if ((type_d_queryable = PyUnicode_InternFromString("D_QUERYABLE")) == NULL)
        return 0;
    if (!establish(&kind_u_queryable))
        return 0;
    if ((type_u_queryable = PyUnicode_InternFromString("U_QUERYABLE")) == NULL)
        return 0;
    if (!establish(&kind_d_token))
        return 0;
    if ((type_d_token = PyUnicode_InternFromString("D_TOKEN")) == NULL)
        return 0;
    if (!establish(&kind_u_token))
        return 0;
    if ((type_u_token = PyUnicode_InternFromString("U_TOKEN")) == NULL)
        return 0;
    if (!establish(&kind_d_final))
        return 0;
    if ((type_d_final = PyUnicode_InternFromString("D_FINAL")) == NULL)
        return 0;
    if (!establish(&kind_declare))
        return 0;
    if ((type_declare = PyUnicode_InternFromString("DECLARE")) == NULL)
        return 0;
    if (!establish(&kind_timestamp))
        return 0;
    if (!establish(&kind_put))
        return 0;
    if ((type_put = PyUnicode_InternFromString("PUT")) == NULL)
        return 0;
    if (!establish(&kind_del))
        return 0;
    if ((type_del = PyUnicode_InternFromString("DEL")) == NULL)
        return 0;
    if (!establish(&kind_push))
        return 0;
    if ((type_push = PyUnicode_InternFromString("PUSH")) == NULL)
        return 0;
    if (!establish(&kind_query))
        return 0;
    if ((type_query = PyUnicode_InternFromString("QUERY")) == NULL)
        return 0;
    if (!establish(&kind_request))
        return 0;
    if ((type_request = PyUnicode_InternFromString("REQUEST")) == NULL)
        return 0;
    if (!establish(&kind_reply))
        return 0;
    if ((type_reply = PyUnicode_InternFromString("REPLY")) == NULL)
        return 0;
    if (!establish(&kind_err))
        return 0;
    if ((type_err = PyUnicode_InternFromString("ERR")) == NULL)
        return 0;
    if (!establish(&kind_response))
        return 0;
    if ((type_response = PyUnicode_InternFromString("RESPONSE")) == NULL)
        return 0;
    if (!establish(&kind_response_final))
        return 0;
    if ((type_response_final = PyUnicode_InternFromString("RESPONSE_FINAL")) == NULL)
        return 0;
    if (!establish(&kind_body_4))
        return 0;
    if (!establish(&kind_oam))
        return 0;
    if ((type_oam = PyUnicode_InternFromString("OAM")) == NULL)
        return 0;
    if (!establish(&kind_t_oam))
        return 0;
    if ((type_t_oam = PyUnicode_InternFromString("T_OAM")) == NULL)
        return 0;
    if (!establish(&kind_init))
        return 0;
    if ((type_init = PyUnicode_InternFromString("INIT")) == NULL)
        return 0;
    if (!establish(&kind_open))
        return 0;
    if ((type_open = PyUnicode_InternFromString("OPEN")) == NULL)
        return 0;
    if (!establish(&kind_close))
        return 0;
    if ((type_close = PyUnicode_InternFromString("CLOSE")) == NULL)
        return 0;
    if (!establish(&kind_keep_alive))
        return 0;
    if ((type_keep_alive = PyUnicode_InternFromString("KEEP_ALIVE")) == NULL)
        return 0;
    if (!establish(&kind_frame))
        return 0;
    if ((type_frame = PyUnicode_InternFromString("FRAME")) == NULL)
        return 0;
    if (!establish(&kind_fragment))
        return 0;
    if ((type_fragment = PyUnicode_InternFromString("FRAGMENT")) == NULL)
        return 0;
    return 1;
}

PyMODINIT_FUNC PyInit_native(void)
{
    if (!prepare())
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddStringConstant(module, "STAMP", "59584083854e91ba") < 0)
        return NULL;
    static const char *const names[][2] = {{"network-message", "network_message"}, {"transport-message", "transport_message"}, {"batch", "batch"}};
    static PyObject **const otherwise[] = {&encode_network_message_otherwise, &encode_transport_message_otherwise, &encode_batch_otherwise};
    static const char python[] = "wire.zenoh.generated.python";
    if (!publish(module, python, names, otherwise, 3))
        return NULL;
    return module;
}
