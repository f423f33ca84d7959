// The bytes of a simulated file.
#ifndef PERCH_FAULTS_CONTENT_H
#define PERCH_FAULTS_CONTENT_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    unsigned char *bytes;
    int64_t count;
    int64_t room;
} content;

static inline void resize(content *of, int64_t count) {
    if (count > of->room) {
        of->room = count * 2;
        if (!(of->bytes = realloc(of->bytes, (size_t)of->room))) abort();
    }
    if (count > of->count) memset(of->bytes + of->count, 0, (size_t)(count - of->count));
    of->count = count;
}

static inline void release(content *of) {
    free(of->bytes);
    *of = (content){0};
}

static inline void copy(content *to, const content *from) {
    resize(to, from->count);
    if (from->count > 0) memcpy(to->bytes, from->bytes, (size_t)from->count);
}

#endif
