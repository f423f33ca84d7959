#ifndef CPERCHX509_H
#define CPERCHX509_H

#include "CPerchCrypto.h"
#include <stddef.h>
#include <stdint.h>

/* Certificate chains in Apple's profile: leaf, intermediate, pinned root. Checks a chain at an instant, and issues
   certificates of the same profile. Certificates are DER (RFC 5280). */

typedef struct perch_bytes {
    const uint8_t *start;
    size_t count;
} perch_bytes;

/* Why a chain is rejected. `place` says which certificate: 0 leaf, 1 intermediate, 2 root. */
enum {
    PERCH_CHAIN_GOOD = 0,
    /* Not exactly one certificate in DER. */
    PERCH_CHAIN_NOT_DER = 1,
    /* No path of three certificates to a given root, or a rule of RFC 5280 is broken; `detail` is OpenSSL's number. */
    PERCH_CHAIN_NO_PATH = 2,
    PERCH_CHAIN_NOT_YET_VALID = 3,
    PERCH_CHAIN_ENDED = 4,
    /* The certificate lacks Apple's marker extension. */
    PERCH_CHAIN_NO_MARKER = 5,
    /* The leaf's key is not of P-256. */
    PERCH_CHAIN_OTHER_KEY = 6,
    /* The machine has no memory. */
    PERCH_CHAIN_NO_MEMORY = 7,
};

typedef struct perch_chain {
    int fault, place, detail;
    /* Seconds since the Unix epoch in which all three certificates are valid: `begins` is the first, `ends` is one
       past the last. Valid if the fault is GOOD. */
    int64_t begins, ends;
} perch_chain;

/* Checks that the leaf and the intermediate reach one of the roots at `seconds` since the Unix epoch, strictly
   (X509_V_FLAG_X509_STRICT), and that both have Apple's markers. Returns the leaf's key; NULL with a fault in `chain`.
   Roots that are not DER are a fault, because they are configuration. */
perch_key *perch_chain_check(
    perch_bytes leaf, perch_bytes intermediate, const perch_bytes *roots, size_t root_count, int64_t seconds,
    perch_chain *chain);

/* OpenSSL's sentence for a `detail`. It is static. */
const char *perch_chain_detail(int detail);

/* What perch_certificate_issue writes into a certificate. */
typedef struct perch_issue {
    const char *common_name, *organisation;
    /* Seconds since the Unix epoch. */
    int64_t begins, ends;
    /* The marker extension, such as "1.2.840.113635.100.6.2.1", with the value NULL. NULL for none. */
    const char *marker;
    /* The authority that signs: its certificate and key. Empty for a self-signed root. */
    perch_bytes issuer, issuer_key;
    int is_authority;
    /* Most authorities below; -1 for no limit. */
    int path_length;
    /* The curve is P-384, else P-256. */
    int is_p384;
    /* Without subject and authority key identifiers, which strict checks require. */
    int lacks_identifiers;
    /* Address of the OCSP responder, such as "http://127.0.0.1:7450/ocsp"; NULL for none. */
    const char *responder;
    /* Host names of a TLS server, such as "DNS:a.example,DNS:b.example"; NULL for a certificate of another use. */
    const char *names;
} perch_issue;

/* Creates a key and its certificate, both DER (the key: PKCS #8). Free both with perch_issued_free. Returns 0 on
   failure. */
int perch_certificate_issue(
    const perch_issue *issue, uint8_t **certificate, size_t *certificate_count, uint8_t **key, size_t *key_count);
/* Overwrites and frees what was issued. */
void perch_issued_free(uint8_t *bytes, size_t count);

/* A certificate that a responder vouches for, and the authority that issued it, with its key in PKCS #8. All DER. */
typedef struct perch_vouched {
    perch_bytes certificate, issuer, issuer_key;
} perch_vouched;

/* Answers an OCSP request (RFC 6960): `good` for a certificate of the list, `unknown` for any other. The issuer signs the
   answer and is named by its key's hash. Valid from `seconds` since the Unix epoch for `valid_seconds`. Free the answer with
   perch_issued_free. Returns 0 if the bytes are no request about an issuer of the list. */
int perch_ocsp_answer(
    perch_bytes request, const perch_vouched *vouched, size_t count, int64_t seconds, int64_t valid_seconds,
    uint8_t **answer, size_t *answer_count);

/* Returns 1 if the bytes are one certificate in DER that names itself as its issuer. */
int perch_certificate_is_root(const uint8_t *bytes, size_t count);

/* Signs with P-256 as perch_sign does, with the same signature for the same message (RFC 6979, with SHA-256). Returns 1 on
   success. */
int perch_sign_again(const perch_key *key, const uint8_t *message, size_t count, uint8_t signature[64]);

/* Reads a private key from PKCS #8 DER. Returns NULL if it is none. */
perch_key *perch_key_pkcs8(const uint8_t *bytes, size_t count);

#endif
