#ifndef CPERCHHPACK_H
#define CPERCHHPACK_H

#include <stddef.h>
#include <stdint.h>

/* HPACK (RFC 7541), the reading half: what a peer compressed its header fields with. libnghttp2 does the work. */

typedef struct nghttp2_hd_inflater perch_hpack;

/* A decoder with a table of 4,096 bytes, the default of HTTP/2. NULL without memory. */
perch_hpack *perch_hpack_new(void);
void perch_hpack_free(perch_hpack *decoder);

enum {
    /* The block breaks HPACK, or there is no memory: the tables of both sides differ from now on. */
    PERCH_HPACK_BROKEN = -1,
    /* The fields exceed `limit`. The block was decoded to its end, so the tables agree. */
    PERCH_HPACK_TOO_LONG = -2,
};

/* Decodes one whole header block. Writes each field into `out` as two native 32-bit lengths, the name and the value.
 * `limit` bounds the sum of name, value and 32 bytes over all fields, as RFC 9113 counts; `out` has `limit` bytes.
 * Returns the bytes written, or one of the above. */
ptrdiff_t perch_hpack_inflate(perch_hpack *decoder, const uint8_t *block, size_t count, uint8_t *out, size_t limit);

#endif
