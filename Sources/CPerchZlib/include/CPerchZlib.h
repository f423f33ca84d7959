#ifndef CPERCHZLIB_H
#define CPERCHZLIB_H

#include <zlib.h>

/* zlib's own initialisers are macros that carry the header's version and the size of its structure; Swift cannot call
   macros. */

static inline int perch_deflate_init(z_stream *stream, int level) {
    return deflateInit(stream, level);
}

/* gzip (RFC 1952) and nothing else. */
static inline int perch_inflate_init_gzip(z_stream *stream) {
    return inflateInit2(stream, 15 + 16);
}

static inline int perch_inflate_init(z_stream *stream) {
    return inflateInit(stream);
}

#endif
