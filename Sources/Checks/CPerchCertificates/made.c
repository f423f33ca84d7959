#include "CPerchCertificates.h"

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Creates certificates for tests, so that the repository contains no keys and no certificate expires. */

static char *text_of(BIO *bio) {
    char *bytes;
    long count = BIO_get_mem_data(bio, &bytes);
    char *text = malloc((size_t)count + 1);
    if (!text) return NULL;
    memcpy(text, bytes, (size_t)count);
    text[count] = 0;
    return text;
}

static int extend(X509 *certificate, X509 *issuer, int nid, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    int isRight = extension && X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
    return isRight;
}

static int fill(X509 *certificate, EVP_PKEY *key, const perch_certificate_recipe *recipe, X509 *issuer) {
    X509_NAME *name = X509_get_subject_name(certificate);
    uint64_t serial;
    // Looked at once: between two looks a second may pass, and the validity would be longer.
    time_t now = time(NULL);
    return RAND_bytes((unsigned char *)&serial, sizeof serial) == 1 && X509_set_version(certificate, X509_VERSION_3) &&
           ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1) &&
           X509_time_adj(X509_getm_notBefore(certificate), (long)recipe->begins, &now) &&
           X509_time_adj(X509_getm_notAfter(certificate), (long)recipe->ends, &now) &&
           X509_NAME_add_entry_by_txt(
               name, "CN", MBSTRING_UTF8, (const unsigned char *)recipe->common_name, -1, -1, 0) &&
           X509_set_issuer_name(certificate, issuer ? X509_get_subject_name(issuer) : name) &&
           X509_set_pubkey(certificate, key) &&
           extend(certificate, issuer ? issuer : certificate, NID_basic_constraints,
                  recipe->is_authority ? "critical,CA:TRUE" : "critical,CA:FALSE") &&
           (!recipe->alternative_names ||
            extend(certificate, issuer ? issuer : certificate, NID_subject_alt_name, recipe->alternative_names));
}

int perch_certificate_make(const perch_certificate_recipe *recipe, char **certificate_text, char **key_text) {
    ERR_clear_error();
    *certificate_text = *key_text = NULL;
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new(), *issuer = NULL;
    EVP_PKEY *issuerKey = NULL;
    BIO *out = BIO_new(BIO_s_mem()), *keyOut = BIO_new(BIO_s_mem());
    int isRight = key && certificate && out && keyOut;
    if (isRight && recipe->issuer_certificate) {
        BIO *in = BIO_new_mem_buf(recipe->issuer_certificate, -1);
        BIO *keyIn = BIO_new_mem_buf(recipe->issuer_key, -1);
        if (in) issuer = PEM_read_bio_X509(in, NULL, NULL, NULL);
        if (keyIn) issuerKey = PEM_read_bio_PrivateKey(keyIn, NULL, NULL, NULL);
        BIO_free(in);
        BIO_free(keyIn);
        isRight = issuer && issuerKey;
    }
    isRight = isRight && fill(certificate, key, recipe, issuer) &&
              X509_sign(certificate, issuerKey ? issuerKey : key, EVP_sha256()) && PEM_write_bio_X509(out, certificate) &&
              PEM_write_bio_PrivateKey(keyOut, key, NULL, NULL, 0, NULL, NULL);
    if (isRight) {
        *certificate_text = text_of(out);
        *key_text = text_of(keyOut);
        isRight = *certificate_text && *key_text;
    }
    BIO_free(out);
    BIO_free(keyOut);
    X509_free(certificate);
    X509_free(issuer);
    EVP_PKEY_free(key);
    EVP_PKEY_free(issuerKey);
    return isRight;
}

void perch_certificate_text_free(char *text) {
    free(text);
}
