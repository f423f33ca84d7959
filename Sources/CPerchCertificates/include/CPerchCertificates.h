#ifndef CPERCHCERTIFICATES_H
#define CPERCHCERTIFICATES_H

#include <stdint.h>

/* Makes a key and a certificate of it, as PEM. Signed with the issuer's key, or with its own. What is made is
   released with `perch_certificate_text_free`. 0 where it failed. */
typedef struct perch_certificate_recipe {
    const char *common_name;
    /* As OpenSSL's configuration writes it: "DNS:localhost,IP:127.0.0.1". NULL for none. */
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
