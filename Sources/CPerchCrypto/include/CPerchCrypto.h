#ifndef CPERCHCRYPTO_H
#define CPERCHCRYPTO_H

#include <stddef.h>
#include <stdint.h>

/* What tokens are signed with, over OpenSSL's libcrypto: its own interface is of macros, parameter lists and buffers
   that it gives away. Signatures are those of JWS (RFC 7518 and 8037): 64 bytes each. */

/* A key of ECDSA with P-256 or of Ed25519. Made by one of these functions, released by perch_key_free. */
typedef struct perch_key perch_key;

enum { PERCH_KEY_OTHER = 0, PERCH_KEY_P256 = 1, PERCH_KEY_ED25519 = 2 };

/* NULL: the point is not on the curve, or `d` (NULL for a public key) is not its key. Each 32 bytes. */
perch_key *perch_key_p256(const uint8_t *x, const uint8_t *y, const uint8_t *d);
/* NULL: `seed` (NULL for a public key) is not that of `x`. Each 32 bytes. */
perch_key *perch_key_ed25519(const uint8_t *x, const uint8_t *seed);
/* From PEM: the first private key or public key of the text, never one that needs a password. NULL: there is none. */
perch_key *perch_key_pem(const uint8_t *bytes, size_t count, int *is_private);
/* A new one; NULL: the machine has no randomness. */
perch_key *perch_key_generate(int kind);
int perch_key_kind(const perch_key *key);
/* P-256: x and y, 64 bytes. Ed25519: x, 32 bytes. Answers how many; 0: it has none. */
size_t perch_key_public(const perch_key *key, uint8_t out[64]);
/* 32 bytes: d, or the seed. 0: it is a public key. */
int perch_key_private(const perch_key *key, uint8_t out[32]);
void perch_key_free(perch_key *key);

/* 1: the signature is that key's over the message. */
int perch_verify(const perch_key *key, const uint8_t *message, size_t count, const uint8_t signature[64]);
/* 1: it is signed. */
int perch_sign(const perch_key *key, const uint8_t *message, size_t count, uint8_t signature[64]);
/* HMAC with SHA-256. 1: it is there. */
int perch_hmac(const uint8_t *key, size_t key_count, const uint8_t *message, size_t count, uint8_t out[32]);
/* In a time that tells nothing of where they differ. 1: they are equal. */
int perch_equal(const uint8_t *left, const uint8_t *right, size_t count);
/* Overwrites what nobody shall find in memory. */
void perch_forget(void *bytes, size_t count);
/* 1: random bytes that nobody can guess. */
int perch_random(uint8_t *out, size_t count);

#endif
