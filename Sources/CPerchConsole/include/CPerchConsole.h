#ifndef CPERCHCONSOLE_H
#define CPERCHCONSOLE_H

/* The files that the console consists of, as bytes. */

#include <stddef.h>

/* `name` is the file's, with `_` for each character that an identifier cannot have. */
struct perch_console_file {
    const char *name;
    const unsigned char *bytes;
    size_t count;
};

/* NULL behind the last file. */
const struct perch_console_file *perch_console_file(size_t index);

#endif
