#ifndef CPERCHCERTIFICATES_H
#define CPERCHCERTIFICATES_H

#include <stdint.h>

/* Creates a key and its certificate as PEM, signed with the issuer's key or self-signed. Free both texts with
   `perch_certificate_text_free`. Returns 0 on failure. */
typedef struct perch_certificate_recipe {
    const char *common_name;
    /* In OpenSSL's configuration syntax: "DNS:localhost,IP:127.0.0.1". NULL if there are none. */
    const char *alternative_names;
    /* Seconds from now. */
    int64_t begins, ends;
    int is_authority;
    const char *issuer_certificate, *issuer_key;
} perch_certificate_recipe;

int perch_certificate_make(
    const perch_certificate_recipe *recipe, char **certificate, char **key);
void perch_certificate_text_free(char *text);

#endif
