#ifndef CPERCHTLS_H
#define CPERCHTLS_H

#include <stddef.h>
#include <stdint.h>

/* OpenSSL 3's TLS without sockets: ciphertext in, plaintext out, and back. Swift decides on files, modes and the
   handling of failures. Swift never sees OpenSSL's long headers. */

struct ssl_st;
struct ssl_ctx_st;
struct ssl_session_st;

/* The ciphertext buffers of all connections of one thread. One is enough because the thread works on one connection
   at a time, so an idle connection has no buffers of its own. */
typedef struct perch_tls_window {
    const uint8_t *input;
    size_t input_count;
    /* Allocated and grown here. The sender sets `output_count` to 0. */
    uint8_t *output;
    size_t output_count;
    size_t output_capacity;
} perch_tls_window;

/* The result of a step. */
typedef enum perch_tls_result {
    PERCH_TLS_DONE = 1,
    PERCH_TLS_WANTS_INPUT = 0,
    /* The peer has announced the end of its stream. */
    PERCH_TLS_CLOSED = -1,
    PERCH_TLS_FAILED = -2,
} perch_tls_result;

/* Kinds of handshake and connection failures, as far as operators react differently. */
typedef enum perch_tls_fault {
    PERCH_TLS_FAULT_PROTOCOL = 0,
    /* No common version or cipher. */
    PERCH_TLS_FAULT_NO_COMMON_GROUND,
    PERCH_TLS_FAULT_APPLICATION_PROTOCOL,
    /* The peer's certificate is invalid. */
    PERCH_TLS_FAULT_CERTIFICATE,
    /* A certificate of the peer's chain has ended, or begins later. */
    PERCH_TLS_FAULT_EXPIRED,
    PERCH_TLS_FAULT_NO_CERTIFICATE,
    /* The peer's certificate is valid but for another name. */
    PERCH_TLS_FAULT_NAME,
    /* The peer rejected this side's certificate, or required one. */
    PERCH_TLS_FAULT_REFUSED,
    /* The peer sent another alert. */
    PERCH_TLS_FAULT_ALERT,
    PERCH_TLS_FAULT_MEMORY,
} perch_tls_fault;

/* Initialises OpenSSL; call it once, first. Installs no exit handler, because threads may still run when the process
   ends. */
void perch_tls_initialise(void);
const char *perch_tls_library_version(void);

/* Contexts. Functions return NULL or 0 on failure; `perch_tls_error` gives the reason. */

struct ssl_ctx_st *perch_tls_context_new(int is_server);
void perch_tls_context_free(struct ssl_ctx_st *context);

/* Finishes a context; from now on threads may share it. Changing a sealed context, or connecting with an unsealed
   one, ends the process. */
void perch_tls_context_seal(struct ssl_ctx_st *context);
void perch_tls_require_sealed(struct ssl_ctx_st *context, int is_sealed);
/* A certificate and its intermediate certificates up to the root, in PEM. */
int perch_tls_use_certificates(struct ssl_ctx_st *context, const void *pem, size_t count);
/* Returns -1 if the key does not belong to the certificate, and -2 if it is encrypted. */
int perch_tls_use_key(struct ssl_ctx_st *context, const void *pem, size_t count);
/* Adds trusted authorities from PEM and returns their number. */
int perch_tls_trust(struct ssl_ctx_st *context, const void *pem, size_t count);
int perch_tls_trust_system(struct ssl_ctx_st *context);
/* Makes a server ask clients for a certificate, and refuse clients without one if required. */
void perch_tls_ask_for_certificate(struct ssl_ctx_st *context, int is_required);
/* Sets the scope in which sessions may be resumed. `id` has 32 bytes. */
void perch_tls_set_scope(struct ssl_ctx_st *context, const uint8_t *id);
/* Seconds during which a session can be resumed. */
void perch_tls_set_session_lifetime(struct ssl_ctx_st *context, long seconds);
/* Validity of the context's own certificate, in seconds since the Unix epoch. Returns 0 if there is none. */
int perch_tls_own_validity(struct ssl_ctx_st *context, int64_t *not_before, int64_t *not_after);
/* SHA-256 of the context's own certificate: 32 bytes. */
int perch_tls_own_fingerprint(struct ssl_ctx_st *context, uint8_t *digest);

/* Keys of session tickets: 16 bytes of name, 32 of AES-256 and 32 of HMAC-SHA256 each. The current key encrypts new
   tickets. Tickets of the previous key are accepted, and answered with a new one. All threads use them at once. */

enum { PERCH_TLS_TICKET_KEY_BYTES = 80 };

typedef struct perch_tls_ticket_keys perch_tls_ticket_keys;

perch_tls_ticket_keys *perch_tls_ticket_keys_new(void);
/* `previous` may be NULL. */
void perch_tls_ticket_keys_set(perch_tls_ticket_keys *keys, const uint8_t *current, const uint8_t *previous);
/* The keys must outlive every context that uses them. */
void perch_tls_ticket_keys_free(perch_tls_ticket_keys *keys);
void perch_tls_use_ticket_keys(struct ssl_ctx_st *context, perch_tls_ticket_keys *keys);
/* HMAC-SHA256; `digest` has 32 bytes. */
void perch_tls_hmac(const uint8_t *key, size_t key_count, const uint8_t *bytes, size_t count, uint8_t *digest);
/* SHA-256; `digest` has 32 bytes. */
void perch_tls_sha256(const uint8_t *bytes, size_t count, uint8_t *digest);

/* Connections. `window` must outlive them. */

struct ssl_st *perch_tls_accept(struct ssl_ctx_st *context, perch_tls_window *window);
/* The server's certificate must be for `name`: a host name, or an address if `is_address`. `session` may be NULL. */
struct ssl_st *perch_tls_connect(
    struct ssl_ctx_st *context, perch_tls_window *window, const char *name, int is_address,
    struct ssl_session_st *session);
void perch_tls_free(struct ssl_st *connection);

perch_tls_result perch_tls_handshake(struct ssl_st *connection);
/* DONE means at least one byte; `taken` is their number. */
perch_tls_result perch_tls_read(struct ssl_st *connection, void *bytes, size_t capacity, size_t *taken);
/* Writes all bytes: at most 16 KiB, which is one record. */
perch_tls_result perch_tls_write(struct ssl_st *connection, const void *bytes, size_t count);
/* Announces the end of the stream. */
void perch_tls_close(struct ssl_st *connection);
/* Sends a new ticket with the next write; for servers with TLS 1.3. */
int perch_tls_renew_ticket(struct ssl_st *connection);

int perch_tls_is_resumed(struct ssl_st *connection);
/* Such as "TLSv1.3". */
const char *perch_tls_protocol(struct ssl_st *connection);
/* A client of HTTP/1.1 offers that instead of perch/1. Before the handshake; returns 0 without memory. */
int perch_tls_offer_http1(struct ssl_st *connection);
/* Whether both sides agreed on perch/1 by ALPN. */
int perch_tls_has_application_protocol(struct ssl_st *connection);
/* The protocol that both sides agreed on by ALPN: `count` bytes, 0 for none. */
const unsigned char *perch_tls_application_protocol(struct ssl_st *connection, unsigned int *count);

/* Reads the peer's certificate; returns 0 if it has none. `take` receives each name. Names with other than printable
   ASCII characters are left out, because they could imitate others. */
typedef enum perch_tls_name_kind {
    PERCH_TLS_NAME_COMMON = 0,
    PERCH_TLS_NAME_DNS,
    PERCH_TLS_NAME_URI,
    PERCH_TLS_NAME_EMAIL,
} perch_tls_name_kind;

int perch_tls_peer(
    struct ssl_st *connection, uint8_t *fingerprint, int64_t *not_after, void *taker,
    void (*take)(void *taker, perch_tls_name_kind kind, const uint8_t *bytes, size_t count));

/* The session that a client can resume; NULL if the server has sent none yet. */
struct ssl_session_st *perch_tls_take_session(struct ssl_st *connection);
void perch_tls_session_free(struct ssl_session_st *session);

/* Returns and clears the reason why the last step on this thread failed. `connection` may be NULL. The text contains
   no secret and no text from the peer. */
perch_tls_fault perch_tls_error(struct ssl_st *connection, char *text, size_t capacity);

#endif
