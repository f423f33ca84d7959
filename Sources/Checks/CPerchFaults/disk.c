#include "CPerchFaults.h"

#include "content.h"

#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

// MARK: Files

// A file change that is not synced. A truncation has no bytes; its offset is the new size.
typedef struct {
    int64_t offset;
    int64_t count;
    unsigned char *bytes;
} step;

typedef struct {
    char name[64];
    int exists;
    content now;
    // The content that survives a power loss, and the later steps that may survive.
    content synced;
    step *steps;
    int step_count;
    int step_room;
    // Whether the name survives a power loss. If not, and there is a ghost, the file that had the name before may
    // survive.
    int name_is_synced;
    int has_ghost;
    content ghost;
} file;

#define FILES_MAX 8
#define DISKS_MAX 4096

typedef struct {
    file files[FILES_MAX];
    uint64_t random;
    int64_t operations;
    // Operations that change something.
    int64_t changes;
    int64_t syncs;
    int64_t fails_at;
    int fault;
    int fault_stays;
    int next_sync_fails;
    int64_t room;
    int64_t dies_at;
    int64_t dies_in_sync;
    int is_dead;
    // The process that opened the file; files of earlier processes have another number.
    int process;
} disk;

static disk *disks[DISKS_MAX];

static uint64_t draw(disk *on) {
    uint64_t value = on->random += 0x9E3779B97F4A7C15u;
    value = (value ^ (value >> 30)) * 0xBF58476D1CE4E5B9u;
    value = (value ^ (value >> 27)) * 0x94D049BB133111EBu;
    return value ^ (value >> 31);
}

static int64_t below(disk *on, int64_t bound) { return (int64_t)(draw(on) % (uint64_t)bound); }

static void forget_steps(file *of) {
    for (int index = 0; index < of->step_count; index++) free(of->steps[index].bytes);
    of->step_count = 0;
}

static void note(file *of, int64_t offset, const void *bytes, int64_t count) {
    if (of->step_count == of->step_room) {
        of->step_room = of->step_room ? of->step_room * 2 : 16;
        of->steps = realloc(of->steps, sizeof(step) * (size_t)of->step_room);
        if (!of->steps) abort();
    }
    step *next = &of->steps[of->step_count++];
    *next = (step){.offset = offset, .count = count};
    if (!bytes) return;
    next->bytes = malloc((size_t)count);
    if (!next->bytes) abort();
    memcpy(next->bytes, bytes, (size_t)count);
}

static void take(content *to, const step *one) {
    if (!one->bytes) {
        resize(to, one->offset);
        return;
    }
    if (one->offset + one->count > to->count) resize(to, one->offset + one->count);
    memcpy(to->bytes + one->offset, one->bytes, (size_t)one->count);
}

static void change(file *of, int64_t offset, const void *bytes, int64_t count) {
    note(of, offset, bytes, count);
    take(&of->now, &of->steps[of->step_count - 1]);
}

static void sync_names(disk *on) {
    for (int index = 0; index < FILES_MAX; index++) {
        file *of = &on->files[index];
        of->name_is_synced = of->exists;
        of->has_ghost = 0;
        release(&of->ghost);
    }
}

static file *find(disk *on, const char *name) {
    for (int index = 0; index < FILES_MAX; index++) {
        if (on->files[index].name[0] && strcmp(on->files[index].name, name) == 0) return &on->files[index];
    }
    return 0;
}

static file *make(disk *on, const char *name) {
    file *of = find(on, name);
    for (int index = 0; !of && index < FILES_MAX; index++) {
        if (!on->files[index].name[0]) of = &on->files[index];
    }
    if (!of || strlen(name) >= sizeof of->name) return 0;
    strcpy(of->name, name);
    of->exists = 1;
    of->name_is_synced = 0;
    resize(&of->now, 0);
    resize(&of->synced, 0);
    forget_steps(of);
    return of;
}

static void take_name_away(file *of) {
    if (of->name_is_synced) {
        of->has_ghost = 1;
        copy(&of->ghost, &of->synced);
    }
    of->exists = 0;
    of->name_is_synced = 0;
    resize(&of->now, 0);
    resize(&of->synced, 0);
    forget_steps(of);
}

// MARK: Loss of power

// Applies some of the steps that touched a sector, in their order.
static void lose_sector(const file *of, content *into, int64_t sector, int64_t sector_bytes, int64_t kept) {
    int64_t begin = sector * sector_bytes;
    int64_t end = begin + sector_bytes < into->count ? begin + sector_bytes : into->count;
    for (int index = 0; index < of->step_count && kept > 0; index++) {
        const step *one = &of->steps[index];
        if (!one->bytes) {
            int64_t from = one->offset > begin ? one->offset : begin;
            if (from >= end) continue;
            memset(into->bytes + from, 0, (size_t)(end - from));
        } else {
            int64_t from = one->offset > begin ? one->offset : begin;
            int64_t to = one->offset + one->count < end ? one->offset + one->count : end;
            if (from >= to) continue;
            memcpy(into->bytes + from, one->bytes + (from - one->offset), (size_t)(to - from));
        }
        kept--;
    }
}

static int64_t touches(const file *of, int64_t begin, int64_t end) {
    int64_t count = 0;
    for (int index = 0; index < of->step_count; index++) {
        const step *one = &of->steps[index];
        if (!one->bytes ? one->offset < end : (one->offset < end && one->offset + one->count > begin)) count++;
    }
    return count;
}

static void lose(disk *on, file *of) {
    if (!of->exists || !of->name_is_synced) {
        int comes_back = of->has_ghost && below(on, 2);
        if (comes_back) {
            copy(&of->synced, &of->ghost);
            forget_steps(of);
        }
        of->exists = comes_back || (of->exists && below(on, 2));
        of->has_ghost = 0;
        release(&of->ghost);
        if (!of->exists) {
            resize(&of->synced, 0);
            forget_steps(of);
        }
    }
    // All steps, none, the first ones with the last torn, or any.
    int64_t manner = below(on, 4);
    int64_t steps = manner == 0 ? 0 : of->step_count;
    if (manner == 2 && steps > 0) steps = 1 + below(on, steps);
    int64_t sized = manner == 3 && of->step_count > 0 ? below(on, of->step_count + 1) : steps;
    int64_t size = of->synced.count;
    for (int64_t index = 0; index < sized; index++) {
        const step *one = &of->steps[index];
        int64_t end = one->offset + one->count;
        if (!one->bytes) size = one->offset;
        else if (end > size) size = end;
    }
    int64_t sector_bytes = below(on, 2) ? 512 : 4096;
    int fills_with_anything = below(on, 4) == 0;
    content left = {0};
    copy(&left, &of->synced);
    int64_t grown_from = left.count;
    resize(&left, size);
    if (fills_with_anything) {
        for (int64_t at = grown_from; at < size; at++) left.bytes[at] = (unsigned char)draw(on);
    }
    for (int64_t sector = 0; sector * sector_bytes < size; sector++) {
        int64_t touched = touches(of, sector * sector_bytes, (sector + 1) * sector_bytes);
        if (touched == 0) continue;
        int64_t kept = touched;
        if (manner == 0) kept = 0;
        if (manner == 2) {
            kept = 0;
            for (int64_t index = 0; index < steps; index++) {
                file only = *of;
                only.steps = of->steps + index;
                only.step_count = 1;
                int64_t one = touches(&only, sector * sector_bytes, (sector + 1) * sector_bytes);
                if (index == steps - 1 && one && below(on, 2)) one = 0;
                kept += one;
            }
        }
        if (manner == 3) kept = below(on, touched + 1);
        lose_sector(of, &left, sector, sector_bytes, kept);
    }
    copy(&of->now, &left);
    resize(&of->synced, 0);
    copy(&of->synced, &left);
    release(&left);
    forget_steps(of);
    of->name_is_synced = of->exists;
}

// MARK: Operations

typedef struct {
    sqlite3_file base;
    disk *on;
    file *of;
    int process;
} handle;

// Begins an operation. Returns `PERCH_FAULT_NONE` if it may proceed, and a negative value if the process dies in it.
static int begin(disk *on, int changes) {
    if (on->is_dead) return PERCH_FAULT_DEVICE;
    int64_t number = on->operations++;
    if (changes) on->changes++;
    if (changes && on->dies_at >= 0 && on->changes > on->dies_at) {
        on->is_dead = 1;
        return -1;
    }
    if (on->fails_at < 0 || number < on->fails_at) return PERCH_FAULT_NONE;
    if (number > on->fails_at && !on->fault_stays) return PERCH_FAULT_NONE;
    return on->fault;
}

static int is_gone(const handle *own) { return own->on->is_dead || own->process != own->on->process; }

static int disk_close(sqlite3_file *of) {
    (void)of;
    return SQLITE_OK;
}

static int disk_read(sqlite3_file *of, void *bytes, int count, sqlite3_int64 offset) {
    handle *own = (handle *)of;
    if (is_gone(own)) return SQLITE_IOERR_READ;
    int fault = begin(own->on, 0);
    if (fault == PERCH_FAULT_DEVICE) return SQLITE_IOERR_READ;
    int64_t there = own->of->now.count - offset;
    if (there > count) there = count;
    if (there > 0) memcpy(bytes, own->of->now.bytes + offset, (size_t)there);
    if (there == count) return SQLITE_OK;
    if (there < 0) there = 0;
    memset((char *)bytes + there, 0, (size_t)(count - there));
    return SQLITE_IOERR_SHORT_READ;
}

static int64_t bytes_of(disk *on) {
    int64_t bytes = 0;
    for (int index = 0; index < FILES_MAX; index++) bytes += on->files[index].now.count;
    return bytes;
}

static int disk_write(sqlite3_file *of, const void *bytes, int count, sqlite3_int64 offset) {
    handle *own = (handle *)of;
    if (is_gone(own)) return SQLITE_IOERR_WRITE;
    int fault = begin(own->on, 1);
    int64_t growth = offset + count - own->of->now.count;
    if (fault == PERCH_FAULT_NONE && own->on->room >= 0 && growth > 0 && bytes_of(own->on) + growth > own->on->room) {
        fault = PERCH_FAULT_SHORT;
    }
    switch (fault) {
    case PERCH_FAULT_NONE:
        change(own->of, offset, bytes, count);
        return SQLITE_OK;
    case PERCH_FAULT_FULL: return SQLITE_FULL;
    case PERCH_FAULT_SHORT:
        if (count > 1) change(own->of, offset, bytes, count / 2);
        return SQLITE_FULL;
    default: {
        int64_t done = below(own->on, count + 1);
        if (done > 0) change(own->of, offset, bytes, done);
        return SQLITE_IOERR_WRITE;
    }
    }
}

static int disk_truncate(sqlite3_file *of, sqlite3_int64 size) {
    handle *own = (handle *)of;
    if (is_gone(own)) return SQLITE_IOERR_TRUNCATE;
    int fault = begin(own->on, 1);
    if (fault == PERCH_FAULT_DEVICE || fault < 0) return SQLITE_IOERR_TRUNCATE;
    change(own->of, size, 0, 0);
    return SQLITE_OK;
}

static int disk_sync(sqlite3_file *of, int flags) {
    (void)flags;
    handle *own = (handle *)of;
    if (is_gone(own)) return SQLITE_IOERR_FSYNC;
    int fault = begin(own->on, 1);
    if (fault == PERCH_FAULT_NONE && own->on->next_sync_fails) {
        own->on->next_sync_fails = 0;
        fault = PERCH_FAULT_DEVICE;
    }
    if (own->on->dies_in_sync >= 0 && own->on->dies_in_sync-- == 0) own->on->is_dead = 1;
    if (own->on->is_dead) return SQLITE_IOERR_FSYNC;
    if (fault != PERCH_FAULT_NONE) {
        // Readers still see the written data, but the kernel treats it as clean: some of it never reaches the disk.
        for (int index = 0; index < own->of->step_count; index++) {
            if (below(own->on, 2)) take(&own->of->synced, &own->of->steps[index]);
        }
        forget_steps(own->of);
        return SQLITE_IOERR_FSYNC;
    }
    for (int index = 0; index < own->of->step_count; index++) take(&own->of->synced, &own->of->steps[index]);
    forget_steps(own->of);
    if (!own->of->name_is_synced && own->of->exists) sync_names(own->on);
    own->on->syncs++;
    return SQLITE_OK;
}

static int disk_size(sqlite3_file *of, sqlite3_int64 *size) {
    handle *own = (handle *)of;
    if (is_gone(own)) return SQLITE_IOERR_FSTAT;
    *size = own->of->now.count;
    return SQLITE_OK;
}

static int disk_lock(sqlite3_file *of, int level) {
    (void)of;
    (void)level;
    return SQLITE_OK;
}

static int disk_check_reserved(sqlite3_file *of, int *is_reserved) {
    (void)of;
    *is_reserved = 0;
    return SQLITE_OK;
}

static int disk_control(sqlite3_file *of, int operation, void *argument) {
    (void)of;
    (void)operation;
    (void)argument;
    return SQLITE_NOTFOUND;
}

// As in SQLite's own file system.
static int disk_sector_size(sqlite3_file *of) {
    (void)of;
    return 4096;
}
static int disk_characteristics(sqlite3_file *of) {
    (void)of;
    return SQLITE_IOCAP_POWERSAFE_OVERWRITE;
}

static const sqlite3_io_methods disk_methods = {
    .iVersion = 1,
    .xClose = disk_close,
    .xRead = disk_read,
    .xWrite = disk_write,
    .xTruncate = disk_truncate,
    .xSync = disk_sync,
    .xFileSize = disk_size,
    .xLock = disk_lock,
    .xUnlock = disk_lock,
    .xCheckReservedLock = disk_check_reserved,
    .xFileControl = disk_control,
    .xSectorSize = disk_sector_size,
    .xDeviceCharacteristics = disk_characteristics,
};

// MARK: The file system

static disk *disk_of(const char *path) {
    if (!path || path[0] != '/') return 0;
    long number = strtol(path + 1, 0, 10);
    return number > 0 && number < DISKS_MAX ? disks[number] : 0;
}

static int system_open(sqlite3_vfs *system, sqlite3_filename name, sqlite3_file *out, int flags, int *flags_out) {
    (void)system;
    handle *own = (handle *)out;
    memset(own, 0, sizeof *own);
    disk *on = disk_of(name);
    if (!on || on->is_dead) return SQLITE_CANTOPEN;
    file *of = find(on, name);
    int is_new = !of || !of->exists;
    if (begin(on, is_new) != PERCH_FAULT_NONE) return SQLITE_CANTOPEN;
    if (is_new) {
        if (!(flags & SQLITE_OPEN_CREATE)) return SQLITE_CANTOPEN;
        of = make(on, name);
        if (!of) return SQLITE_CANTOPEN;
        // Perch creates the file and syncs its name before SQLite opens it.
        if (flags & SQLITE_OPEN_MAIN_DB) of->name_is_synced = 1;
    }
    own->on = on;
    own->of = of;
    own->process = on->process;
    own->base.pMethods = &disk_methods;
    if (flags_out) *flags_out = flags;
    return SQLITE_OK;
}

static int system_delete(sqlite3_vfs *system, const char *name, int syncs_directory) {
    (void)system;
    disk *on = disk_of(name);
    if (!on || on->is_dead) return SQLITE_IOERR_DELETE;
    int fault = begin(on, 1);
    if (fault == PERCH_FAULT_DEVICE || fault < 0) return SQLITE_IOERR_DELETE;
    file *of = find(on, name);
    if (!of || !of->exists) return SQLITE_IOERR_DELETE_NOENT;
    take_name_away(of);
    if (syncs_directory) sync_names(on);
    return SQLITE_OK;
}

static int system_access(sqlite3_vfs *system, const char *name, int flags, int *result) {
    (void)system;
    disk *on = disk_of(name);
    file *of = on ? find(on, name) : 0;
    *result = of && of->exists && (flags != SQLITE_ACCESS_EXISTS || of->now.count > 0);
    return SQLITE_OK;
}

static int system_full_path(sqlite3_vfs *system, const char *name, int count, char *out) {
    (void)system;
    sqlite3_snprintf(count, out, "%s", name);
    return SQLITE_OK;
}

static sqlite3_vfs *standard;

static int system_randomness(sqlite3_vfs *system, int count, char *out) {
    (void)system;
    return standard->xRandomness(standard, count, out);
}
static int system_sleep(sqlite3_vfs *system, int microseconds) {
    (void)system;
    return microseconds;
}
static int system_time(sqlite3_vfs *system, double *out) {
    (void)system;
    return standard->xCurrentTime(standard, out);
}
static int system_last_error(sqlite3_vfs *system, int count, char *out) {
    (void)system;
    (void)count;
    (void)out;
    return 0;
}

static sqlite3_vfs faulty = {
    .iVersion = 1,
    .szOsFile = sizeof(handle),
    .mxPathname = 64,
    .zName = "faulty",
    .xOpen = system_open,
    .xDelete = system_delete,
    .xAccess = system_access,
    .xFullPathname = system_full_path,
    .xRandomness = system_randomness,
    .xSleep = system_sleep,
    .xCurrentTime = system_time,
    .xGetLastError = system_last_error,
};

// MARK: Disks

int perch_disk_create(uint64_t seed) {
    if (sqlite3_initialize() != SQLITE_OK) abort();
    disk *made = calloc(1, sizeof *made);
    if (!made) abort();
    made->random = seed;
    made->fails_at = made->dies_at = made->dies_in_sync = made->room = -1;
    sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP2);
    sqlite3_mutex_enter(mutex);
    if (!standard) {
        standard = sqlite3_vfs_find(0);
        if (!standard || sqlite3_vfs_register(&faulty, 0) != SQLITE_OK) abort();
    }
    int number = 1;
    while (number < DISKS_MAX && disks[number]) number++;
    if (number == DISKS_MAX) abort();
    disks[number] = made;
    sqlite3_mutex_leave(mutex);
    return number;
}

void perch_disk_destroy(int number) {
    disk *on = disks[number];
    for (int index = 0; index < FILES_MAX; index++) {
        file *of = &on->files[index];
        forget_steps(of);
        free(of->steps);
        release(&of->now);
        release(&of->synced);
        release(&of->ghost);
    }
    free(on);
    sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP2);
    sqlite3_mutex_enter(mutex);
    disks[number] = 0;
    sqlite3_mutex_leave(mutex);
}

int64_t perch_disk_operations(int number) { return disks[number]->operations; }
int64_t perch_disk_bytes(int number) { return bytes_of(disks[number]); }
int64_t perch_disk_syncs(int number) { return disks[number]->syncs; }

void perch_disk_fail(int number, int64_t ahead, int fault, int stays) {
    disk *on = disks[number];
    on->fails_at = on->operations + ahead;
    on->fault = fault;
    on->fault_stays = stays;
}

void perch_disk_fail_next_sync(int number) { disks[number]->next_sync_fails = 1; }

void perch_disk_heal(int number) {
    disk *on = disks[number];
    on->fails_at = -1;
    on->fault_stays = 0;
    on->next_sync_fails = 0;
    on->dies_at = -1;
    on->dies_in_sync = -1;
}

void perch_disk_set_room(int number, int64_t bytes) { disks[number]->room = bytes; }

void perch_disk_die(int number, int64_t ahead) {
    disk *on = disks[number];
    on->dies_at = on->changes + ahead;
    if (ahead < 0) on->is_dead = 1;
}

void perch_disk_die_in_sync(int number, int64_t ahead) { disks[number]->dies_in_sync = ahead; }

int perch_disk_is_dead(int number) { return disks[number]->is_dead; }

void perch_disk_start(int number, int power_was_lost) {
    disk *on = disks[number];
    on->process++;
    on->is_dead = 0;
    on->dies_at = -1;
    on->dies_in_sync = -1;
    on->fails_at = -1;
    on->next_sync_fails = 0;
    if (!power_was_lost) return;
    for (int index = 0; index < FILES_MAX; index++) {
        if (on->files[index].name[0]) lose(on, &on->files[index]);
    }
}
