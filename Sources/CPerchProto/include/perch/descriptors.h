/* Generated from proto/ by `make proto`. Do not edit. */
#ifndef PERCH_DESCRIPTORS_H
#define PERCH_DESCRIPTORS_H

#include <stddef.h>
#include <stdint.h>

/* A serialized google.protobuf.FileDescriptorSet of proto/perch, each file after those that it imports. */
extern const size_t perch_descriptors_count;
extern const uint8_t perch_descriptors[];

/* Swift imports no array of unknown length. */
static inline const uint8_t *perch_descriptors_start(void) {
    return perch_descriptors;
}

#endif
