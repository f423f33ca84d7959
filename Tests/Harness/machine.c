// Simulates machine failures between a server and the C library, loaded by LD_PRELOAD. For Tests/Crash/machine only.
//
// A file mapped by both sides controls it: the wall clock's offset in nanoseconds, failing syncs, a full disk.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct orders {
    volatile int64_t clock_nanoseconds;
    volatile int64_t syncs_fail;
    volatile int64_t disk_is_full;
};

static struct orders *orders;

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("PERCH_TEST_MACHINE");
    int file = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) return;
    void *at = mmap(0, sizeof *orders, PROT_READ, MAP_SHARED, file, 0);
    close(file);
    if (at != MAP_FAILED) orders = at;
}

int gettimeofday(struct timeval *out, void *zone) {
    (void)zone;
    struct timespec now;
    int clock_gettime(clockid_t, struct timespec *);
    int result = clock_gettime(CLOCK_REALTIME, &now);
    out->tv_sec = now.tv_sec;
    out->tv_usec = now.tv_nsec / 1000;
    return result;
}

int clock_gettime(clockid_t clock, struct timespec *out) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = dlsym(RTLD_NEXT, "clock_gettime");
    int result = real(clock, out);
    if (result == 0 && orders && clock == CLOCK_REALTIME) {
        int64_t at = (int64_t)out->tv_sec * 1000000000 + out->tv_nsec + orders->clock_nanoseconds;
        out->tv_sec = at / 1000000000;
        out->tv_nsec = at % 1000000000;
    }
    return result;
}

static int fails(void) {
    if (!orders || !orders->syncs_fail) return 0;
    errno = EIO;
    return 1;
}

int fsync(int file) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fsync");
    return fails() ? -1 : real(file);
}

int fdatasync(int file) {
    static int (*real)(int);
    if (!real) real = dlsym(RTLD_NEXT, "fdatasync");
    return fails() ? -1 : real(file);
}

// Files only: sockets are written to by send and sendmsg.
static int is_full(void) {
    if (!orders || !orders->disk_is_full) return 0;
    errno = ENOSPC;
    return 1;
}

ssize_t pwrite(int file, const void *bytes, size_t count, off_t offset) {
    static ssize_t (*real)(int, const void *, size_t, off_t);
    if (!real) real = dlsym(RTLD_NEXT, "pwrite");
    return is_full() ? -1 : real(file, bytes, count, offset);
}

ssize_t pwrite64(int file, const void *bytes, size_t count, off64_t offset) {
    static ssize_t (*real)(int, const void *, size_t, off64_t);
    if (!real) real = dlsym(RTLD_NEXT, "pwrite64");
    return is_full() ? -1 : real(file, bytes, count, offset);
}
