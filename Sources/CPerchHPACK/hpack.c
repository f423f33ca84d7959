#include "CPerchHPACK.h"

#include <nghttp2/nghttp2.h>
#include <string.h>

perch_hpack *perch_hpack_new(void) {
    nghttp2_hd_inflater *decoder = NULL;
    return nghttp2_hd_inflate_new(&decoder) == 0 ? decoder : NULL;
}

void perch_hpack_free(perch_hpack *decoder) {
    nghttp2_hd_inflate_del(decoder);
}

ptrdiff_t perch_hpack_inflate(
    perch_hpack *decoder, perch_hpack_block *block, const uint8_t *part, size_t count, int is_last, uint8_t *out,
    size_t limit) {
    size_t written = 0;
    for (;;) {
        nghttp2_nv field;
        int flags = 0;
        ssize_t taken = nghttp2_hd_inflate_hd2(decoder, &field, &flags, part, count, is_last);
        if (taken < 0) return PERCH_HPACK_BROKEN;
        part += taken;
        count -= (size_t)taken;
        block->pending += (size_t)taken;
        if (flags & NGHTTP2_HD_INFLATE_EMIT) {
            block->pending = 0;
            block->listed += field.namelen + field.valuelen + 32;
            if (block->listed > limit) block->is_too_long = 1;
            if (!block->is_too_long) {
                uint32_t lengths[2] = {(uint32_t)field.namelen, (uint32_t)field.valuelen};
                memcpy(out + written, lengths, sizeof lengths);
                written += sizeof lengths;
                memcpy(out + written, field.name, field.namelen);
                written += field.namelen;
                memcpy(out + written, field.value, field.valuelen);
                written += field.valuelen;
            }
        }
        if (flags & NGHTTP2_HD_INFLATE_FINAL) {
            block->pending = 0;
            if (nghttp2_hd_inflate_end_headers(decoder) != 0) return PERCH_HPACK_BROKEN;
            break;
        }
        if (flags & NGHTTP2_HD_INFLATE_EMIT) continue;
        if (count > 0) continue;
        /* Neither a field nor the end: the part stops within a field, which goes on in the next part if there is one. */
        if (is_last) return PERCH_HPACK_BROKEN;
        break;
    }
    return (ptrdiff_t)written;
}
