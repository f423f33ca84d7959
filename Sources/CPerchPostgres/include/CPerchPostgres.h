#ifndef CPERCHPOSTGRES_H
#define CPERCHPOSTGRES_H

#include <stdint.h>

/* libpq, loaded when the first store on PostgreSQL is opened. It brings a dozen libraries with it (Kerberos, LDAP, GnuTLS),
   which a server with a store in a file never loads. Swift never sees libpq's own headers. */

struct pg_conn;
struct pg_result;

/* 1: libpq is loaded. 0: `perch_pq_load_error` says why not. Any thread may call it, repeatedly. */
int perch_pq_load(void);
const char *perch_pq_load_error(void);
int perch_pq_library_version(void);

/* The keywords and values of a connection string, those that it sets. NULL: `error` has the reason, for `perch_pq_free`. */
typedef struct perch_pq_option {
    const char *keyword;
    const char *value;
} perch_pq_option;
typedef struct perch_pq_options {
    int count;
    /* libpq's own list. */
    void *owned;
    perch_pq_option each[64];
} perch_pq_options;
perch_pq_options *perch_pq_parse(const char *text, char **error);
void perch_pq_options_free(perch_pq_options *options);
void perch_pq_free(void *memory);

/* Warnings of one connection, counted by its notice receiver. */
typedef struct perch_pq_notices {
    int warnings;
    char last[256];
} perch_pq_notices;

/* Both lists end with NULL. `notices` must outlive the connection. */
struct pg_conn *perch_pq_connect(const char *const *keywords, const char *const *values, perch_pq_notices *notices);
void perch_pq_finish(struct pg_conn *connection);

typedef enum perch_pq_step {
    PERCH_PQ_FAILED = 0,
    PERCH_PQ_READS = 1,
    PERCH_PQ_WRITES = 2,
    PERCH_PQ_DONE = 3,
} perch_pq_step;
perch_pq_step perch_pq_connect_poll(struct pg_conn *connection);
/* Non-blocking, in pipeline mode. 0: it failed. */
int perch_pq_begin_pipeline(struct pg_conn *connection);

int perch_pq_socket(const struct pg_conn *connection);
int perch_pq_backend_pid(const struct pg_conn *connection);
int perch_pq_server_version(const struct pg_conn *connection);
const char *perch_pq_error_message(const struct pg_conn *connection);

/* Queues a command with binary parameters, which stand in `bytes` at `offsets`; a length of -1 is NULL. `statement` NULL: `sql`
   is run; else the prepared statement of that name. 0: the connection is lost. */
#define PERCH_PQ_PARAMETERS_MAX 16
int perch_pq_send(struct pg_conn *connection, const char *statement, const char *sql, int count, const uint8_t *bytes,
                  const int *offsets, const int *lengths);
int perch_pq_send_prepare(struct pg_conn *connection, const char *statement, const char *sql);
int perch_pq_sync(struct pg_conn *connection);

/* 0: all is written. 1: the socket is full. -1: the connection is lost. */
int perch_pq_flush(struct pg_conn *connection);
int perch_pq_consume(struct pg_conn *connection);
int perch_pq_is_busy(struct pg_conn *connection);

typedef enum perch_pq_outcome {
    PERCH_PQ_ROWS = 0,
    PERCH_PQ_ERROR = 1,
    /* An earlier command of the pipeline failed. */
    PERCH_PQ_ABORTED = 2,
    PERCH_PQ_SYNC = 3,
} perch_pq_outcome;
/* Must not be called while busy. NULL: the end of one command's results. */
struct pg_result *perch_pq_result(struct pg_conn *connection);
void perch_pq_clear(struct pg_result *result);
perch_pq_outcome perch_pq_result_outcome(const struct pg_result *result);
const char *perch_pq_result_sqlstate(const struct pg_result *result);
const char *perch_pq_result_message(const struct pg_result *result);
int perch_pq_rows(const struct pg_result *result);
int perch_pq_is_null(const struct pg_result *result, int row, int column);
const uint8_t *perch_pq_value(const struct pg_result *result, int row, int column);
int perch_pq_length(const struct pg_result *result, int row, int column);

/* Copies the text of the next notification, shortened to fit. 0: there is none. */
int perch_pq_next_notification(struct pg_conn *connection, char *text, int capacity);

/* The numeric addresses of a host, one after another, each with its NUL. Returns how many fit; 0: `error` is getaddrinfo's. Blocks
   as long as the resolver does. */
int perch_pq_resolve(const char *host, char *addresses, int capacity, int *error);
const char *perch_pq_resolve_error(int error);

#endif
