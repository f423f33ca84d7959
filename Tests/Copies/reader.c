// Reads copies of an app's entitlements by perch/1, and only counts: what a client pays at least.
//
//     reader PORT COPIES [follow]    one copy after another, each by a call of its own; 0 copies: until it is killed
//
// Prints for each copy: accounts, bytes of its frames, seconds until its `end`. follow: then it reads the changes of the last, until it is
// killed.
#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { HELLO = 1, CALL = 3, MESSAGE = 4, STATUS = 5, CANCEL = 6, HEAD = 9, LONGEST = 4 << 20 };

static uint8_t input[LONGEST + HEAD];
static size_t filled, taken;
static int peer;

static void fail(const char *what) {
    fprintf(stderr, "reader: %s\n", what);
    exit(1);
}

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec + time.tv_nsec / 1e9;
}

static uint32_t big(const uint8_t *bytes) { return (uint32_t)bytes[0] << 24 | bytes[1] << 16 | bytes[2] << 8 | bytes[3]; }

static void send_frame(int kind, uint32_t stream, const uint8_t *body, uint32_t length) {
    uint8_t head[HEAD] = {(uint8_t)kind,           (uint8_t)(stream >> 16), (uint8_t)(stream >> 8),
                          (uint8_t)stream,         0,                       (uint8_t)(length >> 24),
                          (uint8_t)(length >> 16), (uint8_t)(length >> 8),  (uint8_t)length};
    if (write(peer, head, HEAD) != HEAD || write(peer, body, length) != (ssize_t)length) fail("the server does not read");
}

/// The next frame's kind; its body is at `*body`.
static int frame(const uint8_t **body, uint32_t *length) {
    for (;;) {
        if (filled - taken >= HEAD) {
            *length = big(input + taken + 5);
            if (*length > LONGEST) fail("a frame is too long");
            if (filled - taken >= HEAD + *length) {
                *body = input + taken + HEAD;
                int kind = input[taken];
                taken += HEAD + *length;
                return kind;
            }
        }
        memmove(input, input + taken, filled - taken);
        filled -= taken;
        taken = 0;
        ssize_t count = read(peer, input + filled, sizeof input - filled);
        if (count <= 0) fail("the server closed the connection");
        filled += (size_t)count;
    }
}

static uint64_t varint(const uint8_t **at, const uint8_t *end) {
    uint64_t value = 0;
    for (int shift = 0; *at < end && shift < 64; shift += 7) {
        uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 127) << shift;
        if (byte < 128) return value;
    }
    fail("a number has no end");
    return 0;
}

/// The bytes of a field of a message; `*length` is 0 if it is not there. Other fields are passed over.
static const uint8_t *field(const uint8_t *at, const uint8_t *end, uint32_t wanted, uint64_t *length) {
    while (at < end) {
        uint64_t key = varint(&at, end);
        if ((key & 7) == 0) {
            varint(&at, end);
            continue;
        }
        if ((key & 7) != 2) fail("a field of an unexpected kind");
        *length = varint(&at, end);
        if (*length > (uint64_t)(end - at)) fail("a field is longer than its message");
        if (key >> 3 == wanted) return at;
        at += *length;
    }
    *length = 0;
    return NULL;
}

static void call(uint32_t stream) {
    static const char method[] = "/perch.v1.EntitlementService/AppEntitlements", bundle[] = "com.example.app";
    uint8_t body[128], *at = body;
    *at++ = 1 << 3 | 2;
    *at++ = sizeof method - 1;
    at = memcpy(at, method, sizeof method - 1);
    at += sizeof method - 1;
    *at++ = 4 << 3 | 2;
    *at++ = sizeof bundle - 1 + 6;
    *at++ = 1 << 3 | 2;  // app
    *at++ = sizeof bundle - 1 + 4;
    *at++ = 1 << 3 | 2;
    *at++ = sizeof bundle - 1;
    at = memcpy(at, bundle, sizeof bundle - 1);
    at += sizeof bundle - 1;
    *at++ = 2 << 3;
    *at++ = 3;
    send_frame(CALL, stream, body, (uint32_t)(at - body));
}

int main(int count, char **arguments) {
    if (count != 3 && count != 4) fail("usage: reader PORT COPIES [follow]");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)atoi(arguments[1]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    peer = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(peer, (struct sockaddr *)&address, sizeof address)) fail("nobody listens");
    static const uint8_t hello[] = {1 << 3, 1, 3 << 3 | 2, 6, 'r', 'e', 'a', 'd', 'e', 'r'};
    send_frame(HELLO, 0, hello, sizeof hello);
    int copies = atoi(arguments[2]);
    for (uint32_t copy = 1; copies == 0 || copy <= (uint32_t)copies; copy++) {
        double began = now();
        uint64_t accounts = 0, bytes = 0;
        call(copy);
        for (int ended = 0; !ended;) {
            const uint8_t *body, *part, *column;
            uint32_t length;
            uint64_t size, width;
            int kind = frame(&body, &length);
            uint32_t stream = big(body - HEAD) & 0xffffff;
            if (kind == STATUS && stream == copy) fail("the call was refused");
            if (kind != MESSAGE || stream != copy) continue;
            bytes += HEAD + length;
            if ((part = field(body, body + length, 2, &size)) && (column = field(part, part + size, 2, &width)))
                accounts += width / 4;
            ended = field(body, body + length, 3, &size) != NULL;
        }
        printf("%llu %llu %.3f\n", (unsigned long long)accounts, (unsigned long long)bytes, now() - began);
        fflush(stdout);
        if (count == 4 && copy == (uint32_t)copies) break;
        send_frame(CANCEL, copy, hello, 0);
    }
    if (count != 4) return 0;
    for (;;) {
        const uint8_t *body;
        uint32_t length;
        if (frame(&body, &length) == STATUS) fail("the copy was ended");
    }
}
