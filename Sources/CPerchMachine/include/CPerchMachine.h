#ifndef CPERCHMACHINE_H
#define CPERCHMACHINE_H

/* What a machine can do and Swift cannot ask of it. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory in one piece that grows, as tables need it. From `mapped_from` bytes on it is a mapping of its own: growing moves
   its pages and copies none, what was never written is nobody's memory, and what is given back is the kernel's at once.
   Shorter ones are the allocator's. In C because mremap takes arguments that Swift cannot pass. */

/* `piece` with room for `to` bytes instead of `from`, somewhere else perhaps; NULL, 0: a new one. What is new of it is not
   zero. NULL where there is no memory: then `piece` is as it was. */
void *perch_piece_resize(void *piece, size_t from, size_t to, size_t mapped_from);

void perch_piece_free(void *piece, size_t bytes, size_t mapped_from);

/* Has the cache fetch the line of 64 bytes at an address while something else is done. An address that is nobody's is
   passed over. */
static inline void perch_prefetch(const void *address) { __builtin_prefetch(address); }

/* Whose malloc this process has. */
const char *perch_allocator(void);

/* Whether this processor has an instruction for CRC32C. */
bool perch_crc32c_is_there(void);

/* `value`, a checksum that is not inverted, with `count` more bytes in it. Only where the instruction is there. */
uint32_t perch_crc32c(uint32_t value, const void *bytes, size_t count);

#endif
