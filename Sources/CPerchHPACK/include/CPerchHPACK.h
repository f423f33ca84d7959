#ifndef CPERCHHPACK_H
#define CPERCHHPACK_H

#include <stddef.h>
#include <stdint.h>

/* HPACK (RFC 7541), the reading half: what a peer compressed its header fields with. libnghttp2 does the work. */

typedef struct nghttp2_hd_inflater perch_hpack;

/* A decoder with a table of 4,096 bytes, the default of HTTP/2. NULL without memory. */
perch_hpack *perch_hpack_new(void);
void perch_hpack_free(perch_hpack *decoder);

/* One header block on its way; zeroed before its first part. */
typedef struct perch_hpack_block {
    /* The sum of name, value and 32 bytes over all fields so far, as RFC 9113 counts. */
    size_t listed;
    /* The fields exceed the limit. The rest of the block is decoded all the same, so that the tables agree. */
    int is_too_long;
    /* Bytes of the field that goes on in the next part: the decoder holds them. */
    size_t pending;
    /* The block has several parts. Private: where the next byte stands in its field, and the bytes of a length under way. */
    int is_split;
    int state;
    int strings_left;
    int skips;
    int shift;
    uint64_t rest;
    uint8_t length[6];
    size_t length_count;
} perch_hpack_block;

/* The block breaks HPACK, or there is no memory: the tables of both sides differ from now on. */
enum { PERCH_HPACK_BROKEN = -1 };

/* Decodes one part of a header block. A name or value over 64 KiB, which libnghttp2 refuses, is skipped, and the fields count as
 * too long. Writes each field that ends in it into `out` as two native 32-bit lengths, the name
 * and the value. `limit` bounds the sum of all fields of the block; `out` has `limit` bytes. Returns the bytes written, or
 * PERCH_HPACK_BROKEN. */
ptrdiff_t perch_hpack_inflate(
    perch_hpack *decoder, perch_hpack_block *block, const uint8_t *part, size_t count, int is_last, uint8_t *out,
    size_t limit);

#endif
