/* System calls that fail on request, below Python: loaded with LD_PRELOAD.

   fault_arm(call, n, error, folder, report) has the n-th call of a kind fail with an error number,
   if it is about a file below a folder, or about a socket. A negative error kills the process
   instead: -1 before the call, -2 after it. Every process starts without a fault. The report file
   gets a byte when the fault is reached, and the count of calls is kept for `fault_count`. */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static char wanted[32], folder[PATH_MAX], report[PATH_MAX];
static int nth, error_number, count;

void fault_arm(const char *call, int n, int error, const char *below, const char *file) {
  snprintf(wanted, sizeof wanted, "%s", call);
  snprintf(folder, sizeof folder, "%s", below);
  snprintf(report, sizeof report, "%s", file);
  count = 0;
  error_number = error;
  nth = n;
}

int fault_count(void) { return count; }

#define NEXT(name) __typeof__(&name) next = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

static int is_below(const char *path) {
  return path && folder[0] && strncmp(path, folder, strlen(folder)) == 0;
}

static int is_file_below(int file) {
  char name[64], path[PATH_MAX];
  snprintf(name, sizeof name, "/proc/self/fd/%d", file);
  ssize_t size = readlink(name, path, sizeof path - 1);
  if (size < 0) return 0;
  path[size] = 0;
  return is_below(path);
}

static int is_socket(int file) {
  struct stat status;
  return fstat(file, &status) == 0 && S_ISSOCK(status.st_mode);
}

static void note(void) {
  int (*next_open)(const char *, int, ...) = (int (*)(const char *, int, ...))dlsym(RTLD_NEXT, "open");
  ssize_t (*next_write)(int, const void *, size_t) =
      (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  int out = next_open(report, O_WRONLY | O_APPEND | O_CREAT, 0600);
  if (out >= 0) {
    if (next_write(out, ".", 1)) close(out);
  }
}

/* Return whether this call is to fail; die here if the process is to be killed before it. */
static int reached(const char *call, int relevant) {
  if (!nth || !relevant || strcmp(call, wanted) != 0) return 0;
  if (__sync_add_and_fetch(&count, 1) != nth) return 0;
  note();
  if (error_number == -1) kill(getpid(), SIGKILL);
  return 1;
}

/* The body of a call: fail, or make it, and die after it where that is asked for. */
#define BODY(call, relevant, make)                                                                 \
  int saved = errno, hit = reached(call, relevant);                                                \
  errno = saved;                                                                                   \
  if (hit && error_number > 0) {                                                                   \
    errno = error_number;                                                                          \
    return -1;                                                                                     \
  }                                                                                                \
  __typeof__(make) done = (make);                                                                  \
  if (hit && error_number == -2) kill(getpid(), SIGKILL);                                          \
  return done;

/* The mode of a new file, the last of the arguments after the flags. */
#define MODE(flags)                                                                                \
  mode_t mode = 0;                                                                                 \
  if (flags & (O_CREAT | O_TMPFILE)) {                                                             \
    va_list more;                                                                                  \
    va_start(more, flags);                                                                         \
    mode = va_arg(more, mode_t);                                                                   \
    va_end(more);                                                                                  \
  }

#define OPEN(name)                                                                                 \
  int name(const char *path, int flags, ...) {                                                     \
    NEXT(name);                                                                                    \
    MODE(flags)                                                                                    \
    BODY("open", is_below(path), next(path, flags, mode))                                          \
  }
OPEN(open)
OPEN(open64)

/* A path that is relative to a folder's descriptor is none of ours: Python passes whole paths. */
#define OPENAT(name)                                                                               \
  int name(int at, const char *path, int flags, ...) {                                             \
    NEXT(name);                                                                                    \
    MODE(flags)                                                                                    \
    BODY("open", is_below(path), next(at, path, flags, mode))                                      \
  }
OPENAT(openat)
OPENAT(openat64)

ssize_t read(int file, void *data, size_t size) {
  NEXT(read);
  BODY("read", nth && is_file_below(file), next(file, data, size))
}
ssize_t pread64(int file, void *data, size_t size, off64_t from) {
  NEXT(pread64);
  BODY("read", nth && is_file_below(file), next(file, data, size, from))
}
int flock(int file, int operation) {
  NEXT(flock);
  BODY("lock", nth && !(operation & LOCK_UN) && is_file_below(file), next(file, operation))
}

ssize_t write(int file, const void *data, size_t size) {
  NEXT(write);
  BODY("write", nth && is_file_below(file), next(file, data, size))
}
ssize_t writev(int file, const struct iovec *parts, int number) {
  NEXT(writev);
  BODY("write", nth && is_file_below(file), next(file, parts, number))
}
int ftruncate(int file, off_t size) {
  NEXT(ftruncate);
  BODY("truncate", nth && is_file_below(file), next(file, size))
}
int ftruncate64(int file, off64_t size) {
  NEXT(ftruncate64);
  BODY("truncate", nth && is_file_below(file), next(file, size))
}
int rename(const char *from, const char *to) {
  NEXT(rename);
  BODY("rename", is_below(to), next(from, to))
}
int renameat(int a, const char *from, int b, const char *to) {
  NEXT(renameat);
  BODY("rename", is_below(to), next(a, from, b, to))
}
int renameat2(int a, const char *from, int b, const char *to, unsigned int flags) {
  NEXT(renameat2);
  BODY("rename", is_below(to), next(a, from, b, to, flags))
}
int link(const char *from, const char *to) {
  NEXT(link);
  BODY("rename", is_below(to), next(from, to))
}
int linkat(int a, const char *from, int b, const char *to, int flags) {
  NEXT(linkat);
  BODY("rename", is_below(to), next(a, from, b, to, flags))
}
int unlink(const char *path) {
  NEXT(unlink);
  BODY("unlink", is_below(path), next(path))
}
int unlinkat(int at, const char *path, int flags) {
  NEXT(unlinkat);
  BODY("unlink", is_below(path), next(at, path, flags))
}
int rmdir(const char *path) {
  NEXT(rmdir);
  BODY("unlink", is_below(path), next(path))
}
int mkdir(const char *path, mode_t mode) {
  NEXT(mkdir);
  BODY("open", is_below(path), next(path, mode))
}
int mkdirat(int at, const char *path, mode_t mode) {
  NEXT(mkdirat);
  BODY("open", is_below(path), next(at, path, mode))
}
int fsync(int file) {
  NEXT(fsync);
  BODY("fsync", nth && is_file_below(file), next(file))
}
int fdatasync(int file) {
  NEXT(fdatasync);
  BODY("fsync", nth && is_file_below(file), next(file))
}
ssize_t send(int file, const void *data, size_t size, int flags) {
  NEXT(send);
  BODY("send", nth && is_socket(file), next(file, data, size, flags))
}
ssize_t sendto(int file, const void *data, size_t size, int flags, const struct sockaddr *to,
               socklen_t length) {
  NEXT(sendto);
  BODY("send", nth && is_socket(file), next(file, data, size, flags, to, length))
}
ssize_t sendmsg(int file, const struct msghdr *message, int flags) {
  NEXT(sendmsg);
  BODY("send", nth && is_socket(file), next(file, message, flags))
}
ssize_t recv(int file, void *data, size_t size, int flags) {
  NEXT(recv);
  BODY("recv", nth && is_socket(file), next(file, data, size, flags))
}
int connect(int file, const struct sockaddr *to, socklen_t size) {
  NEXT(connect);
  BODY("connect", nth && is_socket(file), next(file, to, size))
}
