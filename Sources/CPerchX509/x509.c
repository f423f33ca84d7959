/* ECDSA with a chosen number is in the interface of OpenSSL 1 alone, before 3.2. */
#define OPENSSL_SUPPRESS_DEPRECATED
#include "CPerchX509.h"

#include <limits.h>
#include <openssl/asn1.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/objects.h>
#include <openssl/ocsp.h>
#include <openssl/rand.h>
#include <openssl/sha.h>
#include <openssl/x509.h>
#include <openssl/x509_vfy.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

static const char leaf_marker[] = "1.2.840.113635.100.6.11.1";
static const char intermediate_marker[] = "1.2.840.113635.100.6.2.1";

/* Reads exactly one certificate. Bytes behind it are refused, and so is any encoding but DER: a certificate has one
   form, so two caches or two programs cannot take one certificate for two. */
static X509 *certificate_of(perch_bytes bytes) {
    if (bytes.count == 0 || bytes.count > LONG_MAX) return NULL;
    const uint8_t *at = bytes.start;
    X509 *certificate = d2i_X509(NULL, &at, (long)bytes.count);
    if (certificate == NULL) return NULL;
    uint8_t *again = NULL;
    int count = i2d_X509(certificate, &again);
    int is_same = at == bytes.start + bytes.count && count > 0 && (size_t)count == bytes.count
        && memcmp(again, bytes.start, bytes.count) == 0;
    OPENSSL_free(again);
    if (is_same) return certificate;
    X509_free(certificate);
    return NULL;
}

static int has_marker(const X509 *certificate, const char *marker) {
    ASN1_OBJECT *object = OBJ_txt2obj(marker, 1);
    int has = object != NULL && X509_get_ext_by_OBJ(certificate, object, -1) >= 0;
    ASN1_OBJECT_free(object);
    return has;
}

/* Seconds since the Unix epoch. */
static int seconds_of(const ASN1_TIME *time, int64_t *out) {
    struct tm parts;
    if (ASN1_TIME_to_tm(time, &parts) != 1) return 0;
    time_t seconds = timegm(&parts);
    *out = (int64_t)seconds;
    return 1;
}

static void refuse(perch_chain *chain, int fault, int place, int detail) {
    chain->fault = fault;
    chain->place = place;
    chain->detail = detail;
}

/* The last second that a certificate can name, in the year 9999. OpenSSL fails at times beyond. */
static const int64_t last_second = 253402300799;

static int64_t within(int64_t value, int64_t least, int64_t most) {
    return value < least ? least : value > most ? most : value;
}

/* Leaves the times of certificates to `check_times`: versions of OpenSSL differ in whether a certificate is valid in the
   second of its notAfter. The time stays set, because it decides between roots of one name. */
static int leave_times(int is_good, X509_STORE_CTX *context) {
    int detail = X509_STORE_CTX_get_error(context);
    return is_good || detail == X509_V_ERR_CERT_NOT_YET_VALID || detail == X509_V_ERR_CERT_HAS_EXPIRED;
}

/* Computes the window of a chain, and whether `seconds` lies in it: from notBefore through notAfter (RFC 5280, section
   4.1.2.5). */
static int check_times(STACK_OF(X509) *path, int64_t seconds, perch_chain *chain) {
    chain->begins = INT64_MIN;
    chain->ends = INT64_MAX;
    for (int place = 2; place >= 0; place--) {
        const X509 *certificate = sk_X509_value(path, place);
        int64_t begins, last;
        if (!seconds_of(X509_get0_notBefore(certificate), &begins)
            || !seconds_of(X509_get0_notAfter(certificate), &last)) {
            refuse(chain, PERCH_CHAIN_NOT_DER, place, 0);
            return 0;
        }
        if (seconds < begins || seconds > last) {
            refuse(chain, seconds < begins ? PERCH_CHAIN_NOT_YET_VALID : PERCH_CHAIN_ENDED, place, 0);
            return 0;
        }
        if (begins > chain->begins) chain->begins = begins;
        if (last + 1 < chain->ends) chain->ends = last + 1;
    }
    return 1;
}

/* Judges the chain that was built: its length, its times, its markers and the leaf's key. */
static perch_key *judge(perch_chain *chain, STACK_OF(X509) *path, int64_t seconds) {
    if (sk_X509_num(path) != 3) {
        refuse(chain, PERCH_CHAIN_NO_PATH, 0, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT);
        return NULL;
    }
    if (!check_times(path, seconds, chain)) return NULL;
    X509 *leaf = sk_X509_value(path, 0);
    if (!has_marker(leaf, leaf_marker)) {
        refuse(chain, PERCH_CHAIN_NO_MARKER, 0, 0);
        return NULL;
    }
    if (!has_marker(sk_X509_value(path, 1), intermediate_marker)) {
        refuse(chain, PERCH_CHAIN_NO_MARKER, 1, 0);
        return NULL;
    }
    perch_key *key = (perch_key *)X509_get_pubkey(leaf);
    if (key == NULL || perch_key_kind(key) != PERCH_KEY_P256) {
        refuse(chain, PERCH_CHAIN_OTHER_KEY, 0, 0);
        perch_key_free(key);
        return NULL;
    }
    return key;
}

static int add_roots(X509_STORE *store, const perch_bytes *roots, size_t count) {
    for (size_t index = 0; index < count; index++) {
        X509 *root = certificate_of(roots[index]);
        int is_added = root != NULL && X509_STORE_add_cert(store, root) == 1;
        X509_free(root);
        if (!is_added) return 0;
    }
    return 1;
}

static perch_key *check(
    X509 *leaf, X509 *intermediate, X509_STORE *store, STACK_OF(X509) *others, int64_t seconds, perch_chain *chain) {
    X509_STORE_CTX *context = X509_STORE_CTX_new();
    perch_key *key = NULL;
    if (context == NULL || sk_X509_push(others, intermediate) <= 0
        || X509_STORE_CTX_init(context, store, leaf, others) != 1) {
        refuse(chain, PERCH_CHAIN_NO_MEMORY, 0, 0);
    } else {
        X509_VERIFY_PARAM *rules = X509_STORE_CTX_get0_param(context);
        X509_VERIFY_PARAM_set_flags(rules, X509_V_FLAG_X509_STRICT | X509_V_FLAG_USE_CHECK_TIME);
        X509_VERIFY_PARAM_set_time(rules, (time_t)within(seconds, 0, last_second));
        /* At least 112 bits of security: no SHA-1, no short keys. */
        X509_VERIFY_PARAM_set_auth_level(rules, 2);
        X509_STORE_CTX_set_verify_cb(context, leave_times);
        if (X509_verify_cert(context) == 1)
            key = judge(chain, X509_STORE_CTX_get0_chain(context), seconds);
        else
            refuse(
                chain, PERCH_CHAIN_NO_PATH, X509_STORE_CTX_get_error_depth(context),
                X509_STORE_CTX_get_error(context));
    }
    X509_STORE_CTX_free(context);
    return key;
}

perch_key *perch_chain_check(
    perch_bytes leaf_bytes, perch_bytes intermediate_bytes, const perch_bytes *roots, size_t root_count,
    int64_t seconds, perch_chain *chain) {
    memset(chain, 0, sizeof *chain);
    X509 *leaf = certificate_of(leaf_bytes), *intermediate = certificate_of(intermediate_bytes);
    X509_STORE *store = X509_STORE_new();
    STACK_OF(X509) *others = sk_X509_new_null();
    perch_key *key = NULL;
    if (leaf == NULL)
        refuse(chain, PERCH_CHAIN_NOT_DER, 0, 0);
    else if (intermediate == NULL)
        refuse(chain, PERCH_CHAIN_NOT_DER, 1, 0);
    else if (store == NULL || others == NULL)
        refuse(chain, PERCH_CHAIN_NO_MEMORY, 0, 0);
    else if (!add_roots(store, roots, root_count))
        refuse(chain, PERCH_CHAIN_NOT_DER, 2, 0);
    else
        key = check(leaf, intermediate, store, others, seconds, chain);
    sk_X509_free(others);
    X509_STORE_free(store);
    X509_free(intermediate);
    X509_free(leaf);
    ERR_clear_error();
    return key;
}

int perch_certificate_is_root(const uint8_t *bytes, size_t count) {
    X509 *certificate = certificate_of((perch_bytes){bytes, count});
    int is_root = certificate != NULL
        && X509_NAME_cmp(X509_get_subject_name(certificate), X509_get_issuer_name(certificate)) == 0;
    X509_free(certificate);
    ERR_clear_error();
    return is_root;
}

const char *perch_chain_detail(int detail) { return X509_verify_cert_error_string(detail); }

/* Issuing. */

static int extend(X509 *certificate, X509 *issuer, int nid, const char *value) {
    X509V3_CTX context;
    X509V3_set_ctx_nodb(&context);
    X509V3_set_ctx(&context, issuer, certificate, NULL, NULL, 0);
    X509_EXTENSION *extension = X509V3_EXT_conf_nid(NULL, &context, nid, value);
    int is_added = extension != NULL && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    return is_added;
}

/* The marker's value is NULL, as in Apple's certificates. */
static int mark(X509 *certificate, const char *marker) {
    static const uint8_t null[] = {0x05, 0x00};
    ASN1_OBJECT *object = OBJ_txt2obj(marker, 1);
    ASN1_OCTET_STRING *value = ASN1_OCTET_STRING_new();
    X509_EXTENSION *extension = NULL;
    int is_added = object != NULL && value != NULL && ASN1_OCTET_STRING_set(value, null, sizeof null) == 1
        && (extension = X509_EXTENSION_create_by_OBJ(NULL, object, 0, value)) != NULL
        && X509_add_ext(certificate, extension, -1) == 1;
    X509_EXTENSION_free(extension);
    ASN1_OCTET_STRING_free(value);
    ASN1_OBJECT_free(object);
    return is_added;
}

static int number(X509 *certificate) {
    uint8_t bytes[16];
    if (RAND_bytes(bytes, sizeof bytes) != 1) return 0;
    bytes[0] = (uint8_t)(bytes[0] & 0x7F) | 0x40;
    BIGNUM *value = BN_bin2bn(bytes, sizeof bytes, NULL);
    int is_set = value != NULL && BN_to_ASN1_INTEGER(value, X509_get_serialNumber(certificate)) != NULL;
    BN_free(value);
    return is_set;
}

static int name(X509 *certificate, const perch_issue *issue) {
    X509_NAME *subject = X509_get_subject_name(certificate);
    return X509_NAME_add_entry_by_txt(
               subject, "CN", MBSTRING_UTF8, (const unsigned char *)issue->common_name, -1, -1, 0) == 1
        && X509_NAME_add_entry_by_txt(
               subject, "O", MBSTRING_UTF8, (const unsigned char *)issue->organisation, -1, -1, 0) == 1;
}

static int constrain(X509 *certificate, X509 *issuer, const perch_issue *issue) {
    if (!issue->is_authority)
        return extend(certificate, issuer, NID_basic_constraints, "critical,CA:FALSE")
            && extend(certificate, issuer, NID_key_usage, "critical,digitalSignature");
    char value[64];
    if (issue->path_length < 0)
        snprintf(value, sizeof value, "critical,CA:TRUE");
    else
        snprintf(value, sizeof value, "critical,CA:TRUE,pathlen:%d", issue->path_length);
    return extend(certificate, issuer, NID_basic_constraints, value)
        && extend(certificate, issuer, NID_key_usage, "critical,keyCertSign,cRLSign");
}

/* Where the certificate is used: its responder, and the names of a TLS server. */
static int place(X509 *certificate, X509 *issuer, const perch_issue *issue) {
    if (issue->responder != NULL) {
        char value[128];
        int count = snprintf(value, sizeof value, "OCSP;URI:%s", issue->responder);
        if (count < 0 || (size_t)count >= sizeof value || !extend(certificate, issuer, NID_info_access, value)) return 0;
    }
    return issue->names == NULL
        || (extend(certificate, issuer, NID_subject_alt_name, issue->names)
            && extend(certificate, issuer, NID_ext_key_usage, "serverAuth"));
}

static int fill(X509 *certificate, EVP_PKEY *key, X509 *issuer, const perch_issue *issue) {
    X509 *above = issuer == NULL ? certificate : issuer;
    return X509_set_version(certificate, X509_VERSION_3) == 1 && number(certificate)
        && ASN1_TIME_adj(X509_getm_notBefore(certificate), (time_t)issue->begins, 0, 0) != NULL
        && ASN1_TIME_adj(X509_getm_notAfter(certificate), (time_t)issue->ends, 0, 0) != NULL
        && name(certificate, issue) && X509_set_issuer_name(certificate, X509_get_subject_name(above)) == 1
        && X509_set_pubkey(certificate, key) == 1 && constrain(certificate, above, issue)
        && (issue->lacks_identifiers || extend(certificate, above, NID_subject_key_identifier, "hash"))
        && (issue->lacks_identifiers || issuer == NULL
            || extend(certificate, above, NID_authority_key_identifier, "keyid:always"))
        && place(certificate, above, issue) && (issue->marker == NULL || mark(certificate, issue->marker));
}

/* PKCS #8 in memory that OpenSSL allocated. */
static int key_bytes(EVP_PKEY *key, uint8_t **out, size_t *count) {
    PKCS8_PRIV_KEY_INFO *form = EVP_PKEY2PKCS8(key);
    int length = form == NULL ? -1 : i2d_PKCS8_PRIV_KEY_INFO(form, out);
    PKCS8_PRIV_KEY_INFO_free(form);
    if (length <= 0) return 0;
    *count = (size_t)length;
    return 1;
}

static EVP_PKEY *private_key(const uint8_t *bytes, size_t count) {
    if (count == 0 || count > LONG_MAX) return NULL;
    const uint8_t *at = bytes;
    PKCS8_PRIV_KEY_INFO *form = d2i_PKCS8_PRIV_KEY_INFO(NULL, &at, (long)count);
    EVP_PKEY *key = form == NULL || at != bytes + count ? NULL : EVP_PKCS82PKEY(form);
    PKCS8_PRIV_KEY_INFO_free(form);
    return key;
}

perch_key *perch_key_pkcs8(const uint8_t *bytes, size_t count) {
    EVP_PKEY *key = private_key(bytes, count);
    ERR_clear_error();
    return (perch_key *)key;
}

int perch_certificate_issue(
    const perch_issue *issue, uint8_t **certificate_out, size_t *certificate_count, uint8_t **key_out,
    size_t *key_count) {
    *certificate_out = *key_out = NULL;
    *certificate_count = *key_count = 0;
    int is_root = issue->issuer.count == 0;
    EVP_PKEY *key = EVP_EC_gen(issue->is_p384 ? "P-384" : "P-256");
    X509 *certificate = X509_new(), *issuer = is_root ? NULL : certificate_of(issue->issuer);
    EVP_PKEY *issuer_key = is_root ? NULL : private_key(issue->issuer_key.start, issue->issuer_key.count);
    int is_made = key != NULL && certificate != NULL && (is_root || (issuer != NULL && issuer_key != NULL))
        && fill(certificate, key, issuer, issue)
        && X509_sign(certificate, is_root ? key : issuer_key, EVP_sha384()) > 0;
    if (is_made) {
        int count = i2d_X509(certificate, certificate_out);
        is_made = count > 0 && key_bytes(key, key_out, key_count);
        *certificate_count = count > 0 ? (size_t)count : 0;
    }
    if (!is_made) {
        perch_issued_free(*certificate_out, *certificate_count);
        perch_issued_free(*key_out, *key_count);
        *certificate_out = *key_out = NULL;
    }
    X509_free(issuer);
    X509_free(certificate);
    EVP_PKEY_free(issuer_key);
    EVP_PKEY_free(key);
    ERR_clear_error();
    return is_made;
}

void perch_issued_free(uint8_t *bytes, size_t count) {
    if (bytes != NULL) OPENSSL_clear_free(bytes, count);
}

/* OCSP. */

/* A vouched certificate as OpenSSL has it. */
typedef struct opened_pair {
    X509 *certificate, *issuer;
    EVP_PKEY *key;
} opened_pair;

static opened_pair open_pair(const perch_vouched *vouched) {
    return (opened_pair){
        certificate_of(vouched->certificate), certificate_of(vouched->issuer),
        private_key(vouched->issuer_key.start, vouched->issuer_key.count)};
}

static void close_pair(opened_pair *pair) {
    X509_free(pair->certificate);
    X509_free(pair->issuer);
    EVP_PKEY_free(pair->key);
}

enum { OTHER_ISSUER = 0, SAME_ISSUER = 1, SAME_CERTIFICATE = 2 };

static int match(OCSP_CERTID *asked, const opened_pair *pair) {
    ASN1_OBJECT *algorithm = NULL;
    if (OCSP_id_get0_info(NULL, &algorithm, NULL, NULL, asked) != 1) return OTHER_ISSUER;
    const EVP_MD *digest = EVP_get_digestbyobj(algorithm);
    OCSP_CERTID *own = digest == NULL ? NULL : OCSP_cert_to_id(digest, pair->certificate, pair->issuer);
    int found = OTHER_ISSUER;
    if (own != NULL && OCSP_id_issuer_cmp(asked, own) == 0)
        found = OCSP_id_cmp(asked, own) == 0 ? SAME_CERTIFICATE : SAME_ISSUER;
    OCSP_CERTID_free(own);
    return found;
}

/* Answers for the certificates that the pair's issuer has issued; the number of those that it answers for. */
static int vouch(
    OCSP_REQUEST *request, OCSP_BASICRESP *basic, const perch_vouched *vouched, size_t count, const opened_pair *signer,
    ASN1_TIME *begins, ASN1_TIME *ends) {
    int answered = 0;
    for (int index = 0; index < OCSP_request_onereq_count(request); index++) {
        OCSP_CERTID *asked = OCSP_onereq_get0_id(OCSP_request_onereq_get0(request, index));
        if (match(asked, signer) == OTHER_ISSUER) continue;
        int status = V_OCSP_CERTSTATUS_UNKNOWN;
        for (size_t each = 0; each < count; each++) {
            opened_pair pair = open_pair(&vouched[each]);
            if (pair.certificate != NULL && pair.issuer != NULL && match(asked, &pair) == SAME_CERTIFICATE)
                status = V_OCSP_CERTSTATUS_GOOD;
            close_pair(&pair);
        }
        if (OCSP_basic_add1_status(basic, asked, status, 0, NULL, begins, ends) == NULL) return 0;
        answered++;
    }
    return answered;
}

static int sign_answer(
    OCSP_REQUEST *request, OCSP_BASICRESP *basic, const opened_pair *signer, uint8_t **answer, size_t *answer_count) {
    (void)OCSP_copy_nonce(basic, request);
    if (OCSP_basic_sign(basic, signer->issuer, signer->key, EVP_sha384(), NULL, OCSP_NOCERTS | OCSP_RESPID_KEY) != 1)
        return 0;
    OCSP_RESPONSE *response = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic);
    int length = response == NULL ? -1 : i2d_OCSP_RESPONSE(response, answer);
    OCSP_RESPONSE_free(response);
    *answer_count = length > 0 ? (size_t)length : 0;
    return length > 0;
}

int perch_ocsp_answer(
    perch_bytes bytes, const perch_vouched *vouched, size_t count, int64_t seconds, int64_t valid_seconds,
    uint8_t **answer, size_t *answer_count) {
    *answer = NULL;
    *answer_count = 0;
    const uint8_t *at = bytes.start;
    OCSP_REQUEST *request
        = bytes.count == 0 || bytes.count > LONG_MAX ? NULL : d2i_OCSP_REQUEST(NULL, &at, (long)bytes.count);
    ASN1_TIME *begins = ASN1_TIME_adj(NULL, (time_t)seconds, 0, 0);
    ASN1_TIME *ends = ASN1_TIME_adj(NULL, (time_t)(seconds + valid_seconds), 0, 0);
    int is_made = 0;
    for (size_t index = 0; request != NULL && begins != NULL && ends != NULL && index < count && !is_made; index++) {
        opened_pair signer = open_pair(&vouched[index]);
        OCSP_BASICRESP *basic = OCSP_BASICRESP_new();
        is_made = signer.certificate != NULL && signer.issuer != NULL && signer.key != NULL && basic != NULL
            && vouch(request, basic, vouched, count, &signer, begins, ends) > 0
            && sign_answer(request, basic, &signer, answer, answer_count);
        OCSP_BASICRESP_free(basic);
        close_pair(&signer);
    }
    ASN1_TIME_free(begins);
    ASN1_TIME_free(ends);
    OCSP_REQUEST_free(request);
    ERR_clear_error();
    return is_made;
}

/* Signatures that are the same each time. */

/* HMAC of up to four pieces, into `out`. */
static int hmac(const uint8_t key[32], const perch_bytes *pieces, size_t count, uint8_t out[32]) {
    uint8_t message[32 + 1 + 32 + 32];
    size_t length = 0;
    for (size_t index = 0; index < count; index++) {
        memcpy(message + length, pieces[index].start, pieces[index].count);
        length += pieces[index].count;
    }
    int ok = perch_hmac(key, 32, message, length, out);
    perch_forget(message, sizeof message);
    return ok;
}

/* The generator of RFC 6979, section 3.2. */
typedef struct generator {
    uint8_t key[32], value[32];
} generator;

static int stir(generator *state, uint8_t separator, const uint8_t *secret, const uint8_t *digest) {
    perch_bytes pieces[4] = {{state->value, 32}, {&separator, 1}, {secret, 32}, {digest, 32}};
    perch_bytes value = {state->value, 32};
    uint8_t key[32];
    int ok = hmac(state->key, pieces, secret == NULL ? 2 : 4, key);
    memcpy(state->key, key, 32);
    perch_forget(key, sizeof key);
    uint8_t next[32];
    ok = ok && hmac(state->key, &value, 1, next);
    if (ok) memcpy(state->value, next, 32);
    return ok;
}

static int draw(generator *state, BIGNUM *number) {
    perch_bytes value = {state->value, 32};
    uint8_t next[32];
    if (!hmac(state->key, &value, 1, next)) return 0;
    memcpy(state->value, next, 32);
    return BN_bin2bn(state->value, 32, number) != NULL;
}

/* One attempt with the number k: r and k's inverse. Returns 0 where r is zero. */
static int point(const EC_GROUP *group, const BIGNUM *k, BIGNUM *r, BIGNUM *inverse, BN_CTX *context) {
    const BIGNUM *order = EC_GROUP_get0_order(group);
    EC_POINT *at = EC_POINT_new(group);
    int ok = at != NULL && EC_POINT_mul(group, at, k, NULL, NULL, context) == 1
        && EC_POINT_get_affine_coordinates(group, at, r, NULL, context) == 1 && BN_nnmod(r, r, order, context) == 1
        && !BN_is_zero(r) && BN_mod_inverse(inverse, k, order, context) != NULL;
    EC_POINT_clear_free(at);
    return ok;
}

static int sign_by(EC_KEY *key, const uint8_t digest[32], const uint8_t secret[32], uint8_t signature[64]) {
    const EC_GROUP *group = EC_KEY_get0_group(key);
    const BIGNUM *order = EC_GROUP_get0_order(group);
    BN_CTX *context = BN_CTX_secure_new();
    BIGNUM *k = BN_secure_new(), *r = BN_new(), *inverse = BN_secure_new(), *reduced = BN_bin2bn(digest, 32, NULL);
    generator state;
    memset(state.key, 0, sizeof state.key);
    memset(state.value, 1, sizeof state.value);
    uint8_t short_digest[32];
    int is_ready = context != NULL && k != NULL && r != NULL && inverse != NULL && reduced != NULL
        && BN_nnmod(reduced, reduced, order, context) == 1 && BN_bn2binpad(reduced, short_digest, 32) == 32
        && stir(&state, 0, secret, short_digest) && stir(&state, 1, secret, short_digest);
    int is_signed = 0;
    if (is_ready) BN_set_flags(k, BN_FLG_CONSTTIME);
    while (is_ready && !is_signed) {
        is_ready = draw(&state, k);
        if (is_ready && !BN_is_zero(k) && BN_cmp(k, order) < 0 && point(group, k, r, inverse, context)) {
            ECDSA_SIG *pair = ECDSA_do_sign_ex(digest, 32, inverse, r, key);
            is_signed = pair != NULL && BN_bn2binpad(ECDSA_SIG_get0_r(pair), signature, 32) == 32
                && BN_bn2binpad(ECDSA_SIG_get0_s(pair), signature + 32, 32) == 32;
            ECDSA_SIG_free(pair);
        }
        if (is_ready && !is_signed) is_ready = stir(&state, 0, NULL, NULL);
    }
    perch_forget(&state, sizeof state);
    BN_clear_free(k);
    BN_clear_free(inverse);
    BN_free(r);
    BN_free(reduced);
    BN_CTX_free(context);
    return is_signed;
}

int perch_sign_again(const perch_key *key, const uint8_t *message, size_t count, uint8_t signature[64]) {
    uint8_t secret[32], digest[32];
    EC_KEY *pair = perch_key_kind(key) == PERCH_KEY_P256 ? EVP_PKEY_get1_EC_KEY((EVP_PKEY *)key) : NULL;
    int ok = pair != NULL && perch_key_private(key, secret) && SHA256(message, count, digest) != NULL
        && sign_by(pair, digest, secret, signature);
    perch_forget(secret, sizeof secret);
    EC_KEY_free(pair);
    ERR_clear_error();
    return ok;
}
