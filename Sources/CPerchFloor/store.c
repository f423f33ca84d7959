// The SQLite store of the baseline server: see store.h.
//
// It writes the tables and indexes of a Perch purchase, with Perch's columns, settings and lengths
// (Sources/PerchSQLite/Schema.swift, Query.swift; `perch bench buy --floor` compares the two). It decides, reads,
// encodes and sums nothing: the blobs are prebuilt, and the file system is SQLite's.
#include "store.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    // Lengths of Perch's blobs for a bench purchase: SELECT avg(length(blob)) of a store that was measured with `perch
    // bench buy --connect`.
    HEADER_BYTES = 34, RECORD_BYTES = 110, FACT_BYTES = 86, OPENING_BYTES = 27,
    PAGE_BYTES = 4096,
};

static const char *const schema =
    "PRAGMA locking_mode = EXCLUSIVE; PRAGMA page_size = 4096; PRAGMA mmap_size = 0; PRAGMA temp_store = MEMORY;"
    "PRAGMA cache_size = -65536; PRAGMA synchronous = FULL;"
    "PRAGMA journal_mode = WAL; PRAGMA wal_autocheckpoint = 0; BEGIN;"
    "CREATE TABLE header (id INTEGER PRIMARY KEY CHECK (id = 1), blob BLOB NOT NULL);"
    "CREATE TABLE aliases (app INTEGER NOT NULL, key BLOB NOT NULL, account INTEGER NOT NULL, PRIMARY KEY (app, key))"
    " WITHOUT ROWID;"
    "CREATE TABLE accounts (account INTEGER NOT NULL, kind INTEGER NOT NULL, first INTEGER NOT NULL,"
    " second INTEGER NOT NULL, mark INTEGER NOT NULL, revision INTEGER, ordinal INTEGER, blob BLOB,"
    " PRIMARY KEY (account, kind, first, second)) WITHOUT ROWID;"
    "CREATE TABLE transactions (app INTEGER NOT NULL, id INTEGER NOT NULL, account INTEGER NOT NULL,"
    " purchase_date INTEGER NOT NULL, state INTEGER NOT NULL, spends INTEGER NOT NULL, PRIMARY KEY (app, id))"
    " WITHOUT ROWID;"
    "CREATE TABLE facts (revision INTEGER NOT NULL, ordinal INTEGER NOT NULL, account INTEGER NOT NULL,"
    " blob BLOB NOT NULL, PRIMARY KEY (revision, ordinal)) WITHOUT ROWID;"
    "CREATE TABLE commits (revision INTEGER PRIMARY KEY, committed INTEGER NOT NULL, app INTEGER,"
    " next_transaction INTEGER, next_account INTEGER, blob BLOB, account INTEGER, fact BLOB); COMMIT";

enum {
    BEGIN, COMMIT, SET_HEADER, SET_ALIAS, SET_RECORD, INSERT_PLACE, INSERT_TRANSACTION, INSERT_FACT, LIST_FACT, INSERT_COMMIT,
    STATEMENTS,
};

static const char *const texts[STATEMENTS] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [SET_HEADER] = "INSERT OR REPLACE INTO header (id, blob) VALUES (1, ?1)",
    [SET_ALIAS] = "INSERT OR REPLACE INTO aliases VALUES (1, ?1, ?2)",
    [SET_RECORD] = "INSERT OR REPLACE INTO accounts VALUES (?1, 0, 0, 0, 0, NULL, NULL, ?2)",
    [INSERT_PLACE] = "INSERT INTO transactions VALUES (1, ?1, ?2, ?3, 0, 0)",
    [INSERT_TRANSACTION] = "INSERT INTO accounts VALUES (?1, -1, ?2, ?3, 3735928559, ?4, ?5, NULL)",
    [INSERT_FACT] = "INSERT INTO facts VALUES (?1, ?2, ?3, ?4)",
    [LIST_FACT] = "INSERT INTO accounts VALUES (?1, 1, ?2, ?3, ?4, NULL, NULL, NULL)",
    [INSERT_COMMIT] = "INSERT INTO commits VALUES (?1, ?2, 1, ?1, ?1, NULL, ?3, ?4)",
};

static struct {
    sqlite3 *handle;
    sqlite3_stmt *statements[STATEMENTS];
    bool is_open;  // a batch
    int log_pages, log_pages_bound;
    int64_t now;
    uint8_t *is_known;  // a bit for each account that has an alias
    uint32_t known_count;
    uint8_t blob[512];
} store_;

static void fail(const char *what) {
    fprintf(stderr, "floor: %s: %s\n", what, sqlite3_errmsg(store_.handle));
    exit(1);
}

static int count_pages(void *unused, sqlite3 *handle, const char *name, int pages) {
    (void)unused, (void)handle, (void)name;
    store_.log_pages = pages;
    return SQLITE_OK;
}

int floor_store_open(const struct perch_floor_settings *settings) {
    char path[4096];
    if (snprintf(path, sizeof(path), "%s/floor.db", settings->store) >= (int)sizeof(path)) return ENAMETOOLONG;
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX;
    if (sqlite3_open_v2(path, &store_.handle, flags, NULL) != SQLITE_OK) return EIO;
    if (sqlite3_exec(store_.handle, schema, NULL, NULL, NULL) != SQLITE_OK) fail("its schema");
    char limit[64];
    snprintf(limit, sizeof(limit), "PRAGMA journal_size_limit = %u", settings->log_bytes);
    if (sqlite3_exec(store_.handle, limit, NULL, NULL, NULL) != SQLITE_OK) fail(limit);
    for (int i = 0; i < STATEMENTS; i++)
        if (sqlite3_prepare_v3(store_.handle, texts[i], -1, SQLITE_PREPARE_PERSISTENT, &store_.statements[i], NULL))
            fail(texts[i]);
    sqlite3_wal_hook(store_.handle, count_pages, NULL);
    store_.log_pages_bound = (int)(settings->log_bytes / PAGE_BYTES);
    memset(store_.blob, 'f', sizeof(store_.blob));
    return 0;
}

static void run(int which) {
    sqlite3_stmt *statement = store_.statements[which];
    if (sqlite3_step(statement) != SQLITE_DONE) fail(texts[which]);
    sqlite3_reset(statement);
}

static void bind_number(int which, int place, int64_t value) {
    sqlite3_bind_int64(store_.statements[which], place, value);
}

static void bind_blob(int which, int place, const void *bytes, int count) {
    sqlite3_bind_blob(store_.statements[which], place, bytes, count, SQLITE_STATIC);
}

static void begin(void) {
    // Checkpoints before a batch if the log is long, as Perch does.
    if (store_.log_pages >= store_.log_pages_bound) {
        if (sqlite3_wal_checkpoint_v2(store_.handle, NULL, SQLITE_CHECKPOINT_PASSIVE, NULL, NULL)) fail("a checkpoint");
        store_.log_pages = 0;
    }
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    store_.now = now.tv_sec * 1000 + now.tv_nsec / 1000000;
    run(BEGIN);
    store_.is_open = true;
}

static void list_fact(uint32_t account, uint64_t revision, int ordinal, int is_event) {
    bind_number(LIST_FACT, 1, account);
    bind_number(LIST_FACT, 2, -(int64_t)revision);
    bind_number(LIST_FACT, 3, -ordinal);
    bind_number(LIST_FACT, 4, is_event);
    run(LIST_FACT);
}

// Opens an account at its first purchase. Returns false if it exists.
static bool open_account(uint32_t account) {
    if (account / 8 >= store_.known_count) {
        uint32_t count = account / 8 + 4096;
        store_.is_known = realloc(store_.is_known, count);
        if (!store_.is_known) fail("memory");
        memset(store_.is_known + store_.known_count, 0, count - store_.known_count);
        store_.known_count = count;
    }
    if (store_.is_known[account / 8] & 1 << account % 8) return false;
    store_.is_known[account / 8] |= (uint8_t)(1 << account % 8);
    char key[32];
    int count = snprintf(key, sizeof(key), "bench-%09u", account);
    bind_blob(SET_ALIAS, 1, key, count);
    bind_number(SET_ALIAS, 2, account);
    run(SET_ALIAS);
    return true;
}

void floor_store_add(uint32_t account, uint64_t revision) {
    if (!store_.is_open) begin();
    bool is_new = open_account(account);
    bind_number(INSERT_COMMIT, 1, (int64_t)revision);
    bind_number(INSERT_COMMIT, 2, store_.now);
    bind_number(INSERT_COMMIT, 3, account);
    bind_blob(INSERT_COMMIT, 4, store_.blob, is_new ? OPENING_BYTES : FACT_BYTES);
    run(INSERT_COMMIT);
    if (is_new) {
        list_fact(account, revision, 0, 0);
        bind_number(INSERT_FACT, 1, (int64_t)revision);
        bind_number(INSERT_FACT, 2, 1);
        bind_number(INSERT_FACT, 3, account);
        bind_blob(INSERT_FACT, 4, store_.blob, FACT_BYTES);
        run(INSERT_FACT);
    }
    list_fact(account, revision, is_new ? 1 : 0, 1);
    bind_number(INSERT_PLACE, 1, (int64_t)revision);
    bind_number(INSERT_PLACE, 2, account);
    bind_number(INSERT_PLACE, 3, store_.now);
    run(INSERT_PLACE);
    bind_number(INSERT_TRANSACTION, 1, account);
    bind_number(INSERT_TRANSACTION, 2, store_.now);
    bind_number(INSERT_TRANSACTION, 3, (int64_t)revision);
    bind_number(INSERT_TRANSACTION, 4, (int64_t)revision);
    bind_number(INSERT_TRANSACTION, 5, is_new ? 1 : 0);
    run(INSERT_TRANSACTION);
    bind_number(SET_RECORD, 1, account);
    bind_blob(SET_RECORD, 2, store_.blob, RECORD_BYTES);
    run(SET_RECORD);
}

void floor_store_commit(void) {
    if (!store_.is_open) return;
    bind_blob(SET_HEADER, 1, store_.blob, HEADER_BYTES);
    run(SET_HEADER);
    run(COMMIT);
    store_.is_open = false;
}
