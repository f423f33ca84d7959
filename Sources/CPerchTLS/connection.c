#include "CPerchTLS.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* The BIO of an OpenSSL connection: it reads and writes the window of its thread. */

static int window_read(BIO *bio, char *bytes, size_t capacity, size_t *taken) {
    perch_tls_window *window = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    *taken = window->input_count < capacity ? window->input_count : capacity;
    if (*taken == 0) {
        BIO_set_retry_read(bio);
        return 0;
    }
    memcpy(bytes, window->input, *taken);
    window->input += *taken;
    window->input_count -= *taken;
    return 1;
}

static int window_write(BIO *bio, const char *bytes, size_t count, size_t *taken) {
    perch_tls_window *window = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    size_t needed = window->output_count + count;
    if (needed > window->output_capacity) {
        size_t capacity = window->output_capacity ? window->output_capacity : 32 * 1024;
        while (capacity < needed) capacity *= 2;
        uint8_t *grown = realloc(window->output, capacity);
        if (!grown) return 0;
        window->output = grown;
        window->output_capacity = capacity;
    }
    memcpy(window->output + window->output_count, bytes, count);
    window->output_count = needed;
    *taken = count;
    return 1;
}

static long window_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO_METHOD *window_method;
static pthread_once_t window_once = PTHREAD_ONCE_INIT;

static void make_window_method(void) {
    window_method = BIO_meth_new(BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "perch window");
    if (!window_method) return;
    BIO_meth_set_read_ex(window_method, window_read);
    BIO_meth_set_write_ex(window_method, window_write);
    BIO_meth_set_ctrl(window_method, window_control);
}

static SSL *make(SSL_CTX *context, perch_tls_window *window) {
    perch_tls_require_sealed(context, 1);
    ERR_clear_error();
    pthread_once(&window_once, make_window_method);
    if (!window_method) return NULL;
    SSL *connection = SSL_new(context);
    BIO *bio = BIO_new(window_method);
    if (!connection || !bio) {
        SSL_free(connection);
        BIO_free(bio);
        return NULL;
    }
    BIO_set_data(bio, window);
    BIO_set_init(bio, 1);
    SSL_set_bio(connection, bio, bio);
    return connection;
}

SSL *perch_tls_accept(SSL_CTX *context, perch_tls_window *window) {
    SSL *connection = make(context, window);
    if (connection) SSL_set_accept_state(connection);
    return connection;
}

SSL *perch_tls_connect(
    SSL_CTX *context, perch_tls_window *window, const char *name, int is_address, SSL_SESSION *session) {
    SSL *connection = make(context, window);
    if (!connection) return NULL;
    SSL_set_connect_state(connection);
    X509_VERIFY_PARAM *rules = SSL_get0_param(connection);
    X509_VERIFY_PARAM_set_hostflags(rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
    /* Addresses are not sent as server names: RFC 6066 allows host names only. */
    int isRight = is_address ? X509_VERIFY_PARAM_set1_ip_asc(rules, name)
                             : X509_VERIFY_PARAM_set1_host(rules, name, 0) && SSL_set_tlsext_host_name(connection, name);
    if (isRight && session) isRight = SSL_set_session(connection, session);
    if (isRight) return connection;
    SSL_free(connection);
    return NULL;
}

void perch_tls_free(SSL *connection) {
    /* Without this OpenSSL invalidates the session of a connection that was cut off. Such clients are the ones that
       reconnect. */
    SSL_set_shutdown(connection, SSL_SENT_SHUTDOWN | SSL_RECEIVED_SHUTDOWN);
    SSL_free(connection);
}

static perch_tls_result result(SSL *connection, int returned) {
    if (returned > 0) return PERCH_TLS_DONE;
    switch (SSL_get_error(connection, returned)) {
    case SSL_ERROR_WANT_READ:
    /* Never happens, because writing to the window always succeeds. */
    case SSL_ERROR_WANT_WRITE: return PERCH_TLS_WANTS_INPUT;
    case SSL_ERROR_ZERO_RETURN: return PERCH_TLS_CLOSED;
    default: return PERCH_TLS_FAILED;
    }
}

perch_tls_result perch_tls_handshake(SSL *connection) {
    ERR_clear_error();
    return result(connection, SSL_do_handshake(connection));
}

perch_tls_result perch_tls_read(SSL *connection, void *bytes, size_t capacity, size_t *taken) {
    ERR_clear_error();
    *taken = 0;
    return result(connection, SSL_read_ex(connection, bytes, capacity, taken));
}

perch_tls_result perch_tls_write(SSL *connection, const void *bytes, size_t count) {
    ERR_clear_error();
    size_t taken = 0;
    perch_tls_result answer = result(connection, SSL_write_ex(connection, bytes, count, &taken));
    /* The window always has space, so a write is never partial. */
    return answer == PERCH_TLS_DONE && taken == count ? PERCH_TLS_DONE : PERCH_TLS_FAILED;
}

void perch_tls_close(SSL *connection) {
    ERR_clear_error();
    /* Before the end of a handshake there is nothing to close. */
    if (!SSL_in_init(connection)) SSL_shutdown(connection);
    ERR_clear_error();
}

int perch_tls_renew_ticket(SSL *connection) {
    ERR_clear_error();
    int isRight = SSL_version(connection) == TLS1_3_VERSION && SSL_new_session_ticket(connection);
    ERR_clear_error();
    return isRight;
}

int perch_tls_is_resumed(SSL *connection) {
    return SSL_session_reused(connection);
}

const char *perch_tls_protocol(SSL *connection) {
    return SSL_get_version(connection);
}

int perch_tls_offer_http1(SSL *connection) {
    static const unsigned char http1[] = {8, 'h', 't', 't', 'p', '/', '1', '.', '1'};
    /* This function returns 0 on success. */
    return !SSL_set_alpn_protos(connection, http1, sizeof http1);
}

const unsigned char *perch_tls_application_protocol(SSL *connection, unsigned int *count) {
    const unsigned char *name;
    SSL_get0_alpn_selected(connection, &name, count);
    return name;
}

int perch_tls_has_application_protocol(SSL *connection) {
    unsigned int count;
    perch_tls_application_protocol(connection, &count);
    return count > 0;
}

/* Converts to seconds since the Unix epoch. */
int64_t perch_tls_seconds(const ASN1_TIME *time) {
    struct tm parts;
    memset(&parts, 0, sizeof parts);
    return ASN1_TIME_to_tm(time, &parts) ? (int64_t)timegm(&parts) : 0;
}

static int is_plain(const uint8_t *bytes, int count) {
    for (int index = 0; index < count; index++) {
        if (bytes[index] < 0x20 || bytes[index] > 0x7E) return 0;
    }
    return count > 0;
}

int perch_tls_peer(
    SSL *connection, uint8_t *fingerprint, int64_t *not_after, void *taker,
    void (*take)(void *taker, perch_tls_name_kind kind, const uint8_t *bytes, size_t count)) {
    X509 *peer = SSL_get0_peer_certificate(connection);
    if (!peer) return 0;
    if (!X509_digest(peer, EVP_sha256(), fingerprint, NULL)) return 0;
    *not_after = perch_tls_seconds(X509_get0_notAfter(peer));
    const X509_NAME *subject = X509_get_subject_name(peer);
    int place = -1;
    while ((place = X509_NAME_get_index_by_NID(subject, NID_commonName, place)) >= 0) {
        const ASN1_STRING *value = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, place));
        unsigned char *text = NULL;
        int count = ASN1_STRING_to_UTF8(&text, value);
        if (count > 0 && is_plain(text, count)) take(taker, PERCH_TLS_NAME_COMMON, text, (size_t)count);
        OPENSSL_free(text);
    }
    GENERAL_NAMES *names = X509_get_ext_d2i(peer, NID_subject_alt_name, NULL, NULL);
    for (int index = 0; index < sk_GENERAL_NAME_num(names); index++) {
        int kind;
        const ASN1_STRING *value = GENERAL_NAME_get0_value(sk_GENERAL_NAME_value(names, index), &kind);
        perch_tls_name_kind ours;
        switch (kind) {
        case GEN_DNS: ours = PERCH_TLS_NAME_DNS; break;
        case GEN_URI: ours = PERCH_TLS_NAME_URI; break;
        case GEN_EMAIL: ours = PERCH_TLS_NAME_EMAIL; break;
        default: continue;
        }
        const uint8_t *text = ASN1_STRING_get0_data(value);
        int count = ASN1_STRING_length(value);
        if (is_plain(text, count)) take(taker, ours, text, (size_t)count);
    }
    GENERAL_NAMES_free(names);
    ERR_clear_error();
    return 1;
}

SSL_SESSION *perch_tls_take_session(SSL *connection) {
    SSL_SESSION *session = SSL_get1_session(connection);
    if (session && SSL_SESSION_is_resumable(session)) return session;
    SSL_SESSION_free(session);
    return NULL;
}

void perch_tls_session_free(SSL_SESSION *session) {
    SSL_SESSION_free(session);
}

/* The fault for a received alert. */
static perch_tls_fault alerted(int alert) {
    switch (alert) {
    case TLS1_AD_UNKNOWN_CA:
    case TLS1_AD_ACCESS_DENIED:
    case SSL_AD_NO_CERTIFICATE:
    case SSL_AD_BAD_CERTIFICATE:
    case SSL_AD_UNSUPPORTED_CERTIFICATE:
    case SSL_AD_CERTIFICATE_REVOKED:
    case SSL_AD_CERTIFICATE_EXPIRED:
    case SSL_AD_CERTIFICATE_UNKNOWN:
    case SSL_AD_CERTIFICATE_REQUIRED: return PERCH_TLS_FAULT_REFUSED;
    case TLS1_AD_PROTOCOL_VERSION:
    case TLS1_AD_INSUFFICIENT_SECURITY: return PERCH_TLS_FAULT_NO_COMMON_GROUND;
    default: return PERCH_TLS_FAULT_ALERT;
    }
}

/* The fault for a certificate of the peer that did not pass. */
static perch_tls_fault unverified(long result) {
    switch (result) {
    case X509_V_ERR_HOSTNAME_MISMATCH:
    case X509_V_ERR_IP_ADDRESS_MISMATCH: return PERCH_TLS_FAULT_NAME;
    case X509_V_ERR_CERT_HAS_EXPIRED:
    case X509_V_ERR_CERT_NOT_YET_VALID: return PERCH_TLS_FAULT_EXPIRED;
    default: return PERCH_TLS_FAULT_CERTIFICATE;
    }
}

static perch_tls_fault fault(int reason, long verified) {
    if (reason >= SSL_AD_REASON_OFFSET) return alerted(reason - SSL_AD_REASON_OFFSET);
    switch (reason) {
    case SSL_R_UNSUPPORTED_PROTOCOL:
    case SSL_R_VERSION_TOO_LOW:
    case SSL_R_NO_SHARED_CIPHER:
    case SSL_R_NO_PROTOCOLS_AVAILABLE:
    case SSL_R_NO_SUITABLE_SIGNATURE_ALGORITHM:
    case SSL_R_NO_SUITABLE_KEY_SHARE:
    case SSL_R_NO_SUITABLE_GROUPS:
    case SSL_R_NO_SHARED_SIGNATURE_ALGORITHMS: return PERCH_TLS_FAULT_NO_COMMON_GROUND;
    case SSL_R_NO_APPLICATION_PROTOCOL: return PERCH_TLS_FAULT_APPLICATION_PROTOCOL;
    case SSL_R_PEER_DID_NOT_RETURN_A_CERTIFICATE: return PERCH_TLS_FAULT_NO_CERTIFICATE;
    case SSL_R_CERTIFICATE_VERIFY_FAILED: return unverified(verified);
    case ERR_R_MALLOC_FAILURE: return PERCH_TLS_FAULT_MEMORY;
    default: return PERCH_TLS_FAULT_PROTOCOL;
    }
}

perch_tls_fault perch_tls_error(SSL *connection, char *text, size_t capacity) {
    unsigned long code = ERR_peek_error();
    long verified = connection ? SSL_get_verify_result(connection) : X509_V_OK;
    int reason = ERR_GET_REASON(code);
    const char *what = ERR_reason_error_string(code);
    /* Without a connection, the failed operation was reading a file that lacks the expected object. */
    if (!what) what = code ? "an unnamed error" : connection ? "the connection ended" : "none was found";
    if (reason == SSL_R_CERTIFICATE_VERIFY_FAILED && verified != X509_V_OK) {
        snprintf(text, capacity, "%s", X509_verify_cert_error_string(verified));
    } else {
        snprintf(text, capacity, "%s", what);
    }
    ERR_clear_error();
    return fault(reason, verified);
}
