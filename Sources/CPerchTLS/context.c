#include "CPerchTLS.h"

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/params.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The ALPN lists: each name follows its length. A server chooses the first of its own that the client offers. */
static const unsigned char server_protocols[] = {7,   'p', 'e', 'r', 'c', 'h', '/', '1', 2,   'h', '2',
                                                 8,   'h', 't', 't', 'p', '/', '1', '.', '1'};
static const unsigned char client_protocols[] = {7, 'p', 'e', 'r', 'c', 'h', '/', '1'};

void perch_tls_initialise(void) {
    OPENSSL_init_ssl(OPENSSL_INIT_NO_ATEXIT, NULL);
}

const char *perch_tls_library_version(void) {
    return OpenSSL_version(OPENSSL_VERSION);
}

/* Ends the process, like a Swift trap, because a rule of Perch was broken. */
static void trap(const char *rule) {
    dprintf(STDERR_FILENO, "perch: fatal: %s\n", rule);
    abort();
}

static int sealed_index = -1;
static int ticket_key_index = -1;
static pthread_once_t indexes_once = PTHREAD_ONCE_INIT;

static void make_indexes(void) {
    sealed_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL);
    ticket_key_index = SSL_CTX_get_ex_new_index(0, NULL, NULL, NULL, NULL);
}

void perch_tls_context_seal(SSL_CTX *context) {
    if (!SSL_CTX_set_ex_data(context, sealed_index, &sealed_index)) trap("no memory to seal a TLS context");
}

void perch_tls_require_sealed(SSL_CTX *context, int is_sealed) {
    if ((SSL_CTX_get_ex_data(context, sealed_index) != NULL) == is_sealed) return;
    trap(is_sealed ? "a TLS context is shared before it is sealed" : "a TLS context is changed after it was sealed");
}

/* Called only if the client offers protocols; a client that offers none is served. */
static int select_protocol(
    SSL *connection, const unsigned char **chosen, unsigned char *count, const unsigned char *offered,
    unsigned int offered_count, void *context) {
    (void)connection, (void)context;
    unsigned char *found;
    if (SSL_select_next_proto(
            &found, count, server_protocols, sizeof server_protocols, offered, offered_count) !=
        OPENSSL_NPN_NEGOTIATED) {
        return SSL_TLSEXT_ERR_ALERT_FATAL;
    }
    *chosen = found;
    return SSL_TLSEXT_ERR_OK;
}

SSL_CTX *perch_tls_context_new(int is_server) {
    pthread_once(&indexes_once, make_indexes);
    ERR_clear_error();
    SSL_CTX *context = SSL_CTX_new(is_server ? TLS_server_method() : TLS_client_method());
    if (!context) return NULL;
    uint64_t options = SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CIPHER_SERVER_PREFERENCE |
                       SSL_OP_PRIORITIZE_CHACHA;
    SSL_CTX_set_options(context, options);
    /* At least 112 bits of security and RSA of 2,048 bits, whatever the machine's configuration says. */
    SSL_CTX_set_security_level(context, 2);
    /* OpenSSL frees empty record buffers, so an idle connection has none. */
    SSL_CTX_set_mode(context, SSL_MODE_RELEASE_BUFFERS | SSL_MODE_AUTO_RETRY);
    SSL_CTX_set_read_ahead(context, 0);
    int isRight = SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION) &&
                  /* TLS 1.2 only with forward secrecy and authenticated encryption. */
                  SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");
    if (is_server) {
        /* The client stores the sessions, in tickets. */
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
        /* A client makes one connection, and gets a new ticket with each. */
        isRight = isRight && SSL_CTX_set_num_tickets(context, 1);
        SSL_CTX_set_alpn_select_cb(context, select_protocol, NULL);
        /* Client chains: eight certificates of usual size. */
        SSL_CTX_set_max_cert_list(context, 32 * 1024);
    } else {
        SSL_CTX_set_verify(context, SSL_VERIFY_PEER, NULL);
        SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_CLIENT | SSL_SESS_CACHE_NO_INTERNAL);
        /* This function returns 0 on success. */
        isRight = isRight && !SSL_CTX_set_alpn_protos(context, client_protocols, sizeof client_protocols);
    }
    if (isRight) return context;
    SSL_CTX_free(context);
    return NULL;
}

void perch_tls_context_free(SSL_CTX *context) {
    SSL_CTX_free(context);
}

/* Never asks for a password, because a server has no terminal. The length 0 means no password. */
static int no_password(char *buffer, int size, int is_writing, void *data) {
    (void)buffer, (void)size, (void)is_writing;
    *(int *)data = 1;
    return -1;
}

/* Returns the next certificate; NULL at the end of the text, which leaves no error in OpenSSL's queue. */
static X509 *next_certificate(BIO *pem) {
    int wasAsked = 0;
    X509 *found = PEM_read_bio_X509_AUX(pem, NULL, no_password, &wasAsked);
    if (!found && ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE) ERR_clear_error();
    return found;
}

int perch_tls_use_certificates(SSL_CTX *context, const void *pem, size_t count) {
    perch_tls_require_sealed(context, 0);
    ERR_clear_error();
    BIO *text = BIO_new_mem_buf(pem, (int)count);
    if (!text) return 0;
    X509 *certificate = next_certificate(text);
    int isRight = certificate && SSL_CTX_use_certificate(context, certificate) && SSL_CTX_clear_chain_certs(context);
    X509_free(certificate);
    while (isRight) {
        X509 *above = next_certificate(text);
        if (!above) {
            isRight = ERR_peek_error() == 0;
            break;
        }
        isRight = SSL_CTX_add0_chain_cert(context, above);
        if (!isRight) X509_free(above);
    }
    BIO_free(text);
    return isRight;
}

int perch_tls_use_key(SSL_CTX *context, const void *pem, size_t count) {
    perch_tls_require_sealed(context, 0);
    ERR_clear_error();
    BIO *text = BIO_new_mem_buf(pem, (int)count);
    if (!text) return 0;
    int isEncrypted = 0;
    EVP_PKEY *key = PEM_read_bio_PrivateKey(text, NULL, no_password, &isEncrypted);
    BIO_free(text);
    if (!key) return isEncrypted ? -2 : 0;
    X509 *certificate = SSL_CTX_get0_certificate(context);
    int result = 0;
    if (certificate && !X509_check_private_key(certificate, key)) {
        result = -1;
    } else {
        result = SSL_CTX_use_PrivateKey(context, key);
    }
    EVP_PKEY_free(key);
    return result;
}

int perch_tls_trust(SSL_CTX *context, const void *pem, size_t count) {
    perch_tls_require_sealed(context, 0);
    ERR_clear_error();
    BIO *text = BIO_new_mem_buf(pem, (int)count);
    if (!text) return 0;
    X509_STORE *store = SSL_CTX_get_cert_store(context);
    int taken = 0;
    X509 *authority;
    while ((authority = next_certificate(text))) {
        /* The handshake sends the client the list of accepted authorities. */
        int isRight = X509_STORE_add_cert(store, authority) && SSL_CTX_add_client_CA(context, authority);
        X509_free(authority);
        if (!isRight) {
            taken = 0;
            break;
        }
        taken++;
    }
    BIO_free(text);
    return ERR_peek_error() ? 0 : taken;
}

int perch_tls_trust_system(SSL_CTX *context) {
    perch_tls_require_sealed(context, 0);
    ERR_clear_error();
    return SSL_CTX_set_default_verify_paths(context);
}

void perch_tls_ask_for_certificate(SSL_CTX *context, int is_required) {
    perch_tls_require_sealed(context, 0);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | (is_required ? SSL_VERIFY_FAIL_IF_NO_PEER_CERT : 0), NULL);
}

void perch_tls_set_scope(SSL_CTX *context, const uint8_t *id) {
    perch_tls_require_sealed(context, 0);
    SSL_CTX_set_session_id_context(context, id, SSL_MAX_SID_CTX_LENGTH);
}

void perch_tls_set_session_lifetime(SSL_CTX *context, long seconds) {
    perch_tls_require_sealed(context, 0);
    SSL_CTX_set_timeout(context, seconds);
}

int64_t perch_tls_seconds(const ASN1_TIME *time);

int perch_tls_own_validity(SSL_CTX *context, int64_t *not_before, int64_t *not_after) {
    X509 *certificate = SSL_CTX_get0_certificate(context);
    if (!certificate) return 0;
    *not_before = perch_tls_seconds(X509_get0_notBefore(certificate));
    *not_after = perch_tls_seconds(X509_get0_notAfter(certificate));
    return 1;
}

int perch_tls_own_fingerprint(SSL_CTX *context, uint8_t *digest) {
    X509 *certificate = SSL_CTX_get0_certificate(context);
    return certificate && X509_digest(certificate, EVP_sha256(), digest, NULL);
}

/* Tickets. */

struct perch_tls_ticket_keys {
    pthread_mutex_t lock;
    int hasPrevious;
    uint8_t current[PERCH_TLS_TICKET_KEY_BYTES];
    uint8_t previous[PERCH_TLS_TICKET_KEY_BYTES];
};

/* A failed lock operation ends the process, because the keys would be unprotected. */
static void lock(perch_tls_ticket_keys *keys) {
    if (pthread_mutex_lock(&keys->lock)) trap("the ticket keys are locked twice by one thread");
}

static void unlock(perch_tls_ticket_keys *keys) {
    if (pthread_mutex_unlock(&keys->lock)) trap("the ticket keys are unlocked by who does not hold them");
}

perch_tls_ticket_keys *perch_tls_ticket_keys_new(void) {
    perch_tls_ticket_keys *keys = calloc(1, sizeof *keys);
    if (!keys) return NULL;
    pthread_mutexattr_t checked;
    if (pthread_mutexattr_init(&checked) || pthread_mutexattr_settype(&checked, PTHREAD_MUTEX_ERRORCHECK) ||
        pthread_mutex_init(&keys->lock, &checked)) {
        trap("no memory for the lock of the ticket keys");
    }
    pthread_mutexattr_destroy(&checked);
    return keys;
}

void perch_tls_ticket_keys_set(perch_tls_ticket_keys *keys, const uint8_t *current, const uint8_t *previous) {
    lock(keys);
    memcpy(keys->current, current, sizeof keys->current);
    keys->hasPrevious = previous != NULL;
    if (previous) {
        memcpy(keys->previous, previous, sizeof keys->previous);
    } else {
        OPENSSL_cleanse(keys->previous, sizeof keys->previous);
    }
    unlock(keys);
}

void perch_tls_ticket_keys_free(perch_tls_ticket_keys *keys) {
    if (!keys) return;
    /* Fails if a thread holds the lock. */
    if (pthread_mutex_destroy(&keys->lock)) trap("the ticket keys are freed while in use");
    OPENSSL_clear_free(keys, sizeof *keys);
}

/* Returns 1 if the key is valid, 2 if it is valid but must be renewed, 0 if it is unknown. */
static int ticket_key(
    SSL *connection, unsigned char *name, unsigned char *iv, EVP_CIPHER_CTX *cipher, EVP_MAC_CTX *mac, int is_new) {
    perch_tls_ticket_keys *keys = SSL_CTX_get_ex_data(SSL_get_SSL_CTX(connection), ticket_key_index);
    if (!keys) return -1;
    uint8_t key[PERCH_TLS_TICKET_KEY_BYTES];
    int result = 1;
    lock(keys);
    if (is_new || CRYPTO_memcmp(name, keys->current, 16) == 0) {
        memcpy(key, keys->current, sizeof key);
    } else if (keys->hasPrevious && CRYPTO_memcmp(name, keys->previous, 16) == 0) {
        memcpy(key, keys->previous, sizeof key);
        result = 2;
    } else {
        result = 0;
    }
    unlock(keys);
    if (!result) return 0;
    /* A TLS 1.3 ticket is for one use, so each resumption gets a new one. */
    if (!is_new && SSL_version(connection) == TLS1_3_VERSION) result = 2;
    char digest[] = "SHA256";
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_octet_string(OSSL_MAC_PARAM_KEY, key + 48, 32),
        OSSL_PARAM_construct_utf8_string(OSSL_MAC_PARAM_DIGEST, digest, 0), OSSL_PARAM_construct_end()};
    int isRight = EVP_MAC_CTX_set_params(mac, parameters);
    if (is_new) {
        memcpy(name, key, 16);
        isRight = isRight && RAND_bytes(iv, EVP_CIPHER_get_iv_length(EVP_aes_256_cbc())) == 1 &&
                  EVP_EncryptInit_ex(cipher, EVP_aes_256_cbc(), NULL, key + 16, iv);
    } else {
        isRight = isRight && EVP_DecryptInit_ex(cipher, EVP_aes_256_cbc(), NULL, key + 16, iv);
    }
    OPENSSL_cleanse(key, sizeof key);
    return isRight ? result : -1;
}

void perch_tls_use_ticket_keys(SSL_CTX *context, perch_tls_ticket_keys *keys) {
    perch_tls_require_sealed(context, 0);
    SSL_CTX_set_ex_data(context, ticket_key_index, keys);
    SSL_CTX_set_tlsext_ticket_key_evp_cb(context, ticket_key);
}

void perch_tls_hmac(const uint8_t *key, size_t key_count, const uint8_t *bytes, size_t count, uint8_t *digest) {
    HMAC(EVP_sha256(), key, (int)key_count, bytes, count, digest, NULL);
}

void perch_tls_sha256(const uint8_t *bytes, size_t count, uint8_t *digest) {
    EVP_Digest(bytes, count, digest, NULL, EVP_sha256(), NULL);
}
