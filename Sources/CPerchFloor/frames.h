// The parts of perch/1 and protobuf that the baseline server needs. proto/README.md describes the format.
#ifndef PERCH_FLOOR_FRAMES_H
#define PERCH_FLOOR_FRAMES_H

#include <arpa/inet.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum {
    HEADER = 9,
    HELLO = 1, WELCOME = 2, CALL = 3, MESSAGE = 4, STATUS = 5,
};

// --- Encoding. Each function returns the end of its output.

static inline uint8_t *put_header(uint8_t *at, uint8_t kind, uint32_t stream, uint32_t length) {
    uint32_t address = htonl((uint32_t)kind << 24 | stream), count = htonl(length);
    memcpy(at, &address, 4);
    at[4] = 0;
    memcpy(at + 5, &count, 4);
    return at + HEADER;
}

static inline void put_revision(uint8_t *at, uint64_t revision) {
    for (int i = 0; i < 9; i++, revision >>= 7) at[i] = (uint8_t)(revision | 0x80);
    at[9] = (uint8_t)revision;
}

static inline uint8_t *put_varint(uint8_t *at, uint64_t value) {
    for (; value > 0x7f; value >>= 7) *at++ = (uint8_t)(value | 0x80);
    *at++ = (uint8_t)value;
    return at;
}

// One metric of GetServerStatus: name and value.
static inline uint8_t *put_metric(uint8_t *at, const char *name, double value) {
    size_t count = strlen(name);
    *at++ = 0x2a;
    *at++ = (uint8_t)(count + 11);
    *at++ = 0x0a;
    *at++ = (uint8_t)count;
    memcpy(at, name, count);
    at += count;
    *at++ = 3 << 3 | 1;
    memcpy(at, &value, 8);
    return at + 8;
}

// --- Decoding.

// Returns the number of a message's next field, and its bytes if it has any. Returns 0 at the end, or for malformed
// input.
static inline uint32_t next_field(const uint8_t **at, const uint8_t *end, const uint8_t **bytes, uint64_t *value) {
    uint64_t numbers[2] = {0, 0};
    for (int n = 0; n < 2; n++) {
        for (int shift = 0;; shift += 7) {
            if (*at == end || shift > 63) return 0;
            uint8_t byte = *(*at)++;
            numbers[n] |= (uint64_t)(byte & 0x7f) << shift;
            if (byte < 0x80) break;
        }
    }
    *bytes = NULL;
    *value = numbers[1];
    if ((numbers[0] & 7) == 2) {
        if (numbers[1] > (uint64_t)(end - *at)) return 0;
        *bytes = *at;
        *at += numbers[1];
    } else if ((numbers[0] & 7) != 0) return 0;
    return (uint32_t)(numbers[0] >> 3);
}

// The number at the end of the account in a request's field 2.
static inline uint32_t account_number(const uint8_t *request, uint64_t count) {
    const uint8_t *at = request, *bytes;
    uint64_t length;
    for (uint32_t field; (field = next_field(&at, request + count, &bytes, &length));) {
        if (field != 2 || !bytes) continue;
        uint32_t number = 0;
        for (uint64_t i = 0; i < length; i++)
            if (bytes[i] >= '0' && bytes[i] <= '9') number = (number * 10 + (bytes[i] - '0')) & 0xffffff;
        return number;
    }
    return 0;
}

#endif
