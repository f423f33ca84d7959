#include "CPerchSQLite.h"

#include <stdint.h>
#include <string.h>

// MARK: CRC32C

static uint32_t table[8][256];

static void fill_table(void) {
    for (uint32_t index = 0; index < 256; index++) {
        uint32_t value = index;
        for (int bit = 0; bit < 8; bit++) value = value & 1 ? (value >> 1) ^ 0x82F63B78u : value >> 1;
        table[0][index] = value;
    }
    for (int step = 1; step < 8; step++) {
        for (int index = 0; index < 256; index++) {
            uint32_t previous = table[step - 1][index];
            table[step][index] = (previous >> 8) ^ table[0][previous & 0xFF];
        }
    }
}

// `count` is a multiple of eight.
static uint32_t crc_by_table(uint32_t value, const unsigned char *bytes, int count) {
    for (int offset = 0; offset < count; offset += 8) {
        const unsigned char *at = bytes + offset;
        uint32_t low = value ^ ((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
        value = table[7][low & 0xFF] ^ table[6][low >> 8 & 0xFF] ^ table[5][low >> 16 & 0xFF] ^ table[4][low >> 24]
            ^ table[3][at[4]] ^ table[2][at[5]] ^ table[1][at[6]] ^ table[0][at[7]];
    }
    return value;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) static uint32_t crc_by_instruction(
    uint32_t value, const unsigned char *bytes, int count) {
    uint64_t wide = value;
    for (int offset = 0; offset < count; offset += 8) {
        uint64_t word;
        memcpy(&word, bytes + offset, sizeof word);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    return (uint32_t)wide;
}
#endif

static uint32_t (*crc)(uint32_t, const unsigned char *, int) = crc_by_table;

// The checksum of a page's number and content, in whole words; the checksum's own place in the last word counts as
// zeros.
static uint32_t page_checksum(const unsigned char *page, sqlite3_int64 number) {
    unsigned char head[8];
    unsigned char tail[8] = {0};
    for (int index = 0; index < 8; index++) head[index] = (unsigned char)((uint64_t)number >> (8 * index));
    memcpy(tail, page + PERCH_PAGE_BYTES - 8, 8 - PERCH_PAGE_RESERVED_BYTES);
    uint32_t value = crc(~0u, head, 8);
    value = crc(value, page, PERCH_PAGE_BYTES - 8);
    return ~crc(value, tail, 8);
}

static uint32_t stored_checksum(const unsigned char *page) {
    const unsigned char *at = page + PERCH_PAGE_BYTES - PERCH_PAGE_RESERVED_BYTES;
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void store_checksum(unsigned char *page, uint32_t value) {
    unsigned char *at = page + PERCH_PAGE_BYTES - PERCH_PAGE_RESERVED_BYTES;
    for (int index = 0; index < 4; index++) at[index] = (unsigned char)(value >> (8 * index));
}

// A hole is a page that was allocated and freed before it was ever written. SQLite never uses its content.
static int is_hole(const unsigned char *page) {
    return page[0] == 0 && memcmp(page, page + 1, PERCH_PAGE_BYTES - 1) == 0;
}

int perch_page_is_intact(const unsigned char *page, sqlite3_int64 number) {
    return page_checksum(page, number) == stored_checksum(page) || is_hole(page);
}

// MARK: A main file

// Offset of the header field that gives the reserved bytes of each page.
#define RESERVED_OFFSET 20
#define HEADER_BYTES 100

typedef struct {
    sqlite3_file base;
    // Whether the header says that pages end with a checksum. Files of other programs lack it and are refused by their
    // application id. A Perch file whose header lost this byte is refused for that.
    int has_checksums;
    sqlite3_int64 pages_written;
    unsigned char *scratch;
} main_file;

// The default file system's file follows ours, in the space that `szOsFile` reserves.
static sqlite3_file *real(sqlite3_file *file) { return (sqlite3_file *)((main_file *)file + 1); }

static int is_page(int count, sqlite3_int64 offset) {
    return count == PERCH_PAGE_BYTES && offset % PERCH_PAGE_BYTES == 0;
}

static void look_at_header(main_file *file, const unsigned char *bytes, int count, sqlite3_int64 offset) {
    if (offset == 0 && count >= HEADER_BYTES) file->has_checksums = bytes[RESERVED_OFFSET] == PERCH_PAGE_RESERVED_BYTES;
}

static int file_close(sqlite3_file *file) {
    sqlite3_free(((main_file *)file)->scratch);
    return real(file)->pMethods->xClose(real(file));
}

static int file_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 offset) {
    int code = real(file)->pMethods->xRead(real(file), bytes, count, offset);
    if (code != SQLITE_OK) return code;
    look_at_header((main_file *)file, bytes, count, offset);
    if (!((main_file *)file)->has_checksums || !is_page(count, offset)) return SQLITE_OK;
    sqlite3_int64 number = offset / PERCH_PAGE_BYTES;
    if (perch_page_is_intact(bytes, number)) return SQLITE_OK;
    sqlite3_log(SQLITE_IOERR_DATA, "page %lld does not bear its checksum", number + 1);
    return SQLITE_IOERR_DATA;
}

static int file_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 offset) {
    main_file *own = (main_file *)file;
    look_at_header(own, bytes, count, offset);
    if (own->has_checksums && is_page(count, offset)) {
        // The buffer is SQLite's page cache, which must not be changed.
        memcpy(own->scratch, bytes, PERCH_PAGE_BYTES);
        store_checksum(own->scratch, page_checksum(own->scratch, offset / PERCH_PAGE_BYTES));
        bytes = own->scratch;
        own->pages_written++;
    }
    return real(file)->pMethods->xWrite(real(file), bytes, count, offset);
}

static int file_truncate(sqlite3_file *file, sqlite3_int64 size) {
    return real(file)->pMethods->xTruncate(real(file), size);
}
static int file_sync(sqlite3_file *file, int flags) { return real(file)->pMethods->xSync(real(file), flags); }
static int file_size(sqlite3_file *file, sqlite3_int64 *size) {
    return real(file)->pMethods->xFileSize(real(file), size);
}
static int file_lock(sqlite3_file *file, int level) { return real(file)->pMethods->xLock(real(file), level); }
static int file_unlock(sqlite3_file *file, int level) { return real(file)->pMethods->xUnlock(real(file), level); }
static int file_check_reserved(sqlite3_file *file, int *is_reserved) {
    return real(file)->pMethods->xCheckReservedLock(real(file), is_reserved);
}
static int file_control(sqlite3_file *file, int operation, void *argument) {
    if (operation == PERCH_FCNTL_PAGES_WRITTEN) {
        *(sqlite3_int64 *)argument = ((main_file *)file)->pages_written;
        return SQLITE_OK;
    }
    return real(file)->pMethods->xFileControl(real(file), operation, argument);
}
static int file_sector_size(sqlite3_file *file) { return real(file)->pMethods->xSectorSize(real(file)); }
static int file_characteristics(sqlite3_file *file) {
    return real(file)->pMethods->xDeviceCharacteristics(real(file));
}

// Version 1 offers neither shared memory nor mapped pages, because those would bypass `file_read`.
static const sqlite3_io_methods main_file_methods = {
    .iVersion = 1,
    .xClose = file_close,
    .xRead = file_read,
    .xWrite = file_write,
    .xTruncate = file_truncate,
    .xSync = file_sync,
    .xFileSize = file_size,
    .xLock = file_lock,
    .xUnlock = file_unlock,
    .xCheckReservedLock = file_check_reserved,
    .xFileControl = file_control,
    .xSectorSize = file_sector_size,
    .xDeviceCharacteristics = file_characteristics,
};

// MARK: The file system

// The file system below a checking one.
static sqlite3_vfs *under(sqlite3_vfs *system) { return system->pAppData; }

static int system_open(sqlite3_vfs *system, sqlite3_filename name, sqlite3_file *file, int flags, int *flags_out) {
    sqlite3_vfs *base = under(system);
    // Logs and temporary files pass through; the log has its own checksums.
    if (!(flags & SQLITE_OPEN_MAIN_DB)) return base->xOpen(base, name, file, flags, flags_out);
    main_file *own = (main_file *)file;
    memset(own, 0, sizeof *own);
    int code = base->xOpen(base, name, real(file), flags, flags_out);
    if (code != SQLITE_OK) return code;
    own->scratch = sqlite3_malloc(PERCH_PAGE_BYTES);
    if (!own->scratch) {
        real(file)->pMethods->xClose(real(file));
        return SQLITE_NOMEM;
    }
    own->base.pMethods = &main_file_methods;
    return SQLITE_OK;
}

static int system_delete(sqlite3_vfs *system, const char *name, int sync_directory) {
    return under(system)->xDelete(under(system), name, sync_directory);
}
static int system_access(sqlite3_vfs *system, const char *name, int flags, int *result) {
    return under(system)->xAccess(under(system), name, flags, result);
}
static int system_full_path(sqlite3_vfs *system, const char *name, int count, char *out) {
    return under(system)->xFullPathname(under(system), name, count, out);
}
static int system_randomness(sqlite3_vfs *system, int count, char *out) {
    return under(system)->xRandomness(under(system), count, out);
}
static int system_sleep(sqlite3_vfs *system, int microseconds) {
    return under(system)->xSleep(under(system), microseconds);
}
static int system_time(sqlite3_vfs *system, double *out) { return under(system)->xCurrentTime(under(system), out); }
static int system_last_error(sqlite3_vfs *system, int count, char *out) {
    return under(system)->xGetLastError(under(system), count, out);
}

#define NAME_BYTES_MAX 32

typedef struct {
    sqlite3_vfs system;
    char name[NAME_BYTES_MAX];
} checking_system;

static int register_over(const char *base, const char *name) {
    if (sqlite3_vfs_find(name)) return SQLITE_OK;
    sqlite3_vfs *found = sqlite3_vfs_find(base);
    if (!found || strlen(name) >= NAME_BYTES_MAX) return SQLITE_ERROR;
    // Never freed, because SQLite refers to it from now on.
    checking_system *made = sqlite3_malloc(sizeof *made);
    if (!made) return SQLITE_NOMEM;
    memset(made, 0, sizeof *made);
    strcpy(made->name, name);
    made->system = (sqlite3_vfs){
        .iVersion = 1,
        .szOsFile = (int)sizeof(main_file) + found->szOsFile,
        .mxPathname = found->mxPathname,
        .zName = made->name,
        .pAppData = found,
        .xOpen = system_open,
        .xDelete = system_delete,
        .xAccess = system_access,
        .xFullPathname = system_full_path,
        .xRandomness = system_randomness,
        .xSleep = system_sleep,
        .xCurrentTime = system_time,
        .xGetLastError = system_last_error,
    };
    int code = sqlite3_vfs_register(&made->system, 0);
    if (code != SQLITE_OK) sqlite3_free(made);
    return code;
}

int perch_register_file_system(const char *base, const char *name) {
    static int has_begun;
    int code = sqlite3_initialize();
    if (code != SQLITE_OK) return code;
    sqlite3_mutex *mutex = sqlite3_mutex_alloc(SQLITE_MUTEX_STATIC_APP1);
    sqlite3_mutex_enter(mutex);
    if (!has_begun) {
        fill_table();
#if defined(__x86_64__)
        if (__builtin_cpu_supports("sse4.2")) crc = crc_by_instruction;
#endif
        has_begun = 1;
    }
    code = register_over(base, name);
    sqlite3_mutex_leave(mutex);
    return code;
}

// MARK: The log

static int note_pages(void *pages, sqlite3 *connection, const char *schema, int count) {
    (void)connection;
    (void)schema;
    *(int *)pages = count;
    return SQLITE_OK;
}

void perch_count_log_pages(sqlite3 *connection, int *pages) {
    *pages = -1;
    sqlite3_wal_hook(connection, note_pages, pages);
}
