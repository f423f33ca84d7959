#include "CPerchMachine.h"

#include <stddef.h>

/* Defined by jemalloc if it is linked or preloaded. */
extern int mallctl(const char *, void *, size_t *, void *, size_t) __attribute__((weak));

const char *perch_allocator(void) { return mallctl != NULL ? "jemalloc" : "libc"; }
