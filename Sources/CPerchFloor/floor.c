// The baseline server: see CPerchFloor.h.
//
// It answers only the frames that the load generator sends to Perch:
//
//     HELLO                             WELCOME, empty
//     CALL …Task, account …000123       `loading` and the value of key 123, then again after each change of the key
//     CALL ProductsTask                 the same for the catalogue
//     CALL Operate, account …123        changes key 123: MESSAGE with the new revision, STATUS 0
//     CALL LoadCatalog                  changes the catalogue, with the same answer
//     CALL GetServerStatus              the numbers of changes and of batches, as two metrics with Perch's names
//     PING, CANCEL                      no answer, because the generator needs none
//
// With a store, all changes of an iteration are one batch: made durable, then answered and sent (store.c).
//
// An iteration reads all ready sockets, then writes to each connection with pending output: one send for all of it. A
// watch that changed twice in an iteration gets one value. The value is a message of fixed length whose revision is a
// varint padded to ten bytes, so that it is written in place. Up to 4 KiB it is copied into one buffer with its
// neighbours; a longer one is sent from where it lies.
#include "CPerchFloor.h"
#include "frames.h"
#include "store.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

extern int accept4(int, struct sockaddr *, socklen_t *, int);

enum {
    COPIED_MAX = 4096,
    EVENTS = 512,
    READ_BYTES = 256 * 1024,
    STAGING_BYTES = 256 * 1024,
    POSITION_MAX = 13,  // an answer contains only its position
    METRICS_MAX = 128,
    FILLER_FIELD = 15 << 3 | 2,  // an unknown bytes field, which every reader skips
};

struct watch {
    int32_t connection;   // its socket; -1 if free
    uint32_t stream;
    int32_t next_of_key;  // in the list of its key, or in the free list
    int32_t previous_of_key;
    int32_t next_of_connection;
    int32_t next_dirty;
    uint32_t key;
    bool is_dirty, owes_loading;
};

struct key {
    uint64_t revision;
    int32_t first;  // watch
};

// An answer, valid for this iteration only.
struct answer {
    int32_t next;
    uint32_t stream;
    uint64_t revision;
    enum { ANSWER, GREETING, METRICS } kind;
};

// A purchase that waits for its batch.
struct pending {
    int32_t connection;
    uint32_t stream, key;
};

// A large value, shared by all connections that are sending it.
struct body {
    int users;
    uint8_t bytes[];
};

struct connection {
    int32_t first_watch, first_dirty, last_dirty, first_answer, last_answer;
    bool is_open, is_listed, is_blocked;
    uint8_t *partial;  // the beginning of a frame
    uint32_t partial_count, partial_room;
    uint8_t *rest;  // unsent bytes
    uint32_t rest_count, rest_sent;
    struct body *body;  // the large value being sent after `rest`
    uint32_t body_sent;
};

static struct {
    int poller, listener;
    struct connection *connections;
    int connection_count;
    struct watch *watches;
    int32_t watch_count, free_watch;
    struct key *keys;  // the catalogue is key 0, account n is key n + 1
    uint32_t key_count;
    struct answer *answers;
    int32_t answer_count, answer_room;
    int32_t *listed;
    int32_t listed_count;
    struct pending *pending;
    uint32_t pending_count, pending_room;
    uint64_t revision, batches, changes;
    uint32_t value_bytes, answer_bytes;
    bool has_store;
    uint8_t *value;  // prefix and message, without address
    struct body *body;
    uint8_t read_buffer[READ_BYTES], staging[STAGING_BYTES + COPIED_MAX + 64];
} floor_;

static void *grown(void *memory, size_t count, size_t size) {
    memory = realloc(memory, count * size);
    if (!memory) {
        fputs("floor: out of memory\n", stderr);
        exit(1);
    }
    return memory;
}

// --- Encoding frames.

// The prefix, then field 3 (the value), then field 5 { field 1 { field 1: revision } } in the last bytes.
static void build_value(uint32_t bytes) {
    floor_.value_bytes = bytes;
    floor_.value = grown(NULL, 5 + bytes, 1);
    floor_.value[0] = 0;
    uint32_t length = htonl(bytes);
    memcpy(floor_.value + 1, &length, 4);
    uint32_t filler = bytes - 15;
    uint8_t *at = floor_.value + 5;
    *at++ = 0x1a;
    // The width of the length depends on the filler: three padded bytes suffice for 2 MiB, four for more.
    int width = filler < 1u << 21 ? 3 : 4;
    uint32_t inner = filler - 1 - width, left = inner;
    for (int i = 0; i < width - 1; i++, left >>= 7) *at++ = (uint8_t)(left | 0x80);
    *at++ = (uint8_t)left;
    memset(at, 'f', inner);
    at += inner;
    *at++ = 0x2a;
    *at++ = 13;
    *at++ = 0x0a;
    *at++ = 11;
    *at++ = 0x08;
    put_revision(at, 0);
}

// A revision, padded to the length of Perch's answers.
static uint8_t *put_change_answer(uint8_t *at, const struct answer *answer) {
    uint8_t position[POSITION_MAX], *end = position + 3;
    end = put_varint(end, answer->revision);
    uint32_t length = (uint32_t)(end - position);
    position[0] = 0x0a;
    position[1] = (uint8_t)(length - 2);
    position[2] = 0x08;
    // Tag and length of the filler; two bytes of length suffice for 16 kB.
    uint32_t filler = floor_.answer_bytes > length + 3 ? floor_.answer_bytes - length - 3 : 0;
    at = put_header(at, MESSAGE, answer->stream, length + (filler ? filler + 3 : 0));
    memcpy(at, position, length);
    at += length;
    if (filler) {
        *at++ = FILLER_FIELD;
        *at++ = (uint8_t)(filler | 0x80);
        *at++ = (uint8_t)(filler >> 7);
        memset(at, 'f', filler);
        at += filler;
    }
    return put_header(at, STATUS, answer->stream, 0);
}

static uint8_t *put_answer(uint8_t *at, const struct answer *answer) {
    if (answer->kind == GREETING) return put_header(at, WELCOME, 0, 0);
    if (answer->kind == ANSWER) return put_change_answer(at, answer);
    uint8_t metrics[METRICS_MAX], *end = put_metric(metrics, "perch_store_changes_total", (double)floor_.changes);
    if (floor_.has_store) end = put_metric(end, "perch_store_batches_total", (double)floor_.batches);
    at = put_header(at, MESSAGE, answer->stream, (uint32_t)(end - metrics));
    memcpy(at, metrics, (size_t)(end - metrics));
    return put_header(at + (end - metrics), STATUS, answer->stream, 0);
}

static bool is_large(void) { return floor_.value_bytes + 5 > COPIED_MAX; }

static void release(struct body *body) {
    if (body && --body->users == 0) free(body);
}

// --- Connections and watches.

static void list(int32_t number) {
    struct connection *connection = &floor_.connections[number];
    if (connection->is_listed) return;
    connection->is_listed = true;
    floor_.listed[floor_.listed_count++] = number;
}

static void mark(int32_t index) {
    struct watch *watch = &floor_.watches[index];
    if (watch->is_dirty) return;
    watch->is_dirty = true;
    watch->next_dirty = -1;
    struct connection *connection = &floor_.connections[watch->connection];
    if (connection->first_dirty < 0) connection->first_dirty = index;
    else floor_.watches[connection->last_dirty].next_dirty = index;
    connection->last_dirty = index;
    list(watch->connection);
}

static struct key *key_at(uint32_t number) {
    if (number >= floor_.key_count) {
        uint32_t count = number + 1 + number / 2;
        floor_.keys = grown(floor_.keys, count, sizeof(struct key));
        for (uint32_t i = floor_.key_count; i < count; i++) floor_.keys[i] = (struct key){.first = -1};
        floor_.key_count = count;
    }
    return &floor_.keys[number];
}

static void open_watch(int32_t connection, uint32_t stream, uint32_t number) {
    struct key *key = key_at(number);
    int32_t index = floor_.free_watch;
    if (index >= 0) floor_.free_watch = floor_.watches[index].next_of_key;
    else {
        index = floor_.watch_count++;
        // Doubles at powers of two.
        if ((index & (index - 1)) == 0)
            floor_.watches = grown(floor_.watches, index ? 2 * (size_t)index : 1, sizeof(struct watch));
    }
    floor_.watches[index] = (struct watch){
        .connection = connection, .stream = stream, .next_of_key = key->first, .previous_of_key = -1,
        .next_of_connection = floor_.connections[connection].first_watch, .key = number, .owes_loading = true};
    if (key->first >= 0) floor_.watches[key->first].previous_of_key = index;
    key->first = index;
    floor_.connections[connection].first_watch = index;
    mark(index);
}

static void answer(int32_t number, uint32_t stream, uint64_t revision, int kind) {
    if (floor_.answer_count == floor_.answer_room) {
        floor_.answer_room = floor_.answer_room ? 2 * floor_.answer_room : 256;
        floor_.answers = grown(floor_.answers, floor_.answer_room, sizeof(struct answer));
    }
    int32_t index = floor_.answer_count++;
    floor_.answers[index] = (struct answer){-1, stream, revision, kind};
    struct connection *connection = &floor_.connections[number];
    if (connection->first_answer < 0) connection->first_answer = index;
    else floor_.answers[connection->last_answer].next = index;
    connection->last_answer = index;
    list(number);
}

static void change(uint32_t number) {
    struct key *key = key_at(number);
    key->revision = ++floor_.revision;
    if (is_large()) {
        // Each change creates one new body. Sends under way finish the old one.
        release(floor_.body);
        floor_.body = grown(NULL, sizeof(struct body) + 5 + floor_.value_bytes, 1);
        floor_.body->users = 1;
        memcpy(floor_.body->bytes, floor_.value, 5 + floor_.value_bytes);
        put_revision(floor_.body->bytes + 5 + floor_.value_bytes - 10, key->revision);
    }
    for (int32_t watch = key->first; watch >= 0; watch = floor_.watches[watch].next_of_key) mark(watch);
}

static void take_change(int32_t connection, uint32_t stream, uint32_t key) {
    if (!floor_.has_store) {
        change(key);
        floor_.changes++;
        answer(connection, stream, floor_.revision, ANSWER);
        return;
    }
    if (floor_.pending_count == floor_.pending_room) {
        floor_.pending_room = floor_.pending_room ? 2 * floor_.pending_room : 256;
        floor_.pending = grown(floor_.pending, floor_.pending_room, sizeof(struct pending));
    }
    floor_.pending[floor_.pending_count++] = (struct pending){connection, stream, key};
}

// Makes all changes of this iteration durable, then publishes them.
static void commit_pending(void) {
    if (!floor_.pending_count) return;
    for (uint32_t i = 0; i < floor_.pending_count; i++) floor_store_add(floor_.pending[i].key, floor_.revision + i + 1);
    floor_store_commit();
    floor_.batches++;
    floor_.changes += floor_.pending_count;
    for (uint32_t i = 0; i < floor_.pending_count; i++) {
        change(floor_.pending[i].key);
        if (floor_.pending[i].connection >= 0)
            answer(floor_.pending[i].connection, floor_.pending[i].stream, floor_.revision, ANSWER);
    }
    floor_.pending_count = 0;
}

static void close_connection(int32_t number) {
    // The purchase stays; only its answer is dropped.
    for (uint32_t i = 0; i < floor_.pending_count; i++)
        if (floor_.pending[i].connection == number) floor_.pending[i].connection = -1;
    struct connection *connection = &floor_.connections[number];
    int32_t index = connection->first_watch;
    while (index >= 0) {
        struct watch *watch = &floor_.watches[index];
        int32_t next = watch->next_of_connection;
        if (watch->previous_of_key >= 0) floor_.watches[watch->previous_of_key].next_of_key = watch->next_of_key;
        else floor_.keys[watch->key].first = watch->next_of_key;
        if (watch->next_of_key >= 0) floor_.watches[watch->next_of_key].previous_of_key = watch->previous_of_key;
        watch->connection = -1;
        watch->next_of_key = floor_.free_watch;
        floor_.free_watch = index;
        index = next;
    }
    free(connection->partial);
    free(connection->rest);
    release(connection->body);
    bool is_listed = connection->is_listed;
    *connection = (struct connection){.first_watch = -1, .first_dirty = -1, .first_answer = -1, .is_listed = is_listed};
    close(number);
}

// --- Decoding frames.

// Returns false for an unknown call; the connection is then closed.
static bool take_call(int32_t connection, uint32_t stream, const uint8_t *message, uint32_t count) {
    const uint8_t *at = message, *bytes, *path = NULL, *request = NULL;
    uint64_t length, path_count = 0, request_count = 0;
    for (uint32_t field; (field = next_field(&at, message + count, &bytes, &length));) {
        if (field == 1 && bytes) path = bytes, path_count = length;
        if (field == 4 && bytes) request = bytes, request_count = length;
    }
    while (path_count && path[path_count - 1] != '/') path_count--;
    if (!path || path_count == 0) return false;
    const char *method = (const char *)path + path_count;
    size_t left = (size_t)(message + count - (const uint8_t *)method);
    if (left > 7 && !memcmp(method, "Operate", 7)) {
        take_change(connection, stream, account_number(request, request_count) + 1);
    } else if (left > 11 && !memcmp(method, "LoadCatalog", 11)) {
        take_change(connection, stream, 0);
    } else if (left >= 15 && !memcmp(method, "GetServerStatus", 15)) {
        answer(connection, stream, 0, METRICS);
    } else if (left > 12 && !memcmp(method, "ProductsTask", 12)) {
        open_watch(connection, stream, 0);
    } else {
        open_watch(connection, stream, account_number(request, request_count) + 1);
    }
    return true;
}

// Returns the bytes of the complete frames, or -1 for an unknown frame.
static int64_t take_frames(int32_t connection, const uint8_t *bytes, size_t count) {
    size_t at = 0;
    while (count - at >= HEADER) {
        uint32_t address, length;
        memcpy(&address, bytes + at, 4);
        memcpy(&length, bytes + at + 5, 4);
        address = ntohl(address);
        length = ntohl(length);
        uint8_t kind = (uint8_t)(address >> 24);
        if (kind == 0 || kind > 10 || length > 16u << 20) return -1;
        if (count - at - HEADER < length) break;
        if (kind == HELLO) answer(connection, 0, 0, GREETING);
        else if (kind == CALL && !take_call(connection, address & 0xffffff, bytes + at + HEADER, length)) return -1;
        at += HEADER + length;
    }
    return (int64_t)at;
}

static void receive(int32_t number) {
    ssize_t count = recv(number, floor_.read_buffer, READ_BYTES, MSG_DONTWAIT);
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (count <= 0) {
        close_connection(number);
        return;
    }
    struct connection *connection = &floor_.connections[number];
    const uint8_t *bytes = floor_.read_buffer;
    size_t all = (size_t)count;
    if (connection->partial) {
        all += connection->partial_count;
        if (all > connection->partial_room) {
            connection->partial_room = (uint32_t)(2 * all);
            connection->partial = grown(connection->partial, connection->partial_room, 1);
        }
        memcpy(connection->partial + connection->partial_count, floor_.read_buffer, (size_t)count);
        bytes = connection->partial;
    }
    int64_t taken = take_frames(number, bytes, all);
    if (taken < 0) {
        close_connection(number);
        return;
    }
    size_t left = all - (size_t)taken;
    if (left == 0) {
        free(connection->partial);
        connection->partial = NULL;
    } else if (connection->partial) {
        memmove(connection->partial, bytes + taken, left);
    } else {
        connection->partial_room = (uint32_t)left;
        connection->partial = grown(NULL, left, 1);
        memcpy(connection->partial, bytes + taken, left);
    }
    connection->partial_count = (uint32_t)left;
}

// --- Writing.

static void await_room(int32_t number, bool is_blocked) {
    struct connection *connection = &floor_.connections[number];
    if (connection->is_blocked == is_blocked) return;
    connection->is_blocked = is_blocked;
    struct epoll_event event = {.events = EPOLLIN | (is_blocked ? EPOLLOUT : 0), .data.fd = number};
    epoll_ctl(floor_.poller, EPOLL_CTL_MOD, number, &event);
}

// Returns true if the kernel accepted everything.
static bool send_rest(int32_t number) {
    struct connection *connection = &floor_.connections[number];
    while (connection->rest || connection->body) {
        struct iovec pieces[2];
        int count = 0;
        if (connection->rest)
            pieces[count++] = (struct iovec){connection->rest + connection->rest_sent,
                                             connection->rest_count - connection->rest_sent};
        if (connection->body)
            pieces[count++] = (struct iovec){connection->body->bytes + connection->body_sent,
                                             5 + floor_.value_bytes - connection->body_sent};
        struct msghdr message = {.msg_iov = pieces, .msg_iovlen = (size_t)count};
        ssize_t sent = sendmsg(number, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0) return false;
        if (connection->rest) {
            uint32_t part = connection->rest_count - connection->rest_sent;
            if ((size_t)sent < part) {
                connection->rest_sent += (uint32_t)sent;
                return false;
            }
            sent -= part;
            free(connection->rest);
            connection->rest = NULL;
        }
        if (connection->body) {
            connection->body_sent += (uint32_t)sent;
            if (connection->body_sent < 5 + floor_.value_bytes) return false;
            release(connection->body);
            connection->body = NULL;
        }
    }
    return true;
}

// Sends all pending output of a connection until the kernel accepts no more.
static void flush(int32_t number) {
    struct connection *connection = &floor_.connections[number];
    connection->is_listed = false;
    if (!connection->is_open || (connection->is_blocked && !send_rest(number))) return;
    for (;;) {
        uint8_t *at = floor_.staging;
        struct body *body = NULL;
        while (connection->first_answer >= 0 &&
               at - floor_.staging < (ptrdiff_t)(STAGING_BYTES - METRICS_MAX - floor_.answer_bytes)) {
            struct answer *answer = &floor_.answers[connection->first_answer];
            connection->first_answer = answer->next;
            at = put_answer(at, answer);
        }
        while (connection->first_dirty >= 0 && !body && at - floor_.staging < STAGING_BYTES) {
            struct watch *watch = &floor_.watches[connection->first_dirty];
            connection->first_dirty = watch->next_dirty;
            watch->is_dirty = false;
            if (watch->owes_loading) {
                watch->owes_loading = false;
                at = put_header(at, MESSAGE, watch->stream, 2);
                *at++ = 0x0a;
                *at++ = 0;
            }
            uint32_t address = htonl((uint32_t)MESSAGE << 24 | watch->stream);
            memcpy(at, &address, 4);
            at += 4;
            if (is_large()) {
                body = floor_.body;
            } else {
                memcpy(at, floor_.value, 5 + floor_.value_bytes);
                at += 5 + floor_.value_bytes;
                put_revision(at - 10, floor_.keys[watch->key].revision);
            }
        }
        size_t count = (size_t)(at - floor_.staging);
        if (count == 0) break;
        struct iovec pieces[2] = {{floor_.staging, count}};
        if (body) pieces[1] = (struct iovec){body->bytes, 5 + floor_.value_bytes};
        struct msghdr message = {.msg_iov = pieces, .msg_iovlen = body ? 2 : 1};
        size_t whole = count + (body ? 5 + floor_.value_bytes : 0);
        ssize_t sent = body ? sendmsg(number, &message, MSG_NOSIGNAL | MSG_DONTWAIT)
                            : send(number, floor_.staging, count, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent < 0 && errno != EAGAIN) break;  // The peer has closed; the next event reports it.
        if (sent < 0) sent = 0;
        if ((size_t)sent == whole) continue;
        if ((size_t)sent < count) {
            connection->rest_count = (uint32_t)(count - (size_t)sent);
            connection->rest_sent = 0;
            connection->rest = grown(NULL, connection->rest_count, 1);
            memcpy(connection->rest, floor_.staging + sent, connection->rest_count);
        }
        if (body) {
            connection->body = body;
            body->users++;
            connection->body_sent = (size_t)sent > count ? (uint32_t)((size_t)sent - count) : 0;
        }
        await_room(number, true);
        // Answers live for one iteration. A connection that accepts no more than this is not the one being measured.
        connection->first_answer = -1;
        return;
    }
    await_room(number, false);
}

// --- The loop.

static void accept_all(void) {
    for (int i = 0; i < 64; i++) {
        int number = accept4(floor_.listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (number < 0) return;
        floor_.connections[number] = (struct connection){
            .first_watch = -1, .first_dirty = -1, .first_answer = -1, .is_open = true,
            .is_listed = floor_.connections[number].is_listed};
        struct epoll_event event = {.events = EPOLLIN, .data.fd = number};
        epoll_ctl(floor_.poller, EPOLL_CTL_ADD, number, &event);
    }
}

static int begin(uint16_t port) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    getrlimit(RLIMIT_NOFILE, &limit);
    floor_.connection_count = limit.rlim_cur > 1u << 20 ? 1 << 20 : (int)limit.rlim_cur;
    // Untouched pages cost nothing, so there is one entry for each possible descriptor.
    floor_.connections = calloc((size_t)floor_.connection_count, sizeof(struct connection));
    floor_.listed = calloc((size_t)floor_.connection_count, sizeof(int32_t));
    if (!floor_.connections || !floor_.listed) return ENOMEM;
    floor_.free_watch = -1;

    floor_.listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (floor_.listener < 0) return errno;
    // The same options as Perch's listener; accepted connections inherit all but the first.
    int one = 1, send_buffer = 128 * 1024, low_water = 64 * 1024;
    setsockopt(floor_.listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    setsockopt(floor_.listener, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
    setsockopt(floor_.listener, SOL_SOCKET, SO_SNDBUF, &send_buffer, sizeof(send_buffer));
    setsockopt(floor_.listener, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &low_water, sizeof(low_water));
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(address);
    if (bind(floor_.listener, (struct sockaddr *)&address, length) || listen(floor_.listener, 4096)) return errno;
    getsockname(floor_.listener, (struct sockaddr *)&address, &length);
    floor_.poller = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN, .data.fd = floor_.listener};
    if (floor_.poller < 0 || epoll_ctl(floor_.poller, EPOLL_CTL_ADD, floor_.listener, &event)) return errno;
    fprintf(stderr, "floor: serving on 127.0.0.1:%d\n", ntohs(address.sin_port));
    return 0;
}

int perch_floor_run(const struct perch_floor_settings *settings) {
    if (settings->value_bytes < 32 || settings->value_bytes > 16u << 20 || settings->answer_bytes > 16000) return EINVAL;
    build_value(settings->value_bytes);
    floor_.answer_bytes = settings->answer_bytes;
    floor_.has_store = settings->store != NULL;
    int error = settings->store ? floor_store_open(settings) : 0;
    if (!error) error = begin(settings->port);
    if (error) return error;
    if (is_large()) change(0);
    struct epoll_event events[EVENTS];
    for (;;) {
        int count = epoll_wait(floor_.poller, events, EVENTS, -1);
        for (int i = 0; i < count; i++) {
            int number = events[i].data.fd;
            if (number == floor_.listener) accept_all();
            else {
                if (events[i].events & EPOLLOUT) list(number);
                if (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) receive(number);
            }
        }
        commit_pending();
        for (int32_t i = 0; i < floor_.listed_count; i++) flush(floor_.listed[i]);
        floor_.listed_count = 0;
        floor_.answer_count = 0;
    }
}
