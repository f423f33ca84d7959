#ifndef CPERCHSQLITE_H
#define CPERCHSQLITE_H

#include <sqlite3.h>
// getrandom, which Swift's module of the C library leaves out.
#include <sys/random.h>

// A page of a store's file. Its last bytes hold a checksum over its number and its content.
#define PERCH_PAGE_BYTES 4096
#define PERCH_PAGE_RESERVED_BYTES 4

// Registers a file system `name`: the one called `base` (null: the default one), and a checksum in each page of a main
// file, written whenever a page is and verified whenever one is read. SQLite itself has none: without it, a flipped bit
// in an index is an account that is not found. A page that does not bear its checksum is SQLITE_IOERR_DATA.
//
// Without shared memory on purpose: a write-ahead log is then possible in exclusive mode only. May be called often, and
// by any thread.
int perch_register_file_system(const char *base, const char *name);

// Whether a page bears its checksum: the first is number 0. For who reads a file past SQLite, to look at pages that are in
// no use as well. After a file system was registered.
int perch_page_is_intact(const unsigned char *page, sqlite3_int64 number);

// A file control of a main file: how many pages were written to it since it was opened, as a sqlite3_int64.
#define PERCH_FCNTL_PAGES_WRITTEN 0x50524301

// Copies the bytes. SQLITE_TRANSIENT is a cast that Swift does not import.
static inline int perch_bind_bytes(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

// Leaves the log as it is when the connection closes: for one whose last writes are in doubt. Variadic in C.
static inline int perch_keep_log_on_close(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

// Counts the pages of the log into `pages` after each commit; -1 until the first. Replaces SQLite's own checkpointing,
// which would swallow the failure of an fsync. The variable outlives the connection.
void perch_count_log_pages(sqlite3 *connection, int *pages);

#endif
