// libgdr-presence.so: a program's calls for the files of RDMA devices, answered from the folder
// that `gdr run` prepared where it may not mount, and its requests by netlink, answered in every
// process. All that it interposes is here; every other call goes on to the C library unchanged.
//
// A character device of the tree is an empty file there: stat() says what the kernel would say of
// one, open() fails with ENXIO as for a device without a driver.
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <type_traits>

#include "ledger/witness.h"
#include "presence/counter_refresh.h"
#include "presence/folders.h"
#include "presence/netlink/program_socket.h"
#include "presence/redirect.h"

namespace gdr::presence {
namespace {

// Which libraries of RDMA a process had, told to `gdr run` when it ends: by this library, since it
// is in every process that the program starts, with the software NIC's libibverbs or without. What
// ends before `gdr run` has looked would else have loaded nothing, or so its last line would say.
__attribute__((destructor)) void end() { ledger::testify(); }

// The next library's function of that name, or null. Looked up once; two threads may do it at a
// time, and find the same.
template <typename Function>
Function* next_function(std::atomic<void*>& known, const char* name) {
  void* found = known.load(std::memory_order_relaxed);
  if (found == nullptr) {
    found = dlsym(RTLD_NEXT, name);
    known.store(found, std::memory_order_relaxed);
  }
  return reinterpret_cast<Function*>(found);
}

template <typename Result>
Result refused(int error) {
  errno = error;
  if constexpr (std::is_pointer_v<Result>) {
    return nullptr;
  } else {
    return static_cast<Result>(-1);
  }
}

template <typename Status>
void become_device(const Redirection& path, Status* status) {
  if (!path.is_device()) return;
  status->st_mode = S_IFCHR | 0666;
  status->st_rdev = makedev(kVerbsMajor, static_cast<unsigned>(path.minor_number()));
  status->st_size = 0;
}

void become_device(const Redirection& path, struct statx* status) {
  if (!path.is_device()) return;
  status->stx_mode = S_IFCHR | 0666;
  status->stx_rdev_major = kVerbsMajor;
  status->stx_rdev_minor = static_cast<std::uint32_t>(path.minor_number());
  status->stx_size = 0;
}

// What happens before a file is opened. True: it is not, as there is no driver.
bool refuses_to_open(const Redirection& path, int folder) {
  if (path.is_redirected()) {
    refresh_counter(path.get(), ports_folder());
  } else {
    refresh_relative(folder, path.get(), root(), ports_folder());
  }
  return path.is_device() && access(path.get(), F_OK) == 0;
}

// The program's view of a path below the prepared folder, in place.
char* as_seen(char* found) {
  const std::string_view folder = root();
  if (found != nullptr && !folder.empty() &&
      std::strncmp(found, folder.data(), folder.size()) == 0 && found[folder.size()] == '/') {
    std::memmove(found, found + folder.size(), std::strlen(found + folder.size()) + 1);
  }
  return found;
}

}  // namespace
}  // namespace gdr::presence

using namespace gdr::presence;  // NOLINT: this file is the C interface of the namespace

// The headers say that some arguments are never null, which callers from elsewhere need not know.
#pragma GCC diagnostic ignored "-Wnonnull"
#pragma GCC diagnostic ignored "-Wnonnull-compare"
#pragma GCC diagnostic ignored "-Wignored-attributes"

// A function in front of the C library's, which its body calls `next`.
#define GDR_CALL(result, name, parameters, ...)                              \
  extern "C" __attribute__((visibility("default"))) result name parameters { \
    static std::atomic<void*> known{nullptr};                                \
    auto* const next = next_function<decltype(::name)>(known, #name);        \
    if (next == nullptr) return refused<result>(ENOSYS);                     \
    __VA_ARGS__                                                              \
  }

// The last argument of open(), which is there only if it may make a file.
#define GDR_MODE                                                    \
  mode_t mode = 0;                                                  \
  if ((flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE) { \
    va_list list;                                                   \
    va_start(list, flags);                                          \
    mode = va_arg(list, mode_t);                                    \
    va_end(list);                                                   \
  }

#define GDR_OPENS(result, name, parameters, prologue, from, arguments)     \
  GDR_CALL(result, name, parameters, prologue; const Redirection to(path); \
           if (refuses_to_open(to, from)) return refused<result>(ENXIO); return next arguments;)
#define GDR_OPEN(name)                                                         \
  GDR_OPENS(int, name, (const char* path, int flags, ...), GDR_MODE, AT_FDCWD, \
            (to.get(), flags, mode))
#define GDR_OPEN_AT(name)                                                                \
  GDR_OPENS(int, name, (int folder, const char* path, int flags, ...), GDR_MODE, folder, \
            (folder, to.get(), flags, mode))
#define GDR_FOPEN(name) \
  GDR_OPENS(FILE*, name, (const char* path, const char* mode), , AT_FDCWD, (to.get(), mode))
// With _FORTIFY_SOURCE.
#define GDR_OPEN_2(name) \
  GDR_OPENS(int, name, (const char* path, int flags), , AT_FDCWD, (to.get(), flags))
#define GDR_OPEN_AT_2(name)                                                 \
  GDR_OPENS(int, name, (int folder, const char* path, int flags), , folder, \
            (folder, to.get(), flags))
GDR_OPEN(open)
GDR_OPEN(open64)
GDR_OPEN_AT(openat)
GDR_OPEN_AT(openat64)
GDR_FOPEN(fopen)
GDR_FOPEN(fopen64)
GDR_OPEN_2(__open_2)
GDR_OPEN_2(__open64_2)
GDR_OPEN_AT_2(__openat_2)
GDR_OPEN_AT_2(__openat64_2)

// All that take a path and do nothing to what they find.
#define GDR_PATH(result, name, parameters, arguments) \
  GDR_CALL(result, name, parameters, const Redirection to(path); return next arguments;)
GDR_PATH(DIR*, opendir, (const char* path), (to.get()))
GDR_PATH(int, chdir, (const char* path) noexcept, (to.get()))
GDR_PATH(int, access, (const char* path, int mode) noexcept, (to.get(), mode))
GDR_PATH(int, faccessat, (int folder, const char* path, int mode, int flags) noexcept,
         (folder, to.get(), mode, flags))
GDR_PATH(int, euidaccess, (const char* path, int mode) noexcept, (to.get(), mode))
GDR_PATH(int, eaccess, (const char* path, int mode) noexcept, (to.get(), mode))
GDR_PATH(ssize_t, readlink, (const char* path, char* buffer, std::size_t size) noexcept,
         (to.get(), buffer, size))
GDR_PATH(ssize_t, readlinkat,
         (int folder, const char* path, char* buffer, std::size_t size) noexcept,
         (folder, to.get(), buffer, size))

// For `ls`, which asks for access control lists.
GDR_PATH(ssize_t, getxattr,
         (const char* path, const char* name, void* value, std::size_t size) noexcept,
         (to.get(), name, value, size))
GDR_PATH(ssize_t, lgetxattr,
         (const char* path, const char* name, void* value, std::size_t size) noexcept,
         (to.get(), name, value, size))

#define GDR_SCANDIR(name, entry)                                          \
  GDR_PATH(int, name,                                                     \
           (const char* path, entry*** list, int (*filter)(const entry*), \
            int (*order)(const entry**, const entry**)),                  \
           (to.get(), list, filter, order))
GDR_SCANDIR(scandir, dirent)
GDR_SCANDIR(scandir64, dirent64)

// Those that say what a file is.
#define GDR_STATUS(name, parameters, arguments)                                                  \
  GDR_CALL(int, name, parameters, const Redirection to(path); const int status = next arguments; \
           if (status == 0) become_device(to, result); return status;)
#define GDR_STATUS_OF_PATH(name, buffer) \
  GDR_STATUS(name, (const char* path, struct buffer* result) noexcept, (to.get(), result))
GDR_STATUS_OF_PATH(stat, stat)
GDR_STATUS_OF_PATH(lstat, stat)
GDR_STATUS_OF_PATH(stat64, stat64)
GDR_STATUS_OF_PATH(lstat64, stat64)

#define GDR_STATUS_AT(name, buffer)                                                           \
  GDR_STATUS(name, (int folder, const char* path, struct buffer* result, int flags) noexcept, \
             (folder, to.get(), result, flags))
GDR_STATUS_AT(fstatat, stat)
GDR_STATUS_AT(fstatat64, stat64)

// Programs built with a C library before 2.33 call these.
#define GDR_OLD_STATUS(name, buffer)                                       \
  GDR_STATUS(name, (int version, const char* path, struct buffer* result), \
             (version, to.get(), result))
GDR_OLD_STATUS(__xstat, stat)
GDR_OLD_STATUS(__lxstat, stat)
GDR_OLD_STATUS(__xstat64, stat64)
GDR_OLD_STATUS(__lxstat64, stat64)

#define GDR_OLD_STATUS_AT(name, buffer)                                                           \
  GDR_STATUS(name, (int version, int folder, const char* path, struct buffer* result, int flags), \
             (version, folder, to.get(), result, flags))
GDR_OLD_STATUS_AT(__fxstatat, stat)
GDR_OLD_STATUS_AT(__fxstatat64, stat64)

GDR_STATUS(statx,
           (int folder, const char* path, int flags, unsigned mask, struct statx* result) noexcept,
           (folder, to.get(), flags, mask, result))

// Those that give a path back.
#define GDR_REAL_PATH(name, parameters, arguments)              \
  GDR_CALL(char*, name, parameters, const Redirection to(path); \
           char* const found = next arguments;                  \
           return to.is_redirected() ? as_seen(found) : found;)
GDR_REAL_PATH(realpath, (const char* path, char* resolved) noexcept, (to.get(), resolved))
GDR_REAL_PATH(__realpath_chk, (const char* path, char* resolved, std::size_t size),
              (to.get(), resolved, size))
GDR_REAL_PATH(canonicalize_file_name, (const char* path) noexcept, (to.get()))

// The working folder of a program that has gone into the tree.
GDR_CALL(char*, getcwd, (char* buffer, std::size_t size) noexcept,
         return as_seen(next(buffer, size));)
GDR_CALL(char*, __getcwd_chk, (char* buffer, std::size_t size, std::size_t room),
         return as_seen(next(buffer, size, room));)
GDR_CALL(char*, get_current_dir_name, () noexcept, return as_seen(next());)

// glob() reaches the C library's own functions, unless it is given others.
using GlobFailed = int(const char*, int);
#define GDR_GLOB(name, buffer, status, entry)                                                  \
  GDR_CALL(                                                                                    \
      int, name, (const char* pattern, int flags, GlobFailed* failed, buffer* found) noexcept, \
      if (root().empty() || pattern == nullptr || pattern[0] != '/' || found == nullptr ||     \
          (flags & GLOB_ALTDIRFUNC) != 0) return next(pattern, flags, failed, found);          \
      found->gl_opendir = [](const char* path) -> void* { return opendir(path); };             \
      found->gl_readdir = [](void* folder) { return entry(static_cast<DIR*>(folder)); };       \
      found->gl_closedir = [](void* folder) { closedir(static_cast<DIR*>(folder)); };          \
      found->gl_stat = status; found->gl_lstat = l##status;                                    \
      return next(pattern, flags | GLOB_ALTDIRFUNC, failed, found);)
GDR_GLOB(glob, glob_t, stat, readdir)
GDR_GLOB(glob64, glob64_t, stat64, readdir64)

// The kernel's devices by netlink.
GDR_CALL(int, socket, (int domain, int type, int protocol) noexcept,
         return next(domain, type, netlink::shown_protocol(domain, protocol));)
#define GDR_SENDS(name, parameters, is_ours, request, arguments) \
  GDR_CALL(ssize_t, name, parameters,                            \
           return is_ours ? netlink::take_request request : next arguments;)
GDR_SENDS(send, (int fd, const void* bytes, std::size_t length, int flags),
          bytes != nullptr && netlink::is_request(fd, nullptr, 0), (fd, bytes, length),
          (fd, bytes, length, flags))
GDR_SENDS(sendto,
          (int fd, const void* bytes, std::size_t length, int flags, const sockaddr* address,
           socklen_t address_length),
          bytes != nullptr && netlink::is_request(fd, address, address_length), (fd, bytes, length),
          (fd, bytes, length, flags, address, address_length))
GDR_SENDS(sendmsg, (int fd, const msghdr* message, int flags),
          message != nullptr && netlink::is_request(fd, message->msg_name, message->msg_namelen),
          (fd, *message), (fd, message, flags))
