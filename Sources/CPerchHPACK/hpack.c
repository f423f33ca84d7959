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

/* Decodes bytes as they are. Fields go into `out` behind `*written` bytes. */
static int decode(
    perch_hpack *decoder, perch_hpack_block *block, const uint8_t *part, size_t count, int is_last, uint8_t *out,
    size_t limit, size_t *written) {
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
                memcpy(out + *written, lengths, sizeof lengths);
                *written += sizeof lengths;
                memcpy(out + *written, field.name, field.namelen);
                *written += field.namelen;
                memcpy(out + *written, field.value, field.valuelen);
                *written += field.valuelen;
            }
        }
        if (flags & NGHTTP2_HD_INFLATE_FINAL) {
            block->pending = 0;
            return nghttp2_hd_inflate_end_headers(decoder) == 0 ? 0 : PERCH_HPACK_BROKEN;
        }
        if (flags & NGHTTP2_HD_INFLATE_EMIT) continue;
        if (count > 0) continue;
        /* Neither a field nor the end: the part stops within a field, which goes on in the next part if there is one. */
        return is_last ? PERCH_HPACK_BROKEN : 0;
    }
}

/* The longest string that libnghttp2 decodes. A longer one is an error of the connection to it. */
enum { STRING_MAX = 65536 };

/* The decoder gets this in place of a longer string. As that one (17 kB or more, also by Huffman's code), it exceeds the table: a
 * field with it that is to be added empties the table on both sides, and any other leaves it as it is (RFC 7541, 4.4). */
static const uint8_t replacement[3 + 4097] = {0x7F, 0x82, 0x1F};

/* Where the next byte stands: RFC 7541, section 6. */
enum { AT_FIELD, IN_INDEX, AT_LENGTH, IN_LENGTH, IN_STRING };

/* The state behind a representation's index: its strings, or the next field. */
static int behind_index(const perch_hpack_block *block) {
    return block->strings_left > 0 ? AT_LENGTH : AT_FIELD;
}

/* The first byte of a field: how many strings follow, and whether its index goes on. */
static void begin_field(perch_hpack_block *block, uint8_t byte) {
    int is_literal = 1;
    uint8_t prefix = 0x0F;
    if (byte & 0x80) {
        is_literal = 0;
        prefix = 0x7F;
    } else if (byte & 0x40) {
        prefix = 0x3F;
    } else if (byte & 0x20) {
        is_literal = 0;
        prefix = 0x1F;
    }
    block->strings_left = !is_literal ? 0 : (byte & prefix) == 0 ? 2 : 1;
    block->state = (byte & prefix) == prefix ? IN_INDEX : behind_index(block);
}

/* Goes over `block`'s strings, so that one that is too long never reaches the decoder. A length is held back until it is known. */
static int decode_split(
    perch_hpack *decoder, perch_hpack_block *block, const uint8_t *part, size_t count, uint8_t *out, size_t limit,
    size_t *written) {
    /* Bytes from here on have not been decoded. */
    size_t from = 0;
    size_t place = 0;
    while (place < count) {
        uint8_t byte = part[place];
        switch (block->state) {
        case AT_FIELD:
            begin_field(block, byte);
            place += 1;
            break;
        case IN_INDEX:
            if (!(byte & 0x80)) block->state = behind_index(block);
            place += 1;
            break;
        case AT_LENGTH:
        case IN_LENGTH: {
            if (block->state == AT_LENGTH) {
                if (decode(decoder, block, part + from, place - from, 0, out, limit, written) != 0) {
                    return PERCH_HPACK_BROKEN;
                }
                block->length_count = 0;
                block->shift = 0;
                block->rest = byte & 0x7F;
                block->state = block->rest == 0x7F ? IN_LENGTH : IN_STRING;
            } else {
                if (block->length_count == sizeof block->length) return PERCH_HPACK_BROKEN;
                block->rest += (uint64_t)(byte & 0x7F) << block->shift;
                block->shift += 7;
                if (!(byte & 0x80)) block->state = IN_STRING;
            }
            block->length[block->length_count++] = byte;
            place += 1;
            from = place;
            if (block->state != IN_STRING) break;
            block->skips = block->rest > STRING_MAX;
            if (block->skips) block->is_too_long = 1;
            const uint8_t *string = block->skips ? replacement : block->length;
            size_t string_count = block->skips ? sizeof replacement : block->length_count;
            if (decode(decoder, block, string, string_count, 0, out, limit, written) != 0) return PERCH_HPACK_BROKEN;
            break;
        }
        case IN_STRING: {
            size_t left = count - place;
            size_t taken = block->rest < left ? (size_t)block->rest : left;
            place += taken;
            if (block->skips) from = place;
            block->rest -= taken;
            break;
        }
        }
        if (block->state == IN_STRING && block->rest == 0) {
            block->strings_left -= 1;
            block->state = behind_index(block);
        }
    }
    return decode(decoder, block, part + from, count - from, 0, out, limit, written);
}

ptrdiff_t perch_hpack_inflate(
    perch_hpack *decoder, perch_hpack_block *block, const uint8_t *part, size_t count, int is_last, uint8_t *out,
    size_t limit) {
    size_t written = 0;
    /* A block in one frame has no string that is longer than a frame. */
    if (!is_last) block->is_split = 1;
    if (block->is_split) {
        if (decode_split(decoder, block, part, count, out, limit, &written) != 0) return PERCH_HPACK_BROKEN;
        if (is_last && block->state != AT_FIELD) return PERCH_HPACK_BROKEN;
        part += count;
        count = 0;
    }
    if (block->is_split && !is_last) return (ptrdiff_t)written;
    if (decode(decoder, block, part, count, is_last, out, limit, &written) != 0) return PERCH_HPACK_BROKEN;
    return (ptrdiff_t)written;
}
