#ifndef CPERCHCRYPTO_H
#define CPERCHCRYPTO_H

#include <stddef.h>
#include <stdint.h>

/* Token signatures with OpenSSL's libcrypto, whose own interface consists of macros, parameter lists and allocated
   buffers. Signatures have the format of JWS (RFC 7518 and 8037): 64 bytes each. */

/* A key of ECDSA with P-256, or of Ed25519. Free it with perch_key_free. */
typedef struct perch_key perch_key;

enum { PERCH_KEY_OTHER = 0, PERCH_KEY_P256 = 1, PERCH_KEY_ED25519 = 2 };

/* Creates a key from 32 bytes each; `d` is NULL for a public key. Returns NULL if the point is not on the curve or
   `d` does not match it. That costs as much as a signature: `is_checked` says that these numbers passed before. */
perch_key *perch_key_p256(const uint8_t *x, const uint8_t *y, const uint8_t *d, int is_checked);
/* Creates a key from 32 bytes each; `seed` is NULL for a public key. Returns NULL if `seed` does not match `x`. */
perch_key *perch_key_ed25519(const uint8_t *x, const uint8_t *seed);
/* Reads the first unencrypted private or public key of a PEM text. Returns NULL if there is none. */
perch_key *perch_key_pem(const uint8_t *bytes, size_t count, int *is_private);
/* Generates a key. Returns NULL if the machine has no randomness. */
perch_key *perch_key_generate(int kind);
int perch_key_kind(const perch_key *key);
/* Writes the public key and returns its length: 64 bytes (x and y) for P-256, 32 (x) for Ed25519, 0 if it has none. */
size_t perch_key_public(const perch_key *key, uint8_t out[64]);
/* Writes the 32 bytes of the private key: d, or the seed. Returns 0 for a public key. */
int perch_key_private(const perch_key *key, uint8_t out[32]);
void perch_key_free(perch_key *key);

/* Returns 1 if the signature over the message is valid. */
int perch_verify(const perch_key *key, const uint8_t *message, size_t count, const uint8_t signature[64]);
/* Returns 1 on success. */
int perch_sign(const perch_key *key, const uint8_t *message, size_t count, uint8_t signature[64]);
/* HMAC with SHA-256. Returns 1 on success. */
int perch_hmac(const uint8_t *key, size_t key_count, const uint8_t *message, size_t count, uint8_t out[32]);
/* Compares in constant time. Returns 1 if equal. */
int perch_equal(const uint8_t *left, const uint8_t *right, size_t count);
/* Overwrites secret bytes. */
void perch_forget(void *bytes, size_t count);
/* Fills `out` with cryptographically secure random bytes. Returns 1 on success. */
int perch_random(uint8_t *out, size_t count);

#endif
