#ifndef CPERCHMACHINE_H
#define CPERCHMACHINE_H

/* Processor and kernel features that Swift cannot reach. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Growing memory for tables, in one piece. From `mapped_from` bytes it is its own mapping: growing moves pages
   without copying, untouched pages take no memory, and freeing returns memory to the kernel at once. Smaller pieces
   come from the allocator. Written in C because Swift cannot call mremap, which is variadic. */

/* Resizes `piece` from `from` to `to` bytes and may move it. NULL with 0 bytes allocates a new piece. New bytes are
   not zeroed. Returns NULL without memory and leaves `piece` unchanged. */
void *perch_piece_resize(void *piece, size_t from, size_t to, size_t mapped_from);

void perch_piece_free(void *piece, size_t bytes, size_t mapped_from);

/* Prefetches the 64-byte cache line at an address. An invalid address is ignored. */
static inline void perch_prefetch(const void *address) { __builtin_prefetch(address); }

/* The name of this process's malloc: "jemalloc" or "libc". */
const char *perch_allocator(void);

/* Whether this processor has an instruction for CRC32C. */
bool perch_crc32c_is_available(void);

/* Extends the non-inverted checksum `value` by `count` bytes. Requires `perch_crc32c_is_available`. */
uint32_t perch_crc32c(uint32_t value, const void *bytes, size_t count);

#endif
