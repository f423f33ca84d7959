#ifndef CPERCHTLS_H
#define CPERCHTLS_H

#include <stddef.h>
#include <stdint.h>

/* TLS of OpenSSL 3 without sockets: ciphertext in, plaintext out, and back. Mechanism only: which files, which modes and
   what becomes of a failure is decided in Swift. OpenSSL's headers stay on this side: they are long, and Swift needs
   nothing of them. */

struct ssl_st;
struct ssl_ctx_st;
struct ssl_session_st;

/* Where the connections of one thread read ciphertext from and write it to. One for all of them, because only one is
   worked on at a time: so a connection has no buffers of its own while it is idle. */
typedef struct perch_tls_window {
    const uint8_t *input;
    size_t input_count;
    /* Allocated and grown here. Whoever sends it sets `output_count` to 0. */
    uint8_t *output;
    size_t output_count;
    size_t output_capacity;
} perch_tls_window;

/* What became of a step. */
typedef enum perch_tls_result {
    PERCH_TLS_DONE = 1,
    PERCH_TLS_WANTS_INPUT = 0,
    /* The peer has said that it sends nothing more. */
    PERCH_TLS_CLOSED = -1,
    PERCH_TLS_FAILED = -2,
} perch_tls_result;

/* Why a handshake or a connection failed, as far as somebody would act differently. */
typedef enum perch_tls_fault {
    PERCH_TLS_FAULT_PROTOCOL = 0,
    /* No version or cipher that both speak. */
    PERCH_TLS_FAULT_NO_COMMON_GROUND,
    PERCH_TLS_FAULT_APPLICATION_PROTOCOL,
    /* The peer's certificate does not hold. */
    PERCH_TLS_FAULT_CERTIFICATE,
    PERCH_TLS_FAULT_NO_CERTIFICATE,
    /* The peer's certificate holds, and is another's. */
    PERCH_TLS_FAULT_NAME,
    /* The peer does not take our certificate, or wants one that it was not shown. */
    PERCH_TLS_FAULT_REFUSED,
    /* The peer has told us why it goes, and it is something else. */
    PERCH_TLS_FAULT_ALERT,
    PERCH_TLS_FAULT_MEMORY,
} perch_tls_fault;

/* Once, before anything else. No exit handler: threads may still be at work when the process ends. */
void perch_tls_initialise(void);
const char *perch_tls_library_version(void);

/* Contexts. NULL or 0 where it failed; `perch_tls_error` says why. */

struct ssl_ctx_st *perch_tls_context_new(int is_server);
void perch_tls_context_free(struct ssl_ctx_st *context);

/* Ends the making of a context: threads share it from now on. What would change it afterwards, and a connection of one that
   is still being made, end the process. */
void perch_tls_context_seal(struct ssl_ctx_st *context);
void perch_tls_require_sealed(struct ssl_ctx_st *context, int is_sealed);
/* A certificate and those that lead from it towards the root, in PEM. */
int perch_tls_use_certificates(struct ssl_ctx_st *context, const void *pem, size_t count);
/* -1: it does not belong to the certificate. -2: it is encrypted, and nobody is asked for a password. */
int perch_tls_use_key(struct ssl_ctx_st *context, const void *pem, size_t count);
/* Whom to trust, in PEM. Answers how many there were. */
int perch_tls_trust(struct ssl_ctx_st *context, const void *pem, size_t count);
int perch_tls_trust_system(struct ssl_ctx_st *context);
/* Of a server: a client is asked for a certificate, and refused without one where it is required. */
void perch_tls_ask_for_certificate(struct ssl_ctx_st *context, int is_required);
/* Sessions are resumed in the scope in which they began. `id` has 32 bytes. */
void perch_tls_set_scope(struct ssl_ctx_st *context, const uint8_t *id);
/* Seconds for which a session can be resumed. */
void perch_tls_set_session_lifetime(struct ssl_ctx_st *context, long seconds);
/* Seconds of the Unix epoch at which the context's own certificate begins and ends. 0 where there is none. */
int perch_tls_own_validity(struct ssl_ctx_st *context, int64_t *not_before, int64_t *not_after);
/* 32 bytes: SHA-256 of the context's own certificate. */
int perch_tls_own_fingerprint(struct ssl_ctx_st *context, uint8_t *digest);

/* Keys of session tickets: 16 bytes of name, 32 of AES-256 and 32 of HMAC-SHA256 each. Tickets are made with the current
   one; those of the previous one are taken, and answered with a new one. Used by all threads at once. */

enum { PERCH_TLS_TICKET_KEY_BYTES = 80 };

typedef struct perch_tls_ticket_keys perch_tls_ticket_keys;

perch_tls_ticket_keys *perch_tls_ticket_keys_new(void);
/* `previous` may be NULL. */
void perch_tls_ticket_keys_set(perch_tls_ticket_keys *keys, const uint8_t *current, const uint8_t *previous);
/* Outlives every context that uses it. */
void perch_tls_ticket_keys_free(perch_tls_ticket_keys *keys);
void perch_tls_use_ticket_keys(struct ssl_ctx_st *context, perch_tls_ticket_keys *keys);
/* HMAC-SHA256; `digest` has 32 bytes. */
void perch_tls_hmac(const uint8_t *key, size_t key_count, const uint8_t *bytes, size_t count, uint8_t *digest);
/* SHA-256; `digest` has 32 bytes. */
void perch_tls_sha256(const uint8_t *bytes, size_t count, uint8_t *digest);

/* Connections. `window` outlives them. */

struct ssl_st *perch_tls_accept(struct ssl_ctx_st *context, perch_tls_window *window);
/* The server must be called `name`: a host's, or an address where `is_address`. `session` may be NULL. */
struct ssl_st *perch_tls_connect(
    struct ssl_ctx_st *context, perch_tls_window *window, const char *name, int is_address,
    struct ssl_session_st *session);
void perch_tls_free(struct ssl_st *connection);

perch_tls_result perch_tls_handshake(struct ssl_st *connection);
/* At least one byte with DONE, and how many in `taken`. */
perch_tls_result perch_tls_read(struct ssl_st *connection, void *bytes, size_t capacity, size_t *taken);
/* Takes all of them: at most 16 KiB, which is one record. */
perch_tls_result perch_tls_write(struct ssl_st *connection, const void *bytes, size_t count);
/* Says that nothing more will be sent. */
void perch_tls_close(struct ssl_st *connection);
/* Of a server with TLS 1.3: a new ticket goes out with the next write. */
int perch_tls_renew_ticket(struct ssl_st *connection);

int perch_tls_is_resumed(struct ssl_st *connection);
/* Such as "TLSv1.3". */
const char *perch_tls_protocol(struct ssl_st *connection);
/* Whether the two have agreed on perch/1 by ALPN. */
int perch_tls_has_application_protocol(struct ssl_st *connection);

/* What the peer's certificate says; 0 where it has none. Each name is given to `take`; bytes that are no text of
   printable ASCII are left out, because nobody could tell them apart. */
typedef enum perch_tls_name_kind {
    PERCH_TLS_NAME_COMMON = 0,
    PERCH_TLS_NAME_DNS,
    PERCH_TLS_NAME_URI,
    PERCH_TLS_NAME_EMAIL,
} perch_tls_name_kind;

int perch_tls_peer(
    struct ssl_st *connection, uint8_t *fingerprint, int64_t *not_after, void *taker,
    void (*take)(void *taker, perch_tls_name_kind kind, const uint8_t *bytes, size_t count));

/* What a client can come back with; NULL where the server has given nothing yet. */
struct ssl_session_st *perch_tls_take_session(struct ssl_st *connection);
void perch_tls_session_free(struct ssl_session_st *session);

/* Why the last step on this thread failed, and forgets it. `connection` may be NULL. The text has no secret, and nothing
   that the peer has written. */
perch_tls_fault perch_tls_error(struct ssl_st *connection, char *text, size_t capacity);

#endif
