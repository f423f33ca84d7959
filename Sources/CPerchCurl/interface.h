#ifndef PERCH_CURL_INTERFACE_H
#define PERCH_CURL_INTERFACE_H

#include <sys/socket.h>

/* What is used of libcurl's binary interface, which has been stable since libcurl.so.4 (2006). Declared here, so that a build needs no
   package beyond those of the toolchain; where libcurl's headers are installed, the end of this file compares the numbers. */

struct own_slist;

struct own_sockaddr {
    int family;
    int socktype;
    int protocol;
    unsigned int addrlen;
    struct sockaddr addr;
};

struct own_message {
    int kind;
    void *easy;
    union {
        void *whatever;
        int result;
    } data;
};

typedef int curl_global_init_function(long flags);
typedef void *curl_easy_init_function(void);
typedef void curl_easy_cleanup_function(void *easy);
typedef int curl_easy_setopt_function(void *easy, int option, ...);
typedef int curl_easy_getinfo_function(void *easy, int info, ...);
typedef const char *curl_easy_strerror_function(int code);
typedef struct own_slist *curl_slist_append_function(struct own_slist *list, const char *text);
typedef void curl_slist_free_all_function(struct own_slist *list);
typedef void *curl_multi_init_function(void);
typedef int curl_multi_cleanup_function(void *multi);
typedef int curl_multi_setopt_function(void *multi, int option, ...);
typedef int curl_multi_add_handle_function(void *multi, void *easy);
typedef int curl_multi_remove_handle_function(void *multi, void *easy);
typedef int curl_multi_perform_function(void *multi, int *running);
typedef int curl_multi_poll_function(void *multi, void *extra, unsigned int count, int milliseconds, int *ready);
typedef int curl_multi_wakeup_function(void *multi);
typedef struct own_message *curl_multi_info_read_function(void *multi, int *left);

enum { OWN_ERROR_SIZE = 256, OWN_SOCKET_BAD = -1, OWN_MESSAGE_DONE = 1, OWN_GLOBAL_DEFAULT = 3 };
enum { OWN_PROTOCOL_HTTP = 1, OWN_PROTOCOL_HTTPS = 2 };
#define OWN_HTTP_VERSION_1_1 2L
#define OWN_SSLVERSION_TLSV1_2 6L

/* Name here, number, name there. */
#define OPTIONS(X)                                                                                                     \
    X(OWN_WRITEDATA, 10001, CURLOPT_WRITEDATA)                                                                         \
    X(OWN_URL, 10002, CURLOPT_URL)                                                                                     \
    X(OWN_PROXY, 10004, CURLOPT_PROXY)                                                                                 \
    X(OWN_ERRORBUFFER, 10010, CURLOPT_ERRORBUFFER)                                                                     \
    X(OWN_WRITEFUNCTION, 20011, CURLOPT_WRITEFUNCTION)                                                                 \
    X(OWN_POSTFIELDS, 10015, CURLOPT_POSTFIELDS)                                                                       \
    X(OWN_HTTPHEADER, 10023, CURLOPT_HTTPHEADER)                                                                       \
    X(OWN_HEADERDATA, 10029, CURLOPT_HEADERDATA)                                                                       \
    X(OWN_SSLVERSION, 32, CURLOPT_SSLVERSION)                                                                          \
    X(OWN_CUSTOMREQUEST, 10036, CURLOPT_CUSTOMREQUEST)                                                                 \
    X(OWN_NOPROGRESS, 43, CURLOPT_NOPROGRESS)                                                                          \
    X(OWN_FOLLOWLOCATION, 52, CURLOPT_FOLLOWLOCATION)                                                                  \
    X(OWN_POSTFIELDSIZE, 60, CURLOPT_POSTFIELDSIZE)                                                                    \
    X(OWN_SSL_VERIFYPEER, 64, CURLOPT_SSL_VERIFYPEER)                                                                  \
    X(OWN_CAINFO, 10065, CURLOPT_CAINFO)                                                                               \
    X(OWN_FRESH_CONNECT, 74, CURLOPT_FRESH_CONNECT)                                                                    \
    X(OWN_HEADERFUNCTION, 20079, CURLOPT_HEADERFUNCTION)                                                               \
    X(OWN_SSL_VERIFYHOST, 81, CURLOPT_SSL_VERIFYHOST)                                                                  \
    X(OWN_HTTP_VERSION, 84, CURLOPT_HTTP_VERSION)                                                                      \
    X(OWN_QUICK_EXIT, 322, CURLOPT_QUICK_EXIT)                                                                         \
    X(OWN_DNS_CACHE_TIMEOUT, 92, CURLOPT_DNS_CACHE_TIMEOUT)                                                            \
    X(OWN_NOSIGNAL, 99, CURLOPT_NOSIGNAL)                                                                              \
    X(OWN_PRIVATE, 10103, CURLOPT_PRIVATE)                                                                             \
    X(OWN_TIMEOUT_MS, 155, CURLOPT_TIMEOUT_MS)                                                                         \
    X(OWN_CONNECTTIMEOUT_MS, 156, CURLOPT_CONNECTTIMEOUT_MS)                                                           \
    X(OWN_OPENSOCKETFUNCTION, 20163, CURLOPT_OPENSOCKETFUNCTION)                                                       \
    X(OWN_OPENSOCKETDATA, 10164, CURLOPT_OPENSOCKETDATA)                                                               \
    X(OWN_PROTOCOLS, 181, CURLOPT_PROTOCOLS)                                                                           \
    X(OWN_RESOLVE, 10203, CURLOPT_RESOLVE)

#define MULTI_OPTIONS(X)                                                                                               \
    X(OWN_M_MAXCONNECTS, 6, CURLMOPT_MAXCONNECTS)                                                                      \
    X(OWN_M_MAX_TOTAL_CONNECTIONS, 13, CURLMOPT_MAX_TOTAL_CONNECTIONS)

#define INFOS(X)                                                                                                       \
    X(OWN_INFO_PRIVATE, 0x100015, CURLINFO_PRIVATE)                                                                    \
    X(OWN_INFO_RESPONSE_CODE, 0x200002, CURLINFO_RESPONSE_CODE)

#define CODES(X)                                                                                                       \
    X(OWN_E_OK, 0, CURLE_OK)                                                                                           \
    X(OWN_E_UNSUPPORTED_PROTOCOL, 1, CURLE_UNSUPPORTED_PROTOCOL)                                                       \
    X(OWN_E_URL_MALFORMAT, 3, CURLE_URL_MALFORMAT)                                                                     \
    X(OWN_E_COULDNT_RESOLVE_HOST, 6, CURLE_COULDNT_RESOLVE_HOST)                                                       \
    X(OWN_E_COULDNT_CONNECT, 7, CURLE_COULDNT_CONNECT)                                                                 \
    X(OWN_E_WEIRD_SERVER_REPLY, 8, CURLE_WEIRD_SERVER_REPLY)                                                           \
    X(OWN_E_PARTIAL_FILE, 18, CURLE_PARTIAL_FILE)                                                                      \
    X(OWN_E_OPERATION_TIMEDOUT, 28, CURLE_OPERATION_TIMEDOUT)                                                          \
    X(OWN_E_SSL_CONNECT_ERROR, 35, CURLE_SSL_CONNECT_ERROR)                                                            \
    X(OWN_E_GOT_NOTHING, 52, CURLE_GOT_NOTHING)                                                                        \
    X(OWN_E_SEND_ERROR, 55, CURLE_SEND_ERROR)                                                                          \
    X(OWN_E_RECV_ERROR, 56, CURLE_RECV_ERROR)                                                                          \
    X(OWN_E_PEER_FAILED_VERIFICATION, 60, CURLE_PEER_FAILED_VERIFICATION)                                              \
    X(OWN_E_SSL_CACERT_BADFILE, 77, CURLE_SSL_CACERT_BADFILE)

#define NUMBER(own, number, theirs) own = number,
enum { OPTIONS(NUMBER) MULTI_OPTIONS(NUMBER) INFOS(NUMBER) };
enum { CODES(NUMBER) };

#if __has_include(<curl/curl.h>)
#define CURL_NO_OLDIES
#define CURL_DISABLE_DEPRECATION
#include <curl/curl.h>
#include <stddef.h>
#define COMPARE(own, number, theirs) _Static_assert((int)theirs == number, #theirs);
OPTIONS(COMPARE)
MULTI_OPTIONS(COMPARE)
INFOS(COMPARE)
CODES(COMPARE)
_Static_assert(CURL_ERROR_SIZE == OWN_ERROR_SIZE, "the size of a message");
_Static_assert(CURL_SOCKET_BAD == OWN_SOCKET_BAD, "a socket that is none");
_Static_assert((int)CURLMSG_DONE == (int) OWN_MESSAGE_DONE, "a request's end");
_Static_assert(CURL_GLOBAL_DEFAULT == OWN_GLOBAL_DEFAULT, "what is initialised");
_Static_assert(CURLPROTO_HTTP == OWN_PROTOCOL_HTTP && CURLPROTO_HTTPS == OWN_PROTOCOL_HTTPS, "protocols");
_Static_assert(CURL_HTTP_VERSION_1_1 == OWN_HTTP_VERSION_1_1, "HTTP/1.1");
_Static_assert(CURL_SSLVERSION_TLSv1_2 == OWN_SSLVERSION_TLSV1_2, "TLS 1.2");
_Static_assert(offsetof(struct curl_sockaddr, addr) == offsetof(struct own_sockaddr, addr), "an address");
_Static_assert(offsetof(CURLMsg, data) == offsetof(struct own_message, data), "a message");
#endif

#endif
