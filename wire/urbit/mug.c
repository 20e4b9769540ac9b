/* Urbit's hash of bytes, ``mug``, as checksums.py has it in Python. Every packet that is read or written is hashed. */

#define PY_SSIZE_T_CLEAN
#define Py_LIMITED_API 0x030b0000
#include <Python.h>
#include <stdint.h>

#define SEED UINT32_C(0xCAFEBABE)
#define TRIES 8
#define FALLBACK 0x7FFF

static uint32_t turned(uint32_t word, int bits)
{
    return word << bits | word >> (32 - bits);
}

static uint32_t mixed(uint32_t word)
{
    return turned(word * UINT32_C(0xCC9E2D51), 15) * UINT32_C(0x1B873593);
}

/* Bytes one by one: the machine may have another order, or want words where they belong. */
static uint32_t word_of(const uint8_t *data, size_t size)
{
    uint32_t word = 0;
    for (size_t at = 0; at < size; at++)
        word |= (uint32_t)data[at] << 8 * at;
    return word;
}

static uint32_t murmur3(const uint8_t *data, size_t size, uint32_t state)
{
    size_t whole = size & ~(size_t)3;
    for (size_t at = 0; at < whole; at += 4)
        state = turned(state ^ mixed(word_of(data + at, 4)), 13) * 5 + UINT32_C(0xE6546B64);
    if (size > whole)
        state ^= mixed(word_of(data + whole, size - whole));
    state ^= (uint32_t)size;
    state = (state ^ state >> 16) * UINT32_C(0x85EBCA6B);
    state = (state ^ state >> 13) * UINT32_C(0xC2B2AE35);
    return state ^ state >> 16;
}

static PyObject *mug(PyObject *Py_UNUSED(module), PyObject *bytes)
{
    char *data;
    Py_ssize_t size;
    if (PyBytes_AsStringAndSize(bytes, &data, &size) < 0)
        return NULL;
    for (uint32_t seed = SEED; seed < SEED + TRIES; seed++) {
        uint32_t hashed = murmur3((const uint8_t *)data, (size_t)size, seed);
        uint32_t folded = hashed >> 31 ^ (hashed & UINT32_C(0x7FFFFFFF));
        if (folded)
            return PyLong_FromUnsignedLong(folded);
    }
    return PyLong_FromLong(FALLBACK);
}

static PyMethodDef functions[] = {{"mug", mug, METH_O, "Return a hash of 31 bits that is never zero."}, {0}};
static struct PyModuleDef module = {PyModuleDef_HEAD_INIT, .m_name = "mug", .m_size = 0, .m_methods = functions};

PyMODINIT_FUNC PyInit_mug(void)
{
    return PyModuleDef_Init(&module);
}
