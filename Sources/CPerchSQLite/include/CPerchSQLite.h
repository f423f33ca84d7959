#ifndef CPERCHSQLITE_H
#define CPERCHSQLITE_H

#include <sqlite3.h>
// getrandom, which Swift's Glibc module lacks.
#include <sys/random.h>

// The page size of a store file. A page's last bytes hold a checksum of its number and content.
#define PERCH_PAGE_BYTES 4096
#define PERCH_PAGE_RESERVED_BYTES 4

// Registers a file system `name` that adds a checksum to each page of a main file of the file system `base` (null: the
// default one). It is written with each page and verified with each read; a mismatch is SQLITE_IOERR_DATA. SQLite has
// no checksums of its own, so a flipped bit in an index could make an account unreachable.
//
// It offers no shared memory on purpose: a write-ahead log then needs exclusive mode. Any thread may call it,
// repeatedly.
int perch_register_file_system(const char *base, const char *name);

// Whether a page matches its checksum; the first page has number 0. For readers that bypass SQLite to check unused
// pages too. A file system must be registered first.
int perch_page_is_intact(const unsigned char *page, sqlite3_int64 number);

// A file control of a main file: the number of pages written since it was opened, as a sqlite3_int64.
#define PERCH_FCNTL_PAGES_WRITTEN 0x50524301

// Binds a copy of the bytes. SQLITE_TRANSIENT is a cast that Swift does not import.
static inline int perch_bind_bytes(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    if (count == 0) return sqlite3_bind_zeroblob(statement, index, 0);
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

// Keeps the log when the connection closes, for a log whose last writes are uncertain. The C function is variadic.
static inline int perch_keep_log_on_close(sqlite3 *connection) {
    return sqlite3_db_config(connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, (int *)0);
}

// Counts the pages of the log into `pages` after each commit; -1 until the first. Replaces SQLite's checkpointing,
// which would ignore a failed fsync. The variable must outlive the connection.
void perch_count_log_pages(sqlite3 *connection, int *pages);

#endif
