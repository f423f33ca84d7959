// A server that does what no server can leave out: frames in, prebuilt values out, by epoll, one send a connection and
// turn. It keeps nothing, checks nothing and knows no account: what a real server costs beyond it is the server's.
#ifndef PERCH_FLOOR_H
#define PERCH_FLOOR_H

#include <stdint.h>

// Serves perch/1 on 127.0.0.1 until it is killed. Port 0 takes a free one; `value_bytes` is the length of the message
// that watchers are sent, from 32 bytes to 16 MiB. Says "floor: serving on 127.0.0.1:PORT" on standard error.
// Returns only when it cannot begin: an error number.
int perch_floor_run(uint16_t port, uint32_t value_bytes);

#endif
