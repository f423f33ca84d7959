#include "CPerchPostgres.h"

#include <dlfcn.h>
#include <netdb.h>
#include <postgresql/libpq-fe.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* Each function of libpq that is used here. */
#define FUNCTIONS(X)                                                                                                   \
    X(PQlibVersion) X(PQconninfoParse) X(PQconninfoFree) X(PQfreemem) X(PQconnectStartParams) X(PQconnectPoll)         \
    X(PQfinish) X(PQstatus) X(PQsetnonblocking) X(PQenterPipelineMode) X(PQsocket) X(PQbackendPID) X(PQserverVersion)  \
    X(PQerrorMessage) X(PQsetNoticeReceiver) X(PQsendQueryParams) X(PQsendQueryPrepared) X(PQsendPrepare)              \
    X(PQpipelineSync) X(PQflush) X(PQconsumeInput) X(PQisBusy) X(PQgetResult) X(PQclear) X(PQresultStatus)             \
    X(PQresultErrorField) X(PQresultErrorMessage) X(PQntuples) X(PQgetisnull) X(PQgetvalue) X(PQgetlength)             \
    X(PQnotifies)

#define DECLARE(name) static __typeof__(&name) pq_##name;
FUNCTIONS(DECLARE)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char load_error[256];
static int is_loaded;

static void load(void) {
    void *library = dlopen("libpq.so.5", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        strncpy(load_error, dlerror(), sizeof(load_error) - 1);
        return;
    }
#define FIND(name)                                                                                                     \
    pq_##name = (__typeof__(&name))dlsym(library, #name);                                                              \
    if (pq_##name == NULL) {                                                                                           \
        strncpy(load_error, dlerror(), sizeof(load_error) - 1);                                                        \
        return;                                                                                                        \
    }
    FUNCTIONS(FIND)
    is_loaded = 1;
}

int perch_pq_load(void) {
    pthread_once(&once, load);
    return is_loaded;
}

const char *perch_pq_load_error(void) { return load_error; }
int perch_pq_library_version(void) { return pq_PQlibVersion(); }

perch_pq_options *perch_pq_parse(const char *text, char **error) {
    PQconninfoOption *all = pq_PQconninfoParse(text, error);
    if (all == NULL) return NULL;
    perch_pq_options *options = calloc(1, sizeof(*options));
    if (options == NULL) abort();
    options->owned = all;
    for (PQconninfoOption *each = all; each->keyword != NULL && options->count < 64; each++) {
        if (each->val == NULL) continue;
        options->each[options->count].keyword = each->keyword;
        options->each[options->count].value = each->val;
        options->count++;
    }
    return options;
}

void perch_pq_options_free(perch_pq_options *options) {
    pq_PQconninfoFree(options->owned);
    free(options);
}

void perch_pq_free(void *memory) { pq_PQfreemem(memory); }

static void receive_notice(void *context, const PGresult *result) {
    perch_pq_notices *notices = context;
    const char *state = pq_PQresultErrorField(result, PG_DIAG_SQLSTATE);
    const char *severity = pq_PQresultErrorField(result, PG_DIAG_SEVERITY_NONLOCALIZED);
    const char *message = pq_PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    if (state == NULL || severity == NULL || strcmp(severity, "WARNING") != 0) return;
    notices->warnings++;
    strncpy(notices->last, message == NULL ? "" : message, sizeof(notices->last) - 1);
}

struct pg_conn *perch_pq_connect(const char *const *keywords, const char *const *values, perch_pq_notices *notices) {
    PGconn *connection = pq_PQconnectStartParams(keywords, values, 0);
    if (connection != NULL) pq_PQsetNoticeReceiver(connection, receive_notice, notices);
    return connection;
}

void perch_pq_finish(struct pg_conn *connection) { pq_PQfinish(connection); }

perch_pq_step perch_pq_connect_poll(struct pg_conn *connection) {
    if (pq_PQstatus(connection) == CONNECTION_BAD) return PERCH_PQ_FAILED;
    switch (pq_PQconnectPoll(connection)) {
    case PGRES_POLLING_READING: return PERCH_PQ_READS;
    case PGRES_POLLING_WRITING: return PERCH_PQ_WRITES;
    case PGRES_POLLING_OK: return PERCH_PQ_DONE;
    default: return PERCH_PQ_FAILED;
    }
}

int perch_pq_begin_pipeline(struct pg_conn *connection) {
    return pq_PQsetnonblocking(connection, 1) == 0 && pq_PQenterPipelineMode(connection) == 1;
}

int perch_pq_socket(const struct pg_conn *connection) { return pq_PQsocket(connection); }
int perch_pq_backend_pid(const struct pg_conn *connection) { return pq_PQbackendPID(connection); }
int perch_pq_server_version(const struct pg_conn *connection) { return pq_PQserverVersion(connection); }
const char *perch_pq_error_message(const struct pg_conn *connection) { return pq_PQerrorMessage(connection); }

int perch_pq_send(struct pg_conn *connection, const char *statement, const char *sql, int count, const uint8_t *bytes,
                  const int *offsets, const int *lengths) {
    const char *values[PERCH_PQ_PARAMETERS_MAX];
    int binary[PERCH_PQ_PARAMETERS_MAX];
    if (count > PERCH_PQ_PARAMETERS_MAX) abort();
    for (int index = 0; index < count; index++) {
        values[index] = lengths[index] < 0 ? NULL : (const char *)bytes + offsets[index];
        binary[index] = 1;
    }
    if (statement != NULL) {
        return pq_PQsendQueryPrepared(connection, statement, count, values, lengths, binary, 1);
    }
    return pq_PQsendQueryParams(connection, sql, count, NULL, values, lengths, binary, 1);
}

int perch_pq_send_prepare(struct pg_conn *connection, const char *statement, const char *sql) {
    return pq_PQsendPrepare(connection, statement, sql, 0, NULL);
}

int perch_pq_sync(struct pg_conn *connection) { return pq_PQpipelineSync(connection); }
int perch_pq_flush(struct pg_conn *connection) { return pq_PQflush(connection); }
int perch_pq_consume(struct pg_conn *connection) { return pq_PQconsumeInput(connection); }
int perch_pq_is_busy(struct pg_conn *connection) { return pq_PQisBusy(connection); }
struct pg_result *perch_pq_result(struct pg_conn *connection) { return pq_PQgetResult(connection); }
void perch_pq_clear(struct pg_result *result) { pq_PQclear(result); }

perch_pq_outcome perch_pq_result_outcome(const struct pg_result *result) {
    switch (pq_PQresultStatus(result)) {
    case PGRES_COMMAND_OK:
    case PGRES_EMPTY_QUERY:
    case PGRES_TUPLES_OK: return PERCH_PQ_ROWS;
    case PGRES_PIPELINE_ABORTED: return PERCH_PQ_ABORTED;
    case PGRES_PIPELINE_SYNC: return PERCH_PQ_SYNC;
    default: return PERCH_PQ_ERROR;
    }
}

const char *perch_pq_result_sqlstate(const struct pg_result *result) {
    const char *state = pq_PQresultErrorField(result, PG_DIAG_SQLSTATE);
    return state == NULL ? "" : state;
}

const char *perch_pq_result_message(const struct pg_result *result) {
    const char *message = pq_PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
    return message == NULL ? pq_PQresultErrorMessage(result) : message;
}

int perch_pq_rows(const struct pg_result *result) { return pq_PQntuples(result); }

int perch_pq_is_null(const struct pg_result *result, int row, int column) {
    return pq_PQgetisnull(result, row, column);
}

const uint8_t *perch_pq_value(const struct pg_result *result, int row, int column) {
    return (const uint8_t *)pq_PQgetvalue(result, row, column);
}

int perch_pq_length(const struct pg_result *result, int row, int column) {
    return pq_PQgetlength(result, row, column);
}

int perch_pq_next_notification(struct pg_conn *connection, char *text, int capacity) {
    PGnotify *notification = pq_PQnotifies(connection);
    if (notification == NULL) return 0;
    strncpy(text, notification->extra, (size_t)capacity - 1);
    text[capacity - 1] = 0;
    pq_PQfreemem(notification);
    return 1;
}

int perch_pq_resolve(const char *host, char *addresses, int capacity, int *error) {
    struct addrinfo hints = {.ai_family = AF_UNSPEC, .ai_socktype = SOCK_STREAM};
    struct addrinfo *found = NULL;
    *error = getaddrinfo(host, NULL, &hints, &found);
    if (*error != 0) return 0;
    int count = 0, used = 0;
    for (struct addrinfo *each = found; each != NULL; each = each->ai_next) {
        char text[NI_MAXHOST];
        if (getnameinfo(each->ai_addr, each->ai_addrlen, text, sizeof(text), NULL, 0, NI_NUMERICHOST) != 0) continue;
        int length = (int)strlen(text) + 1;
        if (used + length > capacity) break;
        memcpy(addresses + used, text, (size_t)length);
        used += length;
        count++;
    }
    freeaddrinfo(found);
    return count;
}

const char *perch_pq_resolve_error(int error) { return gai_strerror(error); }
