// The baseline server for benchmarks. It does only the work that every server must do: frames in, prebuilt values out,
// by epoll, one send for each connection and iteration. It checks nothing and knows no accounts. The cost of a real
// server above it is the cost of that server's features.
#ifndef PERCH_FLOOR_H
#define PERCH_FLOOR_H

#include <stdint.h>

struct perch_floor_settings {
    uint16_t port;          // on 127.0.0.1; 0 chooses a free one
    uint32_t value_bytes;   // length of the message to watchers, from 32 bytes to 16 MiB
    uint32_t answer_bytes;  // length of the answer to a change; at least 16, or 0 for the shortest
    const char *store;      // a directory where each change is made durable before its answer; NULL stores nothing
    uint32_t log_bytes;  // log length that causes a checkpoint
};

// Serves perch/1 until it is killed, and prints "floor: serving on 127.0.0.1:PORT" on standard error. Returns an error
// number only if it cannot start.
int perch_floor_run(const struct perch_floor_settings *settings);

#endif
