#ifndef CPERCHFUZZDRIVER_H
#define CPERCHFUZZDRIVER_H

#include <stddef.h>
#include <stdint.h>

// libFuzzer's own main, without its name: SwiftPM links executables with a main of theirs.
int LLVMFuzzerRunDriver(int *count, char ***arguments, int (*take)(const uint8_t *start, size_t count));

#endif
