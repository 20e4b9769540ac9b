/* Codecs of urbit: generated from wire/urbit by `python -m wire.emit`. Do not edit. */

#include "records.h"

static kind kind_header_bits = {
    .qualified = "wire.urbit.generated.native.header_bits",
    .count = 7,
    .names = {"type", "not_ames", "version", "sender_rank", "receiver_rank", "checksum", "direct"},
};
static const word_bits bits_header_bits[] = {{UINT64_C(0x7), 0}, {UINT64_C(0x8), 3}, {UINT64_C(0x70), 4}, {UINT64_C(0x180), 7}, {UINT64_C(0x600), 9}, {UINT64_C(0x7FFFF800), 11}, {UINT64_C(0x80000000), 31}};

static kind kind_packet_ticks_bits = {
    .qualified = "wire.urbit.generated.native.packet_ticks_bits",
    .count = 2,
    .names = {"receiver", "sender"},
};
static const bits bits_packet_ticks_bits[] = {{0xF0, 4}, {0x0F, 0}};
static PyObject *table_packet_ticks_bits[256];

static kind kind_beat_back_live_bits = {
    .qualified = "wire.urbit.generated.native.beat_back_live_bits",
    .count = 2,
    .names = {"live", "X"},
};
static const bits bits_beat_back_live_bits[] = {{0x01, 0}, {0xFE, 0}};
static PyObject *table_beat_back_live_bits[256];

static kind kind_origin = {
    .qualified = "wire.urbit.generated.native.origin",
    .count = 2,
    .names = {"address", "port"},
};

static kind kind_scry_fore = {
    .qualified = "wire.urbit.generated.native.scry_fore",
    .count = 5,
    .names = {"type", "signature", "fragment", "path_length", "path"},
};
static PyObject *type_scry_fore;

static kind kind_scry_back = {
    .qualified = "wire.urbit.generated.native.scry_back",
    .count = 6,
    .names = {"type", "fragment", "path_length", "path", "signature", "content"},
};
static PyObject *type_scry_back;

static kind kind_ames_fore = {
    .qualified = "wire.urbit.generated.native.ames_fore",
    .count = 2,
    .names = {"type", "data"},
};
static PyObject *type_ames_fore;

static kind kind_ames_back = {
    .qualified = "wire.urbit.generated.native.ames_back",
    .count = 2,
    .names = {"type", "data"},
};
static PyObject *type_ames_back;

static kind kind_beat_fore = {
    .qualified = "wire.urbit.generated.native.beat_fore",
    .count = 3,
    .names = {"type", "session", "number"},
};
static PyObject *type_beat_fore;

static kind kind_beat_back = {
    .qualified = "wire.urbit.generated.native.beat_back",
    .count = 4,
    .names = {"type", "session", "number", "live"},
};
static PyObject *type_beat_back;

static kind kind_bond_fore = {
    .qualified = "wire.urbit.generated.native.bond_fore",
    .count = 5,
    .names = {"type", "signature", "fragment", "path_length", "path"},
};
static PyObject *type_bond_fore;

static kind kind_bond_back = {
    .qualified = "wire.urbit.generated.native.bond_back",
    .count = 6,
    .names = {"type", "session", "signature", "fragment", "path_length", "path"},
};
static PyObject *type_bond_back;

static kind kind_packet = {
    .qualified = "wire.urbit.generated.native.packet",
    .count = 6,
    .names = {"header", "origin", "ticks", "sender", "receiver", "body"},
};

static PyObject *origin_read(reader *r)
{
    record *v = make(&kind_origin, 2);
    if (v == NULL)
        return NULL;
    {
        uint64_t n;
        if (!read_integer(r, 4, &n))
            goto bad;
        if ((v->fields[0] = number(n)) == NULL)
            goto bad;
    }
    {
        uint64_t n;
        if (!read_integer(r, 2, &n))
            goto bad;
        if ((v->fields[1] = number(n)) == NULL)
            goto bad;
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int origin_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_origin.type)
        return 0;
    record *v = (record *)value;
    if (!write_integer(w, 4, number_of(v->fields[0])))
        return 0;
    if (!write_integer(w, 2, number_of(v->fields[1])))
        return 0;
    return 1;
}

static PyObject *scry_fore_read(reader *r)
{
    record *v = make(&kind_scry_fore, 5);
    if (v == NULL)
        return NULL;
    uint64_t n_path_length = 0;
    v->fields[0] = Py_NewRef(type_scry_fore);
    {
        size_t start;
        int64_t count = 64;
        if (count < 0) {
            refuse(r, BAD_VALUE, r->at);
            goto bad;
        }
        if (!read_sized(r, (uint64_t)count, &start))
            goto bad;
        if ((v->fields[1] = octets(r, start, (size_t)count)) == NULL)
            goto bad;
    }
    {
        uint64_t n;
        if (!read_integer(r, 4, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    {
        uint64_t n;
        if (!read_integer(r, 2, &n))
            goto bad;
        n_path_length = n;
        if ((v->fields[3] = number(n)) == NULL)
            goto bad;
    }
    {
        size_t start;
        int64_t count = (int64_t)n_path_length;
        if (count < 0) {
            refuse(r, BAD_VALUE, r->at);
            goto bad;
        }
        if (!read_sized(r, (uint64_t)count, &start))
            goto bad;
        if ((v->fields[4] = octets(r, start, (size_t)count)) == NULL)
            goto bad;
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int scry_fore_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_scry_fore.type)
        return 0;
    record *v = (record *)value;
    uint64_t n_path_length = 0;
    if (!write_bytes(w, v->fields[1], 0))
        return 0;
    if (!write_integer(w, 4, number_of(v->fields[2])))
        return 0;
    n_path_length = number_of(v->fields[3]);
    if (!write_integer(w, 2, n_path_length))
        return 0;
    if (!write_bytes(w, v->fields[4], 0))
        return 0;
    return 1;
}

static PyObject *scry_back_read(reader *r)
{
    record *v = make(&kind_scry_back, 6);
    if (v == NULL)
        return NULL;
    uint64_t n_path_length = 0;
    v->fields[0] = Py_NewRef(type_scry_back);
    {
        uint64_t n;
        if (!read_integer(r, 4, &n))
            goto bad;
        if ((v->fields[1] = number(n)) == NULL)
            goto bad;
    }
    {
        uint64_t n;
        if (!read_integer(r, 2, &n))
            goto bad;
        n_path_length = n;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    {
        size_t start;
        int64_t count = (int64_t)n_path_length;
        if (count < 0) {
            refuse(r, BAD_VALUE, r->at);
            goto bad;
        }
        if (!read_sized(r, (uint64_t)count, &start))
            goto bad;
        if ((v->fields[3] = octets(r, start, (size_t)count)) == NULL)
            goto bad;
    }
    {
        size_t start;
        int64_t count = 64;
        if (count < 0) {
            refuse(r, BAD_VALUE, r->at);
            goto bad;
        }
        if (!read_sized(r, (uint64_t)count, &start))
            goto bad;
        if ((v->fields[4] = octets(r, start, (size_t)count)) == NULL)
            goto bad;
    }
    {
        size_t start = r->at;
        r->at = r->size;
        if ((v->fields[5] = octets(r, start, r->size - start)) == NULL)
            goto bad;
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int scry_back_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_scry_back.type)
        return 0;
    record *v = (record *)value;
    uint64_t n_path_length = 0;
    if (!write_integer(w, 4, number_of(v->fields[1])))
        return 0;
    n_path_length = number_of(v->fields[2]);
    if (!write_integer(w, 2, n_path_length))
        return 0;
    if (!write_bytes(w, v->fields[3], 0))
        return 0;
    if (!write_bytes(w, v->fields[4], 0))
        return 0;
    if (!write_bytes(w, v->fields[5], 0))
        return 0;
    return 1;
}

static PyObject *ames_fore_read(reader *r)
{
    record *v = make(&kind_ames_fore, 2);
    if (v == NULL)
        return NULL;
    v->fields[0] = Py_NewRef(type_ames_fore);
    {
        size_t start = r->at;
        r->at = r->size;
        if ((v->fields[1] = octets(r, start, r->size - start)) == NULL)
            goto bad;
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int ames_fore_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_ames_fore.type)
        return 0;
    record *v = (record *)value;
    if (!write_bytes(w, v->fields[1], 0))
        return 0;
    return 1;
}

static PyObject *ames_back_read(reader *r)
{
    record *v = make(&kind_ames_back, 2);
    if (v == NULL)
        return NULL;
    v->fields[0] = Py_NewRef(type_ames_back);
    {
        size_t start = r->at;
        r->at = r->size;
        if ((v->fields[1] = octets(r, start, r->size - start)) == NULL)
            goto bad;
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int ames_back_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_ames_back.type)
        return 0;
    record *v = (record *)value;
    if (!write_bytes(w, v->fields[1], 0))
        return 0;
    return 1;
}

static PyObject *beat_fore_read(reader *r)
{
    record *v = make(&kind_beat_fore, 3);
    if (v == NULL)
        return NULL;
    v->fields[0] = Py_NewRef(type_beat_fore);
    {
        uint64_t n;
        if (!read_integer(r, 8, &n))
            goto bad;
        if ((v->fields[1] = number(n)) == NULL)
            goto bad;
    }
    {
        uint64_t n;
        if (!read_integer(r, 8, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int beat_fore_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_beat_fore.type)
        return 0;
    record *v = (record *)value;
    if (!write_integer(w, 8, number_of(v->fields[1])))
        return 0;
    if (!write_integer(w, 8, number_of(v->fields[2])))
        return 0;
    return 1;
}

static PyObject *beat_back_read(reader *r)
{
    record *v = make(&kind_beat_back, 4);
    if (v == NULL)
        return NULL;
    uint8_t b_live = 0;
    v->fields[0] = Py_NewRef(type_beat_back);
    {
        uint64_t n;
        if (!read_integer(r, 8, &n))
            goto bad;
        if ((v->fields[1] = number(n)) == NULL)
            goto bad;
    }
    {
        uint64_t n;
        if (!read_integer(r, 8, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    if (!read_octet(r, &b_live))
        goto bad;
    v->fields[3] = Py_NewRef(table_beat_back_live_bits[b_live]);
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int beat_back_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_beat_back.type)
        return 0;
    record *v = (record *)value;
    uint8_t b_live = 0;
    if (!write_integer(w, 8, number_of(v->fields[1])))
        return 0;
    if (!write_integer(w, 8, number_of(v->fields[2])))
        return 0;
    b_live = (uint8_t)((record *)v->fields[3])->byte;
    if (!write_octet(w, b_live))
        return 0;
    return 1;
}

static PyObject *bond_fore_read(reader *r)
{
    record *v = make(&kind_bond_fore, 5);
    if (v == NULL)
        return NULL;
    uint64_t n_path_length = 0;
    v->fields[0] = Py_NewRef(type_bond_fore);
    {
        size_t start;
        int64_t count = 64;
        if (count < 0) {
            refuse(r, BAD_VALUE, r->at);
            goto bad;
        }
        if (!read_sized(r, (uint64_t)count, &start))
            goto bad;
        if ((v->fields[1] = octets(r, start, (size_t)count)) == NULL)
            goto bad;
    }
    {
        uint64_t n;
        if (!read_integer(r, 4, &n))
            goto bad;
        if ((v->fields[2] = number(n)) == NULL)
            goto bad;
    }
    {
        uint64_t n;
        if (!read_integer(r, 2, &n))
            goto bad;
        n_path_length = n;
        if ((v->fields[3] = number(n)) == NULL)
            goto bad;
    }
    {
        size_t start;
        int64_t count = (int64_t)n_path_length;
        if (count < 0) {
            refuse(r, BAD_VALUE, r->at);
            goto bad;
        }
        if (!read_sized(r, (uint64_t)count, &start))
            goto bad;
        if ((v->fields[4] = octets(r, start, (size_t)count)) == NULL)
            goto bad;
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int bond_fore_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_bond_fore.type)
        return 0;
    record *v = (record *)value;
    uint64_t n_path_length = 0;
    if (!write_bytes(w, v->fields[1], 0))
        return 0;
    if (!write_integer(w, 4, number_of(v->fields[2])))
        return 0;
    n_path_length = number_of(v->fields[3]);
    if (!write_integer(w, 2, n_path_length))
        return 0;
    if (!write_bytes(w, v->fields[4], 0))
        return 0;
    return 1;
}

static PyObject *bond_back_read(reader *r)
{
    record *v = make(&kind_bond_back, 6);
    if (v == NULL)
        return NULL;
    uint64_t n_path_length = 0;
    v->fields[0] = Py_NewRef(type_bond_back);
    {
        uint64_t n;
        if (!read_integer(r, 8, &n))
            goto bad;
        if ((v->fields[1] = number(n)) == NULL)
            goto bad;
    }
    {
        size_t start;
        int64_t count = 64;
        if (count < 0) {
            refuse(r, BAD_VALUE, r->at);
            goto bad;
        }
        if (!read_sized(r, (uint64_t)count, &start))
            goto bad;
        if ((v->fields[2] = octets(r, start, (size_t)count)) == NULL)
            goto bad;
    }
    {
        uint64_t n;
        if (!read_integer(r, 4, &n))
            goto bad;
        if ((v->fields[3] = number(n)) == NULL)
            goto bad;
    }
    {
        uint64_t n;
        if (!read_integer(r, 2, &n))
            goto bad;
        n_path_length = n;
        if ((v->fields[4] = number(n)) == NULL)
            goto bad;
    }
    {
        size_t start;
        int64_t count = (int64_t)n_path_length;
        if (count < 0) {
            refuse(r, BAD_VALUE, r->at);
            goto bad;
        }
        if (!read_sized(r, (uint64_t)count, &start))
            goto bad;
        if ((v->fields[5] = octets(r, start, (size_t)count)) == NULL)
            goto bad;
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int bond_back_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_bond_back.type)
        return 0;
    record *v = (record *)value;
    uint64_t n_path_length = 0;
    if (!write_integer(w, 8, number_of(v->fields[1])))
        return 0;
    if (!write_bytes(w, v->fields[2], 0))
        return 0;
    if (!write_integer(w, 4, number_of(v->fields[3])))
        return 0;
    n_path_length = number_of(v->fields[4]);
    if (!write_integer(w, 2, n_path_length))
        return 0;
    if (!write_bytes(w, v->fields[5], 0))
        return 0;
    return 1;
}

static PyObject *packet_read(reader *r)
{
    record *v = make(&kind_packet, 6);
    if (v == NULL)
        return NULL;
    uint64_t b_header = 0;
    uint8_t b_ticks = 0;
    if (!read_integer(r, 4, &b_header))
        goto bad;
    if ((v->fields[0] = named_bits(&kind_header_bits, bits_header_bits, b_header)) == NULL)
        goto bad;
    if ((int64_t)(int64_t)(b_header >> 31 & UINT64_C(0x1)) == 0) {
        if ((v->fields[1] = origin_read(r)) == NULL)
            goto bad;
    } else {
        v->fields[1] = Py_NewRef(Py_None);
    }
    if (!read_octet(r, &b_ticks))
        goto bad;
    v->fields[2] = Py_NewRef(table_packet_ticks_bits[b_ticks]);
    switch ((int64_t)(b_header >> 7 & UINT64_C(0x3))) {
    case 0:
        {
            uint64_t n;
            if (!read_integer(r, 2, &n))
                goto bad;
            if ((v->fields[3] = number(n)) == NULL)
                goto bad;
        }
        break;
    case 1:
        {
            uint64_t n;
            if (!read_integer(r, 4, &n))
                goto bad;
            if ((v->fields[3] = number(n)) == NULL)
                goto bad;
        }
        break;
    case 2:
        {
            uint64_t n;
            if (!read_integer(r, 8, &n))
                goto bad;
            if ((v->fields[3] = number(n)) == NULL)
                goto bad;
        }
        break;
    case 3:
        {
            size_t start;
            int64_t count = 16;
            if (count < 0) {
                refuse(r, BAD_VALUE, r->at);
                goto bad;
            }
            if (!read_sized(r, (uint64_t)count, &start))
                goto bad;
            if ((v->fields[3] = octets(r, start, (size_t)count)) == NULL)
                goto bad;
        }
        break;
    default:
        v->fields[3] = Py_NewRef(Py_None);
        break;
    }
    switch ((int64_t)(b_header >> 9 & UINT64_C(0x3))) {
    case 0:
        {
            uint64_t n;
            if (!read_integer(r, 2, &n))
                goto bad;
            if ((v->fields[4] = number(n)) == NULL)
                goto bad;
        }
        break;
    case 1:
        {
            uint64_t n;
            if (!read_integer(r, 4, &n))
                goto bad;
            if ((v->fields[4] = number(n)) == NULL)
                goto bad;
        }
        break;
    case 2:
        {
            uint64_t n;
            if (!read_integer(r, 8, &n))
                goto bad;
            if ((v->fields[4] = number(n)) == NULL)
                goto bad;
        }
        break;
    case 3:
        {
            size_t start;
            int64_t count = 16;
            if (count < 0) {
                refuse(r, BAD_VALUE, r->at);
                goto bad;
            }
            if (!read_sized(r, (uint64_t)count, &start))
                goto bad;
            if ((v->fields[4] = octets(r, start, (size_t)count)) == NULL)
                goto bad;
        }
        break;
    default:
        v->fields[4] = Py_NewRef(Py_None);
        break;
    }
    switch ((int64_t)(b_header >> 0 & UINT64_C(0x7))) {
    case 0:
        if ((v->fields[5] = scry_fore_read(r)) == NULL)
            goto bad;
        break;
    case 1:
        if ((v->fields[5] = scry_back_read(r)) == NULL)
            goto bad;
        break;
    case 2:
        if ((v->fields[5] = ames_fore_read(r)) == NULL)
            goto bad;
        break;
    case 3:
        if ((v->fields[5] = ames_back_read(r)) == NULL)
            goto bad;
        break;
    case 4:
        if ((v->fields[5] = beat_fore_read(r)) == NULL)
            goto bad;
        break;
    case 5:
        if ((v->fields[5] = beat_back_read(r)) == NULL)
            goto bad;
        break;
    case 6:
        if ((v->fields[5] = bond_fore_read(r)) == NULL)
            goto bad;
        break;
    case 7:
        if ((v->fields[5] = bond_back_read(r)) == NULL)
            goto bad;
        break;
    default:
        refuse(r, UNKNOWN_ID, r->at);
        goto bad;
    }
    return (PyObject *)v;
    bad:
    Py_DECREF(v);
    return NULL;
}

static int packet_write(writer *w, PyObject *value)
{
    if (Py_TYPE(value) != kind_packet.type)
        return 0;
    record *v = (record *)value;
    uint64_t b_header = 0;
    uint8_t b_ticks = 0;
    b_header = ((record *)v->fields[0])->byte;
    if (!write_integer(w, 4, b_header))
        return 0;
    if ((int64_t)(int64_t)(b_header >> 31 & UINT64_C(0x1)) == 0) {
        if (!origin_write(w, v->fields[1]))
            return 0;
    }
    b_ticks = (uint8_t)((record *)v->fields[2])->byte;
    if (!write_octet(w, b_ticks))
        return 0;
    switch ((int64_t)(b_header >> 7 & UINT64_C(0x3))) {
    case 0:
        if (!write_integer(w, 2, number_of(v->fields[3])))
            return 0;
        break;
    case 1:
        if (!write_integer(w, 4, number_of(v->fields[3])))
            return 0;
        break;
    case 2:
        if (!write_integer(w, 8, number_of(v->fields[3])))
            return 0;
        break;
    case 3:
        if (!write_bytes(w, v->fields[3], 0))
            return 0;
        break;
    default:
        ;
        break;
    }
    switch ((int64_t)(b_header >> 9 & UINT64_C(0x3))) {
    case 0:
        if (!write_integer(w, 2, number_of(v->fields[4])))
            return 0;
        break;
    case 1:
        if (!write_integer(w, 4, number_of(v->fields[4])))
            return 0;
        break;
    case 2:
        if (!write_integer(w, 8, number_of(v->fields[4])))
            return 0;
        break;
    case 3:
        if (!write_bytes(w, v->fields[4], 0))
            return 0;
        break;
    default:
        ;
        break;
    }
    switch ((int64_t)(b_header >> 0 & UINT64_C(0x7))) {
    case 0:
        if (!scry_fore_write(w, v->fields[5]))
            return 0;
        break;
    case 1:
        if (!scry_back_write(w, v->fields[5]))
            return 0;
        break;
    case 2:
        if (!ames_fore_write(w, v->fields[5]))
            return 0;
        break;
    case 3:
        if (!ames_back_write(w, v->fields[5]))
            return 0;
        break;
    case 4:
        if (!beat_fore_write(w, v->fields[5]))
            return 0;
        break;
    case 5:
        if (!beat_back_write(w, v->fields[5]))
            return 0;
        break;
    case 6:
        if (!bond_fore_write(w, v->fields[5]))
            return 0;
        break;
    case 7:
        if (!bond_back_write(w, v->fields[5]))
            return 0;
        break;
    default:
        return 0;
    }
    return 1;
}

static PyObject *encode_packet_otherwise;

static PyObject *decode_packet(PyObject *self, PyObject *const *arguments, Py_ssize_t count)
{
    (void)self;
    return decoded(arguments, count, "urbit/packet", 2048, packet_read);
}

static PyObject *encode_packet(PyObject *self, PyObject *value)
{
    (void)self;
    return encoded(value, 2048, packet_write, encode_packet_otherwise);
}

static PyMethodDef functions[] = {
    {"decode_packet", (PyCFunction)(void (*)(void))decode_packet, METH_FASTCALL, "Decode one urbit/packet."},
    {"encode_packet", encode_packet, METH_O, "Encode one urbit/packet."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "native",
    .m_doc = "Codecs of urbit in C.",
    .m_size = -1,
    .m_methods = functions,
};

static int prepare(void)
{
    if (!connect())
        return 0;
    if (!establish(&kind_header_bits))
        return 0;
    if (!establish(&kind_packet_ticks_bits) || !tabulate(&kind_packet_ticks_bits, bits_packet_ticks_bits, table_packet_ticks_bits, NULL, 256))
        return 0;
    if (!establish(&kind_beat_back_live_bits) || !tabulate(&kind_beat_back_live_bits, bits_beat_back_live_bits, table_beat_back_live_bits, NULL, 256))
        return 0;
    if (!establish(&kind_origin))
        return 0;
    if (!establish(&kind_scry_fore))
        return 0;
    if ((type_scry_fore = PyUnicode_InternFromString("scry_fore")) == NULL)
        return 0;
    if (!establish(&kind_scry_back))
        return 0;
    if ((type_scry_back = PyUnicode_InternFromString("scry_back")) == NULL)
        return 0;
    if (!establish(&kind_ames_fore))
        return 0;
    if ((type_ames_fore = PyUnicode_InternFromString("ames_fore")) == NULL)
        return 0;
    if (!establish(&kind_ames_back))
        return 0;
    if ((type_ames_back = PyUnicode_InternFromString("ames_back")) == NULL)
        return 0;
    if (!establish(&kind_beat_fore))
        return 0;
    if ((type_beat_fore = PyUnicode_InternFromString("beat_fore")) == NULL)
        return 0;
    if (!establish(&kind_beat_back))
        return 0;
    if ((type_beat_back = PyUnicode_InternFromString("beat_back")) == NULL)
        return 0;
    if (!establish(&kind_bond_fore))
        return 0;
    if ((type_bond_fore = PyUnicode_InternFromString("bond_fore")) == NULL)
        return 0;
    if (!establish(&kind_bond_back))
        return 0;
    if ((type_bond_back = PyUnicode_InternFromString("bond_back")) == NULL)
        return 0;
    if (!establish(&kind_packet))
        return 0;
    return 1;
}

PyMODINIT_FUNC PyInit_native(void)
{
    if (!prepare())
        return NULL;
    PyObject *module = PyModule_Create(&definition);
    if (module == NULL || PyModule_AddStringConstant(module, "STAMP", "1a8ed01de26c7971") < 0)
        return NULL;
    static const char *const names[][2] = {{"packet", "packet"}};
    static PyObject **const otherwise[] = {&encode_packet_otherwise};
    static const char python[] = "wire.urbit.generated.python";
    if (!publish(module, python, names, otherwise, 1))
        return NULL;
    return module;
}
