/*
 * Tells goldwire which code of a program runs (docs/network-fuzzing.md, "Coverage"). Compile it into your program:
 *
 *     clang -c goldwire_coverage.c                                  without the option below
 *     clang -fsanitize-coverage=trace-pc-guard -o router router.c goldwire_coverage.o
 *
 *     gcc -c goldwire_coverage.c
 *     gcc -fsanitize-coverage=trace-pc -o router router.c goldwire_coverage.o
 *
 * In C++ the same, with clang++ or g++ for your own files. Where the environment variable GOLDWIRE_COVERAGE is not set,
 * the program does what it did before.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE 65536 /* counters of a byte each */

static uint8_t nobody[SIZE]; /* what is counted before, or without, the file */
static uint8_t *counters = nobody;

/* Before main, and before the constructors of what is instrumented. */
__attribute__((constructor(101))) static void map_the_file(void)
{
    const char *path = getenv("GOLDWIRE_COVERAGE");
    int file = path != NULL ? open(path, O_RDWR | O_CLOEXEC) : -1;

    if (file >= 0) {
        void *mapped = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (mapped != MAP_FAILED)
            counters = mapped;
        close(file);
    }
}

static void count(uint32_t place)
{
    uint8_t *counter = &counters[place % SIZE];

    if (*counter != UINT8_MAX) /* one that began anew would look as if the code had not run */
        ++*counter;
}

/* clang: each edge has a number of its own, which is given here. */
void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop)
{
    static uint32_t edges;

    if (start != stop && *start == 0)
        for (uint32_t *guard = start; guard < stop; guard++)
            *guard = ++edges;
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard)
{
    count(*guard);
}

/* gcc: known is only from where this was called, which is the same in each run as seen from here. */
void __sanitizer_cov_trace_pc(void)
{
    uintptr_t from = (uintptr_t)__builtin_return_address(0) - (uintptr_t)&nobody;

    count((uint32_t)((from * 0x9E3779B97F4A7C15u) >> 40));
}
