#include "CPerchCrypto.h"

#include <openssl/bio.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/param_build.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <string.h>

/* A perch_key is an EVP_PKEY. The own name keeps OpenSSL's headers out of this interface. */
static EVP_PKEY *opened(const perch_key *key) { return (EVP_PKEY *)key; }

/* Callers report failures, so OpenSSL's error queue is cleared; it would only grow. */
static perch_key *closed(EVP_PKEY *key) {
    ERR_clear_error();
    return (perch_key *)key;
}

/* Whether a key is valid: its point is on the curve, and the private half matches the public one. */
static int is_sound(EVP_PKEY *key, int is_private) {
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new(key, NULL);
    int sound = context != NULL && EVP_PKEY_public_check(context) == 1
        && (!is_private || EVP_PKEY_pairwise_check(context) == 1);
    EVP_PKEY_CTX_free(context);
    return sound;
}

perch_key *perch_key_p256(const uint8_t *x, const uint8_t *y, const uint8_t *d, int is_checked) {
    uint8_t point[65] = {4};
    memcpy(point + 1, x, 32);
    memcpy(point + 33, y, 32);
    EVP_PKEY *key = NULL;
    BIGNUM *number = d == NULL ? NULL : BN_secure_new();
    if (number != NULL && BN_bin2bn(d, 32, number) == NULL) {
        BN_clear_free(number);
        return closed(NULL);
    }
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    OSSL_PARAM *parameters = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, "EC", NULL);
    if (builder != NULL && context != NULL && (d == NULL || number != NULL)
        && OSSL_PARAM_BLD_push_utf8_string(builder, OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) == 1
        && OSSL_PARAM_BLD_push_octet_string(builder, OSSL_PKEY_PARAM_PUB_KEY, point, sizeof point) == 1
        && (number == NULL || OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_PRIV_KEY, number) == 1)
        && (parameters = OSSL_PARAM_BLD_to_param(builder)) != NULL && EVP_PKEY_fromdata_init(context) == 1) {
        int selection = number == NULL ? EVP_PKEY_PUBLIC_KEY : EVP_PKEY_KEYPAIR;
        if (EVP_PKEY_fromdata(context, &key, selection, parameters) != 1) key = NULL;
    }
    OSSL_PARAM_free(parameters);
    OSSL_PARAM_BLD_free(builder);
    EVP_PKEY_CTX_free(context);
    BN_clear_free(number);
    if (key != NULL && !is_checked && !is_sound(key, d != NULL)) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    return closed(key);
}

perch_key *perch_key_ed25519(const uint8_t *x, const uint8_t *seed) {
    if (seed == NULL) return closed(EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, x, 32));
    EVP_PKEY *key = EVP_PKEY_new_raw_private_key(EVP_PKEY_ED25519, NULL, seed, 32);
    uint8_t own[32];
    size_t count = sizeof own;
    if (key != NULL
        && (EVP_PKEY_get_raw_public_key(key, own, &count) != 1 || count != 32 || CRYPTO_memcmp(own, x, 32) != 0)) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    return closed(key);
}

/* Never asks for a password, because a server has no terminal. */
static int no_password(char *buffer, int size, int writing, void *unused) {
    (void)buffer, (void)size, (void)writing, (void)unused;
    return 0;
}

perch_key *perch_key_pem(const uint8_t *bytes, size_t count, int *is_private) {
    EVP_PKEY *key = NULL;
    BIO *bio = BIO_new_mem_buf(bytes, (int)count);
    if (bio != NULL) {
        *is_private = 1;
        key = PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL);
        if (key == NULL) {
            *is_private = 0;
            (void)BIO_reset(bio);
            key = PEM_read_bio_PUBKEY(bio, NULL, no_password, NULL);
        }
    }
    BIO_free(bio);
    if (key != NULL && perch_key_kind((perch_key *)key) == PERCH_KEY_P256 && !is_sound(key, *is_private)) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    return closed(key);
}

perch_key *perch_key_generate(int kind) {
    switch (kind) {
    case PERCH_KEY_P256: return closed(EVP_EC_gen("prime256v1"));
    case PERCH_KEY_ED25519: return closed(EVP_PKEY_Q_keygen(NULL, NULL, "ED25519"));
    default: return NULL;
    }
}

int perch_key_kind(const perch_key *key) {
    if (EVP_PKEY_is_a(opened(key), "ED25519")) return PERCH_KEY_ED25519;
    char name[64];
    size_t count = 0;
    if (EVP_PKEY_is_a(opened(key), "EC")
        && EVP_PKEY_get_utf8_string_param(opened(key), OSSL_PKEY_PARAM_GROUP_NAME, name, sizeof name, &count) == 1
        && strcmp(name, "prime256v1") == 0)
        return PERCH_KEY_P256;
    return PERCH_KEY_OTHER;
}

/* A number of a P-256 key, as 32 bytes. */
static int number(const perch_key *key, const char *name, uint8_t out[32]) {
    BIGNUM *value = NULL;
    int ok = EVP_PKEY_get_bn_param(opened(key), name, &value) == 1 && BN_bn2binpad(value, out, 32) == 32;
    BN_clear_free(value);
    ERR_clear_error();
    return ok;
}

size_t perch_key_public(const perch_key *key, uint8_t out[64]) {
    if (perch_key_kind(key) == PERCH_KEY_P256)
        return number(key, OSSL_PKEY_PARAM_EC_PUB_X, out) && number(key, OSSL_PKEY_PARAM_EC_PUB_Y, out + 32) ? 64 : 0;
    size_t count = 32;
    return EVP_PKEY_get_raw_public_key(opened(key), out, &count) == 1 ? count : 0;
}

int perch_key_private(const perch_key *key, uint8_t out[32]) {
    if (perch_key_kind(key) == PERCH_KEY_P256) return number(key, OSSL_PKEY_PARAM_PRIV_KEY, out);
    size_t count = 32;
    int ok = EVP_PKEY_get_raw_private_key(opened(key), out, &count) == 1 && count == 32;
    ERR_clear_error();
    return ok;
}

void perch_key_free(perch_key *key) { EVP_PKEY_free(opened(key)); }

/* JWS concatenates the two numbers of an ECDSA signature; OpenSSL uses ASN.1. */
static int verify_p256(EVP_PKEY *key, const uint8_t *message, size_t count, const uint8_t *signature) {
    ECDSA_SIG *pair = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(signature, 32, NULL);
    BIGNUM *s = BN_bin2bn(signature + 32, 32, NULL);
    if (pair == NULL || r == NULL || s == NULL || ECDSA_SIG_set0(pair, r, s) != 1) {
        BN_free(r);
        BN_free(s);
        ECDSA_SIG_free(pair);
        return 0;
    }
    uint8_t *der = NULL;
    int length = i2d_ECDSA_SIG(pair, &der);
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int ok = length > 0 && context != NULL
        && EVP_DigestVerifyInit(context, NULL, EVP_sha256(), NULL, key) == 1
        && EVP_DigestVerify(context, der, (size_t)length, message, count) == 1;
    EVP_MD_CTX_free(context);
    OPENSSL_free(der);
    ECDSA_SIG_free(pair);
    return ok;
}

int perch_verify(const perch_key *key, const uint8_t *message, size_t count, const uint8_t signature[64]) {
    int ok = 0;
    switch (perch_key_kind(key)) {
    case PERCH_KEY_P256:
        ok = verify_p256(opened(key), message, count, signature);
        break;
    case PERCH_KEY_ED25519: {
        EVP_MD_CTX *context = EVP_MD_CTX_new();
        ok = context != NULL && EVP_DigestVerifyInit(context, NULL, NULL, NULL, opened(key)) == 1
            && EVP_DigestVerify(context, signature, 64, message, count) == 1;
        EVP_MD_CTX_free(context);
        break;
    }
    default: break;
    }
    ERR_clear_error();
    return ok;
}

static int sign_p256(EVP_PKEY *key, const uint8_t *message, size_t count, uint8_t *signature) {
    uint8_t der[128];
    size_t length = sizeof der;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    int ok = context != NULL && EVP_DigestSignInit(context, NULL, EVP_sha256(), NULL, key) == 1
        && EVP_DigestSign(context, der, &length, message, count) == 1;
    EVP_MD_CTX_free(context);
    if (!ok) return 0;
    const uint8_t *at = der;
    ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &at, (long)length);
    ok = pair != NULL && BN_bn2binpad(ECDSA_SIG_get0_r(pair), signature, 32) == 32
        && BN_bn2binpad(ECDSA_SIG_get0_s(pair), signature + 32, 32) == 32;
    ECDSA_SIG_free(pair);
    return ok;
}

int perch_sign(const perch_key *key, const uint8_t *message, size_t count, uint8_t signature[64]) {
    int ok = 0;
    switch (perch_key_kind(key)) {
    case PERCH_KEY_P256:
        ok = sign_p256(opened(key), message, count, signature);
        break;
    case PERCH_KEY_ED25519: {
        size_t length = 64;
        EVP_MD_CTX *context = EVP_MD_CTX_new();
        ok = context != NULL && EVP_DigestSignInit(context, NULL, NULL, NULL, opened(key)) == 1
            && EVP_DigestSign(context, signature, &length, message, count) == 1 && length == 64;
        EVP_MD_CTX_free(context);
        break;
    }
    default: break;
    }
    ERR_clear_error();
    return ok;
}

int perch_hmac(const uint8_t *key, size_t key_count, const uint8_t *message, size_t count, uint8_t out[32]) {
    unsigned int length = 32;
    return HMAC(EVP_sha256(), key, (int)key_count, message, count, out, &length) != NULL && length == 32;
}

int perch_equal(const uint8_t *left, const uint8_t *right, size_t count) {
    return CRYPTO_memcmp(left, right, count) == 0;
}

void perch_forget(void *bytes, size_t count) { OPENSSL_cleanse(bytes, count); }

int perch_random(uint8_t *out, size_t count) { return RAND_bytes(out, (int)count) == 1; }
