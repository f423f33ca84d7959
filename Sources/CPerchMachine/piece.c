#define _GNU_SOURCE
#include "CPerchMachine.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void *mapping(void *address) { return address == MAP_FAILED ? NULL : address; }

void *perch_piece_resize(void *piece, size_t from, size_t to, size_t mapped_from) {
    if (from >= mapped_from && to >= mapped_from) return mapping(mremap(piece, from, to, MREMAP_MAYMOVE));
    if (from < mapped_from && to < mapped_from) return realloc(piece, to);
    void *moved = to < mapped_from
        ? malloc(to) : mapping(mmap(NULL, to, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (moved == NULL) return NULL;
    if (piece != NULL) memcpy(moved, piece, from < to ? from : to);
    perch_piece_free(piece, from, mapped_from);
    return moved;
}

void perch_piece_free(void *piece, size_t bytes, size_t mapped_from) {
    if (bytes < mapped_from) free(piece);
    else munmap(piece, bytes);
}
