/* CRC32C by the instruction of x86-64 and AArch64 processors, where available. */
#include "CPerchMachine.h"

#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__)

#include <nmmintrin.h>
#define HAS_INSTRUCTION __attribute__((target("sse4.2")))
#define EIGHT(value, word) ((uint32_t)_mm_crc32_u64((value), (word)))
#define ONE(value, byte) _mm_crc32_u8((value), (byte))

bool perch_crc32c_is_available(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.2");
}

#elif defined(__aarch64__) && defined(__linux__)

#include <arm_acle.h>
#include <asm/hwcap.h>
#include <sys/auxv.h>
#define HAS_INSTRUCTION __attribute__((target("crc")))
#define EIGHT(value, word) __crc32cd((value), (word))
#define ONE(value, byte) __crc32cb((value), (byte))

bool perch_crc32c_is_available(void) { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }

#else

bool perch_crc32c_is_available(void) { return false; }

#endif

#ifdef HAS_INSTRUCTION

HAS_INSTRUCTION
uint32_t perch_crc32c(uint32_t value, const void *bytes, size_t count) {
    const uint8_t *at = bytes;
    while (count >= 8) {
        uint64_t word;
        memcpy(&word, at, sizeof word);
        value = EIGHT(value, word);
        at += 8;
        count -= 8;
    }
    while (count > 0) {
        value = ONE(value, *at);
        at += 1;
        count -= 1;
    }
    return value;
}

#else

uint32_t perch_crc32c(uint32_t value, const void *bytes, size_t count) {
    (void)value;
    (void)bytes;
    (void)count;
    abort(); /* Unreachable: callers check `perch_crc32c_is_available`. */
}

#endif
