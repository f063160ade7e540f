/* Preloaded into a process: kills it, or makes a call fail, at the nth call that concerns files under some folders.
 *
 * FAULTS_FOLDERS  folders, with colons between them
 * FAULTS_CALLS    which calls are counted: write, fsync, rename, create, unlink, close, mkdir, read; with commas between them
 * FAULTS_AT       the number of the call, from 1 on; 0 for none
 * FAULTS_ACTION   `kill`, or the number of an error
 * FAULTS_STICKY   if set, all counted calls from that one on fail
 * FAULTS_REPORT   a file that gets a line for each counted call: its name and the path
 *
 * A process that is killed at a write has written half of the bytes before. A close that fails has closed the file, as on Linux. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static const char *folders, *calls, *action;
static long at;
static int is_sticky, report = -1;
static atomic_long seen;

__attribute__((constructor)) static void begin(void) {
    const char *number = getenv("FAULTS_AT"), *path = getenv("FAULTS_REPORT");
    folders = getenv("FAULTS_FOLDERS");
    calls = getenv("FAULTS_CALLS");
    action = getenv("FAULTS_ACTION");
    at = number ? atol(number) : 0;
    is_sticky = getenv("FAULTS_STICKY") != NULL;
    if (path) {
        report = (int)syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    }
}

static int is_listed(const char *list, const char *item, char separator, int is_prefix) {
    size_t whole = strlen(item);
    while (list && *list) {
        const char *end = strchrnul(list, separator);
        size_t len = (size_t)(end - list);
        if (is_prefix ? strncmp(item, list, len) == 0 : (whole == len && strncmp(item, list, len) == 0)) {
            return 1;
        }
        list = *end ? end + 1 : end;
    }
    return 0;
}

/* 0 if the call may go on, else the error that it fails with; -1 if the process has to die. */
static int fault(const char *call, const char *path) {
    if (!path || !is_listed(calls, call, ',', 0) || !is_listed(folders, path, ':', 1)) {
        return 0;
    }
    long number = atomic_fetch_add(&seen, 1) + 1;
    if (report >= 0) {
        char line[5000];
        int len = snprintf(line, sizeof line, "%s %s\n", call, path);
        syscall(SYS_write, report, line, (size_t)len);
    }
    if (at == 0 || (is_sticky ? number < at : number != at)) {
        return 0;
    }
    return strcmp(action, "kill") == 0 ? -1 : atoi(action);
}

static void die(void) {
    syscall(SYS_kill, getpid(), SIGKILL);
}

static int fault_fd(const char *call, int fd) {
    if (!folders) {
        return 0;
    }
    int saved = errno;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t len = readlink(link, path, sizeof path - 1);
    errno = saved;
    if (len < 0) {
        return 0;
    }
    path[len] = 0;
    return fault(call, path);
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

/* Fails or dies, or goes on. */
#define CHECK(found)                                                                                                   \
    do {                                                                                                               \
        int failed = (found);                                                                                             \
        if (failed < 0) {                                                                                               \
            die();                                                                                                     \
        }                                                                                                              \
        if (failed > 0) {                                                                                               \
            errno = failed;                                                                                            \
            return -1;                                                                                                 \
        }                                                                                                              \
    } while (0)

ssize_t write(int fd, const void *bytes, size_t len) {
    int error = fault_fd("write", fd);
    if (error < 0) {
        syscall(SYS_write, fd, bytes, len / 2);
    }
    CHECK(error);
    return REAL(write)(fd, bytes, len);
}

ssize_t writev(int fd, const struct iovec *parts, int count) {
    CHECK(fault_fd("write", fd));
    return REAL(writev)(fd, parts, count);
}

ssize_t pwrite64(int fd, const void *bytes, size_t len, off64_t offset) {
    CHECK(fault_fd("write", fd));
    return REAL(pwrite64)(fd, bytes, len, offset);
}

ssize_t copy_file_range(int in, off64_t *in_at, int out, off64_t *out_at, size_t len, unsigned flags) {
    int error = fault_fd("write", out);
    if (error < 0) {
        syscall(SYS_copy_file_range, in, in_at, out, out_at, len / 2 < 100000 ? len / 2 : 100000, flags);
    }
    CHECK(error);
    return REAL(copy_file_range)(in, in_at, out, out_at, len, flags);
}

ssize_t sendfile64(int out, int in, off64_t *offset, size_t count) {
    CHECK(fault_fd("write", out));
    return REAL(sendfile64)(out, in, offset, count);
}

ssize_t read(int fd, void *bytes, size_t len) {
    CHECK(fault_fd("read", fd));
    return REAL(read)(fd, bytes, len);
}

int fsync(int fd) {
    CHECK(fault_fd("fsync", fd));
    return REAL(fsync)(fd);
}

int fdatasync(int fd) {
    CHECK(fault_fd("fsync", fd));
    return REAL(fdatasync)(fd);
}

int close(int fd) {
    int flags = folders ? fcntl(fd, F_GETFL) : 0;
    int error = flags > 0 && (flags & O_ACCMODE) != O_RDONLY ? fault_fd("close", fd) : 0;
    if (error > 0) {
        REAL(close)(fd);
    }
    CHECK(error);
    return REAL(close)(fd);
}

int rename(const char *from, const char *to) {
    CHECK(fault("rename", to));
    return REAL(rename)(from, to);
}

int unlink(const char *path) {
    CHECK(fault("unlink", path));
    return REAL(unlink)(path);
}

int mkdir(const char *path, mode_t mode) {
    CHECK(fault("mkdir", path));
    return REAL(mkdir)(path, mode);
}

#define OPEN(name)                                                                                                     \
    int name(const char *path, int flags, ...) {                                                                       \
        va_list list;                                                                                                  \
        va_start(list, flags);                                                                                         \
        mode_t mode = va_arg(list, mode_t);                                                                            \
        va_end(list);                                                                                                  \
        if (flags & O_CREAT) {                                                                                         \
            CHECK(fault("create", path));                                                                              \
        }                                                                                                              \
        return REAL(name)(path, flags, mode);                                                                          \
    }
OPEN(open)
OPEN(open64)
