// A server that does what no server can leave out: frames in, prebuilt values out, by epoll, one send a connection and
// turn. It checks nothing and knows no account: what a real server costs beyond it is the server's.
#ifndef PERCH_FLOOR_H
#define PERCH_FLOOR_H

#include <stdint.h>

struct perch_floor_settings {
    uint16_t port;          // of 127.0.0.1; 0 takes a free one
    uint32_t value_bytes;   // length of the message that watchers are sent, from 32 bytes to 16 MiB
    uint32_t answer_bytes;  // of the answer to a change; at least 16, or 0 for the shortest there is
    const char *store;      // a directory: every change is durable in a file there before it is answered. NULL: nothing is kept
    uint32_t log_bytes;       // of the store: a log of so many is taken up into the file, and the next may be twice as long
    uint32_t log_bytes_most;  // up to so many
};

// Serves perch/1 until it is killed. Says "floor: serving on 127.0.0.1:PORT" on standard error. Returns only when it
// cannot begin: an error number.
int perch_floor_run(const struct perch_floor_settings *settings);

#endif
