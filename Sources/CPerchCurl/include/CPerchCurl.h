#ifndef CPERCHCURL_H
#define CPERCHCURL_H

#include <stddef.h>
#include <stdint.h>

/* libcurl, loaded when the first request is sent. Swift never sees libcurl's own interface: variadic calls and callbacks. */

/* 1: libcurl is loaded. 0: `perch_curl_load_error` says why not. Any thread may call it, repeatedly. */
int perch_curl_load(void);
const char *perch_curl_load_error(void);

/* Why a request has no response. */
typedef enum perch_curl_fault {
    PERCH_CURL_NONE = 0,
    /* The URL's scheme or form is refused. */
    PERCH_CURL_URL = 1,
    PERCH_CURL_NAME = 2,
    /* Every address of the name is private, and the rules refuse those. */
    PERCH_CURL_PRIVATE = 3,
    PERCH_CURL_CONNECT = 4,
    PERCH_CURL_TIMEOUT = 5,
    /* The certificate, its chain, or the host's name in it. */
    PERCH_CURL_CERTIFICATE = 6,
    PERCH_CURL_TLS = 7,
    /* The body or the headers are longer than the limit. */
    PERCH_CURL_TOO_LONG = 8,
    /* The connection ended early, or what came is no HTTP. */
    PERCH_CURL_BROKEN = 9,
    PERCH_CURL_OTHER = 10,
} perch_curl_fault;

/* A set of requests with their connections. Belongs to one thread, but for `perch_curl_wake`. */
typedef struct perch_curl_set perch_curl_set;
typedef struct perch_curl_request perch_curl_request;

typedef struct perch_curl_rules {
    /* Addresses that are not public may be connected to. */
    int allows_private;
    /* Plain http may be sent to loopback addresses, and to those only. */
    int allows_loopback_http;
    /* A file with further certificates of authorities, which replace the system's. NULL: the system's. */
    const char *authorities;
    int connections_max;
} perch_curl_rules;

/* NULL: there is no memory. The texts are copied. */
perch_curl_set *perch_curl_set_make(const perch_curl_rules *rules);
void perch_curl_set_free(perch_curl_set *set);
/* Ends the wait of `perch_curl_wait`. Any thread may call it while the set exists. */
void perch_curl_wake(perch_curl_set *set);
/* Waits for sockets, a wake-up, or the time. */
void perch_curl_wait(perch_curl_set *set, int milliseconds);
/* Moves all requests. Returns how many are still under way. */
int perch_curl_advance(perch_curl_set *set);

/* Begins a request. `headers` has one header a line, each with its NUL, `header_count` of them. `addresses`: what the name
   resolves to, separated by commas, instead of asking the resolver; NULL: the resolver. All is copied. NULL: it is refused at once. */
perch_curl_request *perch_curl_begin(perch_curl_set *set, uint64_t number, const char *method, const char *url,
                                     const char *headers, int header_count, const uint8_t *body, size_t body_count,
                                     size_t body_max, int milliseconds, const char *addresses);
/* The next request that has ended; NULL: none. It belongs to the caller, until `perch_curl_request_free`. */
perch_curl_request *perch_curl_next(perch_curl_set *set);
/* Ends a request that is under way. */
void perch_curl_cancel(perch_curl_set *set, perch_curl_request *request);
void perch_curl_request_free(perch_curl_request *request);

uint64_t perch_curl_number(const perch_curl_request *request);
perch_curl_fault perch_curl_request_fault(const perch_curl_request *request);
/* What libcurl says of the fault. */
const char *perch_curl_message(const perch_curl_request *request);
/* The last address that was refused, as text; empty for none. */
const char *perch_curl_refused_address(const perch_curl_request *request);
int perch_curl_status(const perch_curl_request *request);
const uint8_t *perch_curl_body(const perch_curl_request *request, size_t *count);
/* The values of some headers; empty if they did not come. */
const char *perch_curl_date(const perch_curl_request *request);
const char *perch_curl_retry_after(const perch_curl_request *request);
const char *perch_curl_content_type(const perch_curl_request *request);

/* Whether an address, as text, is public: 1, 0, or -1 for a text that is none. */
int perch_curl_is_public(const char *address);

#endif
