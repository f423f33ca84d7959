#include "CPerchCurl.h"

#include <arpa/inet.h>
#include <dlfcn.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "interface.h"

/* Each function of libcurl that is used here. */
#define FUNCTIONS(X)                                                                                                   \
    X(curl_global_init) X(curl_easy_init) X(curl_easy_cleanup) X(curl_easy_setopt)                                     \
    X(curl_easy_getinfo) X(curl_easy_strerror) X(curl_slist_append) X(curl_slist_free_all) X(curl_multi_init)          \
    X(curl_multi_cleanup) X(curl_multi_setopt) X(curl_multi_add_handle) X(curl_multi_remove_handle)                    \
    X(curl_multi_perform) X(curl_multi_poll) X(curl_multi_wakeup) X(curl_multi_info_read)

#define DECLARE(name) static name##_function *own_##name;
FUNCTIONS(DECLARE)

static pthread_once_t once = PTHREAD_ONCE_INIT;
static char load_error[256];
static int is_loaded;

static void load(void) {
    void *library = dlopen("libcurl.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        strncpy(load_error, dlerror(), sizeof(load_error) - 1);
        return;
    }
#define FIND(name)                                                                                                     \
    own_##name = (name##_function *)dlsym(library, #name);                                                             \
    if (own_##name == NULL) {                                                                                          \
        strncpy(load_error, dlerror(), sizeof(load_error) - 1);                                                        \
        return;                                                                                                        \
    }
    FUNCTIONS(FIND)
    if (own_curl_global_init(OWN_GLOBAL_DEFAULT) != 0) {
        strncpy(load_error, "libcurl cannot be initialised", sizeof(load_error) - 1);
        return;
    }
    is_loaded = 1;
}

int perch_curl_load(void) {
    pthread_once(&once, load);
    return is_loaded;
}

const char *perch_curl_load_error(void) { return load_error; }

struct perch_curl_set {
    void *multi;
    int allows_private;
    int allows_loopback_http;
    char *authorities;
};

struct perch_curl_request {
    void *easy;
    struct own_slist *headers;
    struct own_slist *resolved;
    const perch_curl_set *set;
    uint64_t number;
    uint8_t *sent;
    uint8_t *body;
    size_t body_count;
    size_t body_room;
    size_t body_max;
    size_t header_bytes;
    int status;
    int is_plain;
    int is_too_long;
    int opened;
    perch_curl_fault fault;
    char refused[INET6_ADDRSTRLEN];
    char message[OWN_ERROR_SIZE];
    char retry_after[64];
    char content_type[64];
    char date[64];
};

/* Addresses */

enum { ADDRESS_PUBLIC, ADDRESS_LOOPBACK, ADDRESS_PRIVATE };

static int in4(uint32_t address, uint32_t network, int bits) { return (address ^ network) >> (32 - bits) == 0; }

/* By the registries of special-purpose addresses (RFC 6890 and its updates), and multicast. */
static int kind4(uint32_t address) {
    if (in4(address, 0x7f000000, 8)) return ADDRESS_LOOPBACK;
    static const struct {
        uint32_t network;
        int bits;
    } special[] = {
        {0x00000000, 8},  {0x0a000000, 8},  {0x64400000, 10}, {0xa9fe0000, 16}, {0xac100000, 12}, {0xc0000000, 24},
        {0xc0000200, 24}, {0xc0586300, 24}, {0xc0a80000, 16}, {0xc6120000, 15}, {0xc6336400, 24}, {0xcb007100, 24},
        {0xe0000000, 3},
    };
    for (size_t index = 0; index < sizeof(special) / sizeof(special[0]); index++) {
        if (in4(address, special[index].network, special[index].bits)) return ADDRESS_PRIVATE;
    }
    return ADDRESS_PUBLIC;
}

static uint32_t word(const uint8_t *bytes) {
    return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static int kind6(const uint8_t address[16]) {
    static const uint8_t loopback[16] = {[15] = 1};
    static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};
    static const uint8_t translated[12] = {0x00, 0x64, 0xff, 0x9b};
    if (memcmp(address, loopback, 16) == 0) return ADDRESS_LOOPBACK;
    /* An address of version 4 in another form. */
    if (memcmp(address, mapped, 12) == 0 || memcmp(address, translated, 12) == 0) return kind4(word(address + 12));
    if (address[0] == 0x20 && address[1] == 0x02) return kind4(word(address + 2));
    /* Only 2000::/3 is assigned to the public; Teredo, documentation and benchmarks lie within it. */
    if (address[0] >> 5 != 1) return ADDRESS_PRIVATE;
    uint32_t first = word(address);
    if (first == 0x20010000 || first == 0x20010db8 || first == 0x20010002 || first >> 12 == 0x3fff0) return ADDRESS_PRIVATE;
    return ADDRESS_PUBLIC;
}

static int kind(const struct sockaddr *address) {
    if (address->sa_family == AF_INET) {
        return kind4(ntohl(((const struct sockaddr_in *)(const void *)address)->sin_addr.s_addr));
    }
    if (address->sa_family == AF_INET6) {
        return kind6(((const struct sockaddr_in6 *)(const void *)address)->sin6_addr.s6_addr);
    }
    return ADDRESS_PRIVATE;
}

int perch_curl_is_public(const char *text) {
    struct in_addr four;
    struct in6_addr six;
    if (inet_pton(AF_INET, text, &four) == 1) return kind4(ntohl(four.s_addr)) == ADDRESS_PUBLIC;
    if (inet_pton(AF_INET6, text, &six) == 1) return kind6(six.s6_addr) == ADDRESS_PUBLIC;
    return -1;
}

/* Callbacks of one request */

/* libcurl asks for the socket of each address that it tries. What is checked here is what is connected to, so an answer of DNS that
   changes later changes nothing. */
static int open_socket(void *context, int purpose, struct own_sockaddr *wanted) {
    (void)purpose;
    perch_curl_request *request = context;
    int is = kind(&wanted->addr);
    int allowed;
    if (request->is_plain) {
        allowed = is == ADDRESS_LOOPBACK && request->set->allows_loopback_http;
    } else {
        allowed = is == ADDRESS_PUBLIC || request->set->allows_private;
    }
    if (!allowed) {
        const void *bytes = wanted->addr.sa_family == AF_INET
                                ? (const void *)&((const struct sockaddr_in *)(const void *)&wanted->addr)->sin_addr
                                : (const void *)&((const struct sockaddr_in6 *)(const void *)&wanted->addr)->sin6_addr;
        if (inet_ntop(wanted->addr.sa_family, bytes, request->refused, sizeof(request->refused)) == NULL) {
            strcpy(request->refused, "?");
        }
        return OWN_SOCKET_BAD;
    }
    request->opened++;
    return socket(wanted->family, wanted->socktype | SOCK_CLOEXEC, wanted->protocol);
}

static size_t take_body(char *bytes, size_t size, size_t count, void *context) {
    perch_curl_request *request = context;
    size_t all = size * count;
    if (all > request->body_max - request->body_count) {
        request->is_too_long = 1;
        return 0;
    }
    if (request->body_count + all > request->body_room) {
        size_t room = request->body_room < 4096 ? 4096 : request->body_room * 2;
        while (room < request->body_count + all) room *= 2;
        uint8_t *grown = realloc(request->body, room);
        if (grown == NULL) return 0;
        request->body = grown;
        request->body_room = room;
    }
    memcpy(request->body + request->body_count, bytes, all);
    request->body_count += all;
    return all;
}

static void keep_header(const char *line, size_t count, const char *name, char *value, size_t room) {
    size_t length = strlen(name);
    if (count <= length || strncasecmp(line, name, length) != 0) return;
    const char *from = line + length, *end = line + count;
    while (from < end && (*from == ' ' || *from == '\t')) from++;
    while (end > from && (end[-1] == '\r' || end[-1] == '\n' || end[-1] == ' ')) end--;
    if ((size_t)(end - from) >= room) return;
    memcpy(value, from, (size_t)(end - from));
    value[end - from] = 0;
}

static size_t take_header(char *bytes, size_t size, size_t count, void *context) {
    perch_curl_request *request = context;
    size_t all = size * count;
    request->header_bytes += all;
    if (request->header_bytes > 64 * 1024) {
        request->is_too_long = 1;
        return 0;
    }
    keep_header(bytes, all, "retry-after:", request->retry_after, sizeof(request->retry_after));
    keep_header(bytes, all, "date:", request->date, sizeof(request->date));
    keep_header(bytes, all, "content-type:", request->content_type, sizeof(request->content_type));
    return all;
}

/* Sets */

perch_curl_set *perch_curl_set_make(const perch_curl_rules *rules) {
    perch_curl_set *set = calloc(1, sizeof(*set));
    if (set == NULL) return NULL;
    set->multi = own_curl_multi_init();
    if (set->multi == NULL) {
        free(set);
        return NULL;
    }
    set->allows_private = rules->allows_private;
    set->allows_loopback_http = rules->allows_loopback_http;
    if (rules->authorities != NULL) set->authorities = strdup(rules->authorities);
    own_curl_multi_setopt(set->multi, OWN_M_MAX_TOTAL_CONNECTIONS, (long)rules->connections_max);
    own_curl_multi_setopt(set->multi, OWN_M_MAXCONNECTS, (long)rules->connections_max);
    return set;
}

void perch_curl_set_free(perch_curl_set *set) {
    own_curl_multi_cleanup(set->multi);
    free(set->authorities);
    free(set);
}

void perch_curl_wake(perch_curl_set *set) { own_curl_multi_wakeup(set->multi); }
void perch_curl_wait(perch_curl_set *set, int milliseconds) {
    own_curl_multi_poll(set->multi, NULL, 0, milliseconds, NULL);
}

int perch_curl_advance(perch_curl_set *set) {
    int running = 0;
    own_curl_multi_perform(set->multi, &running);
    return running;
}

/* Requests */

static int add_resolved(perch_curl_request *request, const char *url, const char *addresses) {
    const char *host = strstr(url, "://");
    if (host == NULL) return 0;
    host += 3;
    size_t length = strcspn(host, "/?#");
    int port = request->is_plain ? 80 : 443;
    const char *end = host + length;
    const char *colon = memchr(host, ':', length);
    if (colon != NULL && host[0] != '[') {
        port = atoi(colon + 1);
        end = colon;
    }
    char line[512];
    int count = snprintf(line, sizeof(line), "%.*s:%d:%s", (int)(end - host), host, port, addresses);
    if (count < 0 || count >= (int)sizeof(line)) return 0;
    request->resolved = own_curl_slist_append(NULL, line);
    return request->resolved != NULL;
}

perch_curl_request *perch_curl_begin(perch_curl_set *set, uint64_t number, const char *method, const char *url,
                                     const char *headers, int header_count, const uint8_t *body, size_t body_count,
                                     size_t body_max, int milliseconds, const char *addresses) {
    int is_plain = strncasecmp(url, "http://", 7) == 0;
    if (is_plain ? !set->allows_loopback_http : strncasecmp(url, "https://", 8) != 0) return NULL;
    perch_curl_request *request = calloc(1, sizeof(*request));
    if (request == NULL) return NULL;
    request->easy = own_curl_easy_init();
    if (request->easy == NULL) goto failed;
    request->set = set;
    request->number = number;
    request->is_plain = is_plain;
    request->body_max = body_max;
    for (int index = 0; index < header_count; index++) {
        struct own_slist *longer = own_curl_slist_append(request->headers, headers);
        if (longer == NULL) goto failed;
        request->headers = longer;
        headers += strlen(headers) + 1;
    }
    /* Otherwise libcurl waits a second for leave to send a body. */
    struct own_slist *longer = own_curl_slist_append(request->headers, "Expect:");
    if (longer == NULL) goto failed;
    request->headers = longer;
    if (body_count > 0) {
        request->sent = malloc(body_count);
        if (request->sent == NULL) goto failed;
        memcpy(request->sent, body, body_count);
    }
    int failed = 0;
#define SET(option, value) failed |= own_curl_easy_setopt(request->easy, option, value)
    SET(OWN_URL, url);
    SET(OWN_PROTOCOLS, (long)(is_plain ? OWN_PROTOCOL_HTTP : OWN_PROTOCOL_HTTPS));
    SET(OWN_FOLLOWLOCATION, 0L);
    SET(OWN_NOSIGNAL, 1L);
    SET(OWN_NOPROGRESS, 1L);
    /* A proxy of the environment would resolve the name, and nothing here would see the address. */
    SET(OWN_PROXY, "");
    SET(OWN_HTTP_VERSION, OWN_HTTP_VERSION_1_1);
    SET(OWN_SSLVERSION, OWN_SSLVERSION_TLSV1_2);
    SET(OWN_SSL_VERIFYPEER, 1L);
    SET(OWN_SSL_VERIFYHOST, 2L);
    if (set->authorities != NULL) SET(OWN_CAINFO, set->authorities);
    SET(OWN_TIMEOUT_MS, (long)milliseconds);
    SET(OWN_CONNECTTIMEOUT_MS, (long)milliseconds);
    SET(OWN_DNS_CACHE_TIMEOUT, 0L);
    SET(OWN_ERRORBUFFER, request->message);
    SET(OWN_PRIVATE, request);
    SET(OWN_OPENSOCKETDATA, request);
    SET(OWN_OPENSOCKETFUNCTION, open_socket);
    SET(OWN_WRITEDATA, request);
    SET(OWN_WRITEFUNCTION, take_body);
    SET(OWN_HEADERDATA, request);
    SET(OWN_HEADERFUNCTION, take_header);
    SET(OWN_HTTPHEADER, request->headers);
    SET(OWN_CUSTOMREQUEST, method);
    /* A request with a method of its own and a body, even an empty one where the method has one. */
    if (body_count > 0 || strcmp(method, "GET") != 0) {
        SET(OWN_POSTFIELDSIZE, (long)body_count);
        SET(OWN_POSTFIELDS, request->sent == NULL ? "" : (const char *)request->sent);
    }
    /* Otherwise the end of a request waits for a resolver that hangs. libcurl has it since 7.87. */
    (void)own_curl_easy_setopt(request->easy, OWN_QUICK_EXIT, 1L);
    if (addresses != NULL) {
        if (!add_resolved(request, url, addresses)) goto failed;
        SET(OWN_RESOLVE, request->resolved);
        /* An idle connection was made by another answer. */
        SET(OWN_FRESH_CONNECT, 1L);
    }
    if (failed != 0 || own_curl_multi_add_handle(set->multi, request->easy) != 0) goto failed;
    return request;
failed:
    perch_curl_request_free(request);
    return NULL;
}

static perch_curl_fault fault_of(const perch_curl_request *request, int code) {
    if (code == OWN_E_OK) return PERCH_CURL_NONE;
    if (request->is_too_long) return PERCH_CURL_TOO_LONG;
    switch (code) {
    case OWN_E_UNSUPPORTED_PROTOCOL:
    case OWN_E_URL_MALFORMAT: return PERCH_CURL_URL;
    case OWN_E_COULDNT_RESOLVE_HOST: return PERCH_CURL_NAME;
    case OWN_E_COULDNT_CONNECT:
        return request->refused[0] != 0 && request->opened == 0 ? PERCH_CURL_PRIVATE : PERCH_CURL_CONNECT;
    case OWN_E_OPERATION_TIMEDOUT: return PERCH_CURL_TIMEOUT;
    case OWN_E_PEER_FAILED_VERIFICATION: return PERCH_CURL_CERTIFICATE;
    case OWN_E_SSL_CONNECT_ERROR:
    case OWN_E_SSL_CACERT_BADFILE: return PERCH_CURL_TLS;
    case OWN_E_PARTIAL_FILE:
    case OWN_E_GOT_NOTHING:
    case OWN_E_SEND_ERROR:
    case OWN_E_RECV_ERROR:
    case OWN_E_WEIRD_SERVER_REPLY: return PERCH_CURL_BROKEN;
    default: return PERCH_CURL_OTHER;
    }
}

perch_curl_request *perch_curl_next(perch_curl_set *set) {
    int left = 0;
    struct own_message *message;
    while ((message = own_curl_multi_info_read(set->multi, &left)) != NULL) {
        if (message->kind != OWN_MESSAGE_DONE) continue;
        int code = message->data.result;
        void *easy = message->easy;
        perch_curl_request *request = NULL;
        own_curl_easy_getinfo(easy, OWN_INFO_PRIVATE, &request);
        long status = 0;
        own_curl_easy_getinfo(easy, OWN_INFO_RESPONSE_CODE, &status);
        own_curl_multi_remove_handle(set->multi, easy);
        request->status = (int)status;
        request->fault = fault_of(request, code);
        if (code != OWN_E_OK && request->message[0] == 0) {
            strncpy(request->message, own_curl_easy_strerror(code), sizeof(request->message) - 1);
        }
        return request;
    }
    return NULL;
}

void perch_curl_cancel(perch_curl_set *set, perch_curl_request *request) {
    own_curl_multi_remove_handle(set->multi, request->easy);
}

void perch_curl_request_free(perch_curl_request *request) {
    if (request->easy != NULL) own_curl_easy_cleanup(request->easy);
    own_curl_slist_free_all(request->headers);
    own_curl_slist_free_all(request->resolved);
    free(request->sent);
    free(request->body);
    free(request);
}

uint64_t perch_curl_number(const perch_curl_request *request) { return request->number; }
perch_curl_fault perch_curl_request_fault(const perch_curl_request *request) { return request->fault; }
const char *perch_curl_message(const perch_curl_request *request) { return request->message; }
const char *perch_curl_refused_address(const perch_curl_request *request) { return request->refused; }
int perch_curl_status(const perch_curl_request *request) { return request->status; }
const uint8_t *perch_curl_body(const perch_curl_request *request, size_t *count) {
    *count = request->body_count;
    return request->body;
}
const char *perch_curl_retry_after(const perch_curl_request *request) { return request->retry_after; }
const char *perch_curl_content_type(const perch_curl_request *request) { return request->content_type; }
const char *perch_curl_date(const perch_curl_request *request) { return request->date; }
