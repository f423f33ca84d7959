// Linux functions for PerchLoop that Swift's Glibc module lacks. Only PerchLoop imports this.
//
// Never define _GNU_SOURCE here: Swift's Glibc module is built without it, and the layouts of shared structs would
// differ. The few functions that glibc declares only with it are declared below.
//
// Functions keep the convention of system calls: -1 and errno.
#ifndef PERCH_LINUX_SHIM_H
#define PERCH_LINUX_SHIM_H

#include <sys/types.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

extern int accept4(int, struct sockaddr *, socklen_t *, int);
extern int pthread_setname_np(pthread_t, const char *);
extern int pthread_getname_np(pthread_t, char *, size_t);
extern int pthread_getattr_np(pthread_t, pthread_attr_t *);

// --- Clocks. They return one number instead of a struct.

static inline int64_t perch_clock_nanoseconds(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

static inline int64_t perch_boottime_nanoseconds(void) { return perch_clock_nanoseconds(CLOCK_BOOTTIME); }

static inline int64_t perch_wall_milliseconds(void) { return perch_clock_nanoseconds(CLOCK_REALTIME) / 1000000; }

// For the calling thread.
static inline int64_t perch_thread_nanoseconds(void) { return perch_clock_nanoseconds(CLOCK_THREAD_CPUTIME_ID); }

static inline int perch_timerfd(void) { return timerfd_create(CLOCK_BOOTTIME, TFD_NONBLOCK | TFD_CLOEXEC); }

// Arms the timer for an instant of CLOCK_BOOTTIME; 0 disarms it.
static inline int perch_timerfd_set(int descriptor, int64_t nanoseconds) {
    struct itimerspec at;
    memset(&at, 0, sizeof(at));
    at.it_value.tv_sec = nanoseconds / 1000000000;
    at.it_value.tv_nsec = nanoseconds % 1000000000;
    return timerfd_settime(descriptor, TFD_TIMER_ABSTIME, &at, NULL);
}

// --- epoll. struct epoll_event is packed on x86-64 and contains a union, so Swift never reads it.

struct perch_ready {
    uint64_t tag;
    bool readable, writable, hung_up;
};

static inline int perch_epoll_control(int poller, int operation, int descriptor, uint64_t tag, bool readable,
                                      bool writable) {
    struct epoll_event event;
    event.events = (readable ? EPOLLIN : 0) | (writable ? EPOLLOUT : 0);
    event.data.u64 = tag;
    return epoll_ctl(poller, operation, descriptor, &event);
}

static inline struct perch_ready perch_ready_at(const struct epoll_event *events, int index) {
    uint32_t bits = events[index].events;
    struct perch_ready ready = {
        .tag = events[index].data.u64,
        .readable = (bits & EPOLLIN) != 0,
        .writable = (bits & EPOLLOUT) != 0,
        .hung_up = (bits & (EPOLLHUP | EPOLLERR)) != 0,
    };
    return ready;
}

static inline int perch_eventfd(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

// --- Addresses. IPv4 is stored as ::ffff:a.b.c.d, so there is one form. Swift would have to rebind pointers between
// three struct types at each call.

struct perch_address {
    uint64_t high, low;  // host byte order
    uint32_t scope;
    uint16_t port;  // host byte order
};

static inline bool perch_address_is_v4(uint64_t high, uint64_t low) { return high == 0 && low >> 32 == 0xffff; }

static inline socklen_t perch_address_write(struct perch_address from, struct sockaddr_storage *to) {
    memset(to, 0, sizeof(*to));
    if (perch_address_is_v4(from.high, from.low)) {
        struct sockaddr_in *v4 = (struct sockaddr_in *)to;
        v4->sin_family = AF_INET;
        v4->sin_port = htons(from.port);
        v4->sin_addr.s_addr = htonl((uint32_t)from.low);
        return sizeof(*v4);
    }
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)to;
    v6->sin6_family = AF_INET6;
    v6->sin6_port = htons(from.port);
    v6->sin6_scope_id = from.scope;
    for (int i = 0; i < 8; i++) {
        v6->sin6_addr.s6_addr[i] = (uint8_t)(from.high >> (56 - 8 * i));
        v6->sin6_addr.s6_addr[8 + i] = (uint8_t)(from.low >> (56 - 8 * i));
    }
    return sizeof(*v6);
}

static inline void perch_address_read(const struct sockaddr_storage *from, struct perch_address *to) {
    memset(to, 0, sizeof(*to));
    if (from->ss_family == AF_INET) {
        const struct sockaddr_in *v4 = (const struct sockaddr_in *)from;
        to->low = 0xffff00000000 | ntohl(v4->sin_addr.s_addr);
        to->port = ntohs(v4->sin_port);
    } else if (from->ss_family == AF_INET6) {
        const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)from;
        for (int i = 0; i < 8; i++) {
            to->high = to->high << 8 | v6->sin6_addr.s6_addr[i];
            to->low = to->low << 8 | v6->sin6_addr.s6_addr[8 + i];
        }
        to->port = ntohs(v6->sin6_port);
        to->scope = v6->sin6_scope_id;
    }
}

// --- Names. getaddrinfo returns a list of structs with unions, and each error path must free it.

// Resolves a name. Returns the number of its addresses and writes as many as fit, in the order to try; negative values
// are EAI_ codes. Blocks on name servers.
static inline int perch_look_up(const char *name, uint16_t port, struct perch_address *to, int room) {
    struct addrinfo hints, *list = NULL;
    memset(&hints, 0, sizeof(hints));
    hints.ai_socktype = SOCK_STREAM;
    // An address family that this machine lacks cannot be connected to.
    hints.ai_flags = AI_ADDRCONFIG;
    int result = getaddrinfo(name, NULL, &hints, &list);
    if (result != 0) return result;
    int count = 0;
    for (struct addrinfo *each = list; each != NULL; each = each->ai_next) {
        if (each->ai_family != AF_INET && each->ai_family != AF_INET6) continue;
        if (count < room) {
            struct sockaddr_storage storage;
            memcpy(&storage, each->ai_addr, each->ai_addrlen);
            perch_address_read(&storage, &to[count]);
            to[count].port = port;
        }
        count++;
    }
    freeaddrinfo(list);
    return count;
}

// --- Sockets. Swift imports SOCK_ and MSG_ constants as several different types.

static inline int perch_socket(struct perch_address address) {
    int family = perch_address_is_v4(address.high, address.low) ? AF_INET : AF_INET6;
    return socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
}

static inline int perch_bind(int descriptor, struct perch_address address) {
    struct sockaddr_storage storage;
    socklen_t length = perch_address_write(address, &storage);
    return bind(descriptor, (struct sockaddr *)&storage, length);
}

static inline int perch_connect(int descriptor, struct perch_address address) {
    struct sockaddr_storage storage;
    socklen_t length = perch_address_write(address, &storage);
    return connect(descriptor, (struct sockaddr *)&storage, length);
}

static inline int perch_accept(int listener, struct perch_address *peer) {
    struct sockaddr_storage storage;
    socklen_t length = sizeof(storage);
    int descriptor = accept4(listener, (struct sockaddr *)&storage, &length, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (descriptor >= 0) perch_address_read(&storage, peer);
    return descriptor;
}

static inline int perch_local_address(int descriptor, struct perch_address *address) {
    struct sockaddr_storage storage;
    socklen_t length = sizeof(storage);
    int result = getsockname(descriptor, (struct sockaddr *)&storage, &length);
    if (result == 0) perch_address_read(&storage, address);
    return result;
}

static inline int perch_peer_address(int descriptor, struct perch_address *address) {
    struct sockaddr_storage storage;
    socklen_t length = sizeof(storage);
    int result = getpeername(descriptor, (struct sockaddr *)&storage, &length);
    if (result == 0) perch_address_read(&storage, address);
    return result;
}

static inline ssize_t perch_send(int descriptor, const void *bytes, size_t count) {
    return send(descriptor, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT);
}

// writev accepts no flags, so it would raise SIGPIPE. The pieces are an array of struct iovec, which Swift fills
// through its own struct. The imported struct would expose this module to every caller.
static inline ssize_t perch_send_vector(int descriptor, const void *pieces, size_t count) {
    struct msghdr message;
    memset(&message, 0, sizeof(message));
    message.msg_iov = (struct iovec *)pieces;
    message.msg_iovlen = count;
    return sendmsg(descriptor, &message, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static inline ssize_t perch_receive(int descriptor, void *bytes, size_t capacity) {
    return recv(descriptor, bytes, capacity, MSG_DONTWAIT);
}

static inline int perch_shutdown_writing(int descriptor) { return shutdown(descriptor, SHUT_WR); }

// --- Socket options, each an int. Swift imports levels and names as different types.

static inline int perch_set(int descriptor, int level, int option, int value) {
    return setsockopt(descriptor, level, option, &value, sizeof(value));
}

static inline int perch_get(int descriptor, int level, int option, int *value) {
    socklen_t length = sizeof(*value);
    return getsockopt(descriptor, level, option, value, &length);
}

static inline int perch_set_reuse_address(int fd) { return perch_set(fd, SOL_SOCKET, SO_REUSEADDR, 1); }
static inline int perch_set_reuse_port(int fd) { return perch_set(fd, SOL_SOCKET, SO_REUSEPORT, 1); }
static inline int perch_set_both_families(int fd) { return perch_set(fd, IPPROTO_IPV6, IPV6_V6ONLY, 0); }
static inline int perch_set_bind_without_port(int fd) { return perch_set(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, 1); }
static inline int perch_set_no_delay(int fd) { return perch_set(fd, IPPROTO_TCP, TCP_NODELAY, 1); }
static inline int perch_set_not_sent_low_water(int fd, int bytes) {
    return perch_set(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, bytes);
}
static inline int perch_set_user_timeout(int fd, int ms) { return perch_set(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, ms); }
static inline int perch_set_send_buffer(int fd, int bytes) { return perch_set(fd, SOL_SOCKET, SO_SNDBUF, bytes); }
static inline int perch_set_receive_buffer(int fd, int bytes) { return perch_set(fd, SOL_SOCKET, SO_RCVBUF, bytes); }

static inline int perch_get_no_delay(int fd, int *value) { return perch_get(fd, IPPROTO_TCP, TCP_NODELAY, value); }
static inline int perch_get_not_sent_low_water(int fd, int *bytes) {
    return perch_get(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, bytes);
}
static inline int perch_get_user_timeout(int fd, int *ms) { return perch_get(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, ms); }
static inline int perch_get_send_buffer(int fd, int *bytes) { return perch_get(fd, SOL_SOCKET, SO_SNDBUF, bytes); }
static inline int perch_take_error(int fd, int *error) { return perch_get(fd, SOL_SOCKET, SO_ERROR, error); }

static inline int perch_set_reset_on_close(int descriptor) {
    struct linger linger = {.l_onoff = 1, .l_linger = 0};
    return setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &linger, sizeof(linger));
}

// Swift cannot call ioctl, which is variadic.
static inline int perch_unacknowledged_bytes(int descriptor, int *bytes) { return ioctl(descriptor, SIOCOUTQ, bytes); }

// --- Descriptors. open is variadic, and the resource argument of getrlimit is a private enum.

static inline int perch_open_null(void) { return open("/dev/null", O_RDONLY | O_CLOEXEC); }

static inline int perch_descriptor_limit(uint64_t *soft, uint64_t *hard) {
    struct rlimit limit;
    int result = getrlimit(RLIMIT_NOFILE, &limit);
    *soft = limit.rlim_cur;
    *hard = limit.rlim_max;
    return result;
}

static inline int perch_set_descriptor_limit(uint64_t soft, uint64_t hard) {
    struct rlimit limit = {.rlim_cur = soft, .rlim_max = hard};
    return setrlimit(RLIMIT_NOFILE, &limit);
}

// --- Signals. SIG_IGN casts an integer to a function pointer, which Swift does not import.

static inline void perch_stop_signals(sigset_t *set) {
    sigemptyset(set);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGUSR1);
}

static inline int perch_block_stop_signals(void) {
    sigset_t set;
    perch_stop_signals(&set);
    signal(SIGPIPE, SIG_IGN);
    return pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static inline bool perch_stop_signals_are_blocked(void) {
    sigset_t set;
    if (pthread_sigmask(SIG_BLOCK, NULL, &set) != 0) return false;
    return sigismember(&set, SIGTERM) && sigismember(&set, SIGINT) && sigismember(&set, SIGHUP);
}

// Whether a blocked SIGTERM or SIGINT waits.
static inline bool perch_stop_waits(void) {
    sigset_t set;
    return sigpending(&set) == 0 && (sigismember(&set, SIGTERM) || sigismember(&set, SIGINT));
}

static inline void perch_unblock_stop_signals(void) {
    sigset_t set;
    perch_stop_signals(&set);
    pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

// Whether this process was started with the signal ignored, as nohup does.
static inline bool perch_is_ignored(int number) {
    struct sigaction action;
    return sigaction(number, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

static inline int perch_signalfd(void) {
    sigset_t set;
    perch_stop_signals(&set);
    return signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
}

// Returns the number of the next signal; -1 and errno if there is none.
static inline int perch_next_signal(int descriptor) {
    struct signalfd_siginfo info;
    ssize_t count = read(descriptor, &info, sizeof(info));
    return count == (ssize_t)sizeof(info) ? (int)info.ssi_signo : -1;
}

// Makes the kernel kill this process when its parent ends. Swift cannot call prctl, which is variadic.
static inline int perch_end_with_parent(void) { return prctl(PR_SET_PDEATHSIG, SIGKILL); }

// Keeps the kernel from writing a core of this process, to a file or to a program.
static inline int perch_write_no_core(void) {
    struct rlimit none = {0, 0};
    int result = setrlimit(RLIMIT_CORE, &none);
    return result != 0 ? result : prctl(PR_SET_DUMPABLE, 0);
}

// --- Processors and processes. cpu_set_t is declared only with _GNU_SOURCE, so these call the kernel directly.

enum { PERCH_PROCESSOR_WORDS = 16 };

static inline int perch_allowed_processors(uint64_t *words) {
    memset(words, 0, PERCH_PROCESSOR_WORDS * sizeof(uint64_t));
    return (int)syscall(SYS_sched_getaffinity, 0, PERCH_PROCESSOR_WORDS * sizeof(uint64_t), words);
}

// Applies to the calling thread and to threads that it starts later.
static inline int perch_allow_processors(const uint64_t *words) {
    return (int)syscall(SYS_sched_setaffinity, 0, PERCH_PROCESSOR_WORDS * sizeof(uint64_t), words);
}

// Starts a child that ends with the calling thread, with both outputs going to `output`. It runs on the given
// processors (NULL: those of the calling thread), in its own process group, so that Ctrl-C reaches only the parent.
// Swift may not fork; between fork and exec only async-signal-safe calls are allowed.
static inline pid_t perch_spawn(const char *path, char *const *arguments, char *const *environment, int output,
                                const uint64_t *processors) {
    pid_t parent = getpid();
    pid_t child = fork();
    if (child != 0) return child;
    sigset_t none;
    sigemptyset(&none);
    sigprocmask(SIG_SETMASK, &none, NULL);
    signal(SIGPIPE, SIG_DFL);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) _exit(127);
    setpgid(0, 0);
    if (processors) perch_allow_processors(processors);
    dup2(output, 1);
    dup2(output, 2);
    execve(path, arguments, environment);
    _exit(127);
}

// Creates a pipe whose reading end does not block. pipe2 is declared only with _GNU_SOURCE.
static inline int perch_pipe(int *reading, int *writing) {
    int ends[2];
    if (pipe(ends) != 0) return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    fcntl(ends[0], F_SETFL, O_NONBLOCK);
    *reading = ends[0];
    *writing = ends[1];
    return 0;
}

// --- The service manager. sockaddr_un ends in an array that Swift imports as a tuple of 108.

// Sends one datagram to a path, or to an abstract name with a leading '@'. Returns -1 and errno on failure.
static inline ssize_t perch_send_datagram(int descriptor, const char *path, size_t path_count, const void *bytes,
                                          size_t count) {
    struct sockaddr_un address;
    memset(&address, 0, sizeof(address));
    address.sun_family = AF_UNIX;
    if (path_count == 0 || path_count >= sizeof(address.sun_path)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    memcpy(address.sun_path, path, path_count);
    socklen_t length = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + path_count);
    if (path[0] == '@')
        address.sun_path[0] = 0;
    else
        length += 1;
    return sendto(descriptor, bytes, count, MSG_NOSIGNAL | MSG_DONTWAIT, (struct sockaddr *)&address, length);
}

static inline int perch_datagram_socket(void) { return socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0); }

// Whether a descriptor is a listening TCP socket; 0 for any other descriptor.
static inline bool perch_is_tcp_listener(int descriptor) {
    int value = 0;
    if (perch_get(descriptor, SOL_SOCKET, SO_TYPE, &value) != 0 || value != SOCK_STREAM) return false;
    if (perch_get(descriptor, SOL_SOCKET, SO_ACCEPTCONN, &value) != 0 || value != 1) return false;
    if (perch_get(descriptor, SOL_SOCKET, SO_DOMAIN, &value) != 0) return false;
    return value == AF_INET || value == AF_INET6;
}

// Swift cannot call fcntl, which is variadic.
static inline int perch_make_ours(int descriptor) {
    int flags = fcntl(descriptor, F_GETFL);
    if (flags < 0 || fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) != 0) return -1;
    return fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

static inline int perch_duplicate(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 3); }

#endif
