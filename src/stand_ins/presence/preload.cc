// libgdr-presence.so: a program's calls for the files of RDMA devices, answered from the folder
// that `gdr run` prepared. Preloaded where gdr run may not mount; every other call goes on to the C
// library unchanged.
//
// A character device of the tree is an empty file there: stat() says what the kernel would say of
// one, open() fails with ENXIO as for a device without a driver.
#include <dirent.h>
#include <fcntl.h>
#include <glob.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string_view>

#include "base/next_function.h"
#include "presence/counter_refresh.h"
#include "presence/folders.h"
#include "presence/redirect.h"

namespace gdr::presence {
namespace {

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

// What happens before a file is opened. True: it is not, with errno.
bool refuses_to_open(const Redirection& path, int folder = AT_FDCWD) {
  if (path.is_redirected()) {
    refresh_counter(path.get(), ports_folder());
  } else {
    refresh_relative(folder, path.get(), root(), ports_folder());
  }
  if (!path.is_device() || access(path.get(), F_OK) != 0) return false;
  errno = ENXIO;
  return true;
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

using gdr::mode_of, gdr::not_there;
using namespace gdr::presence;  // NOLINT: this file is the C interface of the namespace

using OpenCall = int(const char*, int, mode_t);
using OpenAtCall = int(int, const char*, int, mode_t);

#define GDR_OPEN(name)                                   \
  GDR_SHOWN int name(const char* path, int flags, ...) { \
    va_list list;                                        \
    va_start(list, flags);                               \
    const mode_t mode = mode_of(flags, list);            \
    va_end(list);                                        \
    GDR_NEXT(OpenCall, name);                            \
    const Redirection to(path);                          \
    if (refuses_to_open(to)) return -1;                  \
    if (next_##name == nullptr) return not_there<int>(); \
    return next_##name(to.get(), flags, mode);           \
  }
GDR_OPEN(open)
GDR_OPEN(open64)

#define GDR_OPEN_AT(name)                                            \
  GDR_SHOWN int name(int folder, const char* path, int flags, ...) { \
    va_list list;                                                    \
    va_start(list, flags);                                           \
    const mode_t mode = mode_of(flags, list);                        \
    va_end(list);                                                    \
    GDR_NEXT(OpenAtCall, name);                                      \
    const Redirection to(path);                                      \
    if (refuses_to_open(to, folder)) return -1;                      \
    if (next_##name == nullptr) return not_there<int>();             \
    return next_##name(folder, to.get(), flags, mode);               \
  }
GDR_OPEN_AT(openat)
GDR_OPEN_AT(openat64)

// All that take a path first and do nothing to what they find.
#define GDR_PATH_FIRST(result, name, types, parameters, arguments) \
  using name##_call = result types;                                \
  GDR_SHOWN result name parameters {                               \
    GDR_NEXT(name##_call, name);                                   \
    const Redirection to(path);                                    \
    if (next_##name == nullptr) return not_there<result>();        \
    return next_##name arguments;                                  \
  }

// With _FORTIFY_SOURCE.
#define GDR_CHECKED_OPEN(name, types, parameters, arguments, from) \
  using name##_call = int types;                                   \
  GDR_SHOWN int name parameters {                                  \
    GDR_NEXT(name##_call, name);                                   \
    const Redirection to(path);                                    \
    if (refuses_to_open(to, from)) return -1;                      \
    if (next_##name == nullptr) return not_there<int>();           \
    return next_##name arguments;                                  \
  }
GDR_CHECKED_OPEN(__open_2, (const char*, int), (const char* path, int flags), (to.get(), flags),
                 AT_FDCWD)
GDR_CHECKED_OPEN(__open64_2, (const char*, int), (const char* path, int flags), (to.get(), flags),
                 AT_FDCWD)
GDR_CHECKED_OPEN(__openat_2, (int, const char*, int), (int folder, const char* path, int flags),
                 (folder, to.get(), flags), folder)
GDR_CHECKED_OPEN(__openat64_2, (int, const char*, int), (int folder, const char* path, int flags),
                 (folder, to.get(), flags), folder)

GDR_PATH_FIRST(DIR*, opendir, (const char*), (const char* path), (to.get()))
GDR_PATH_FIRST(int, chdir, (const char*), (const char* path) noexcept, (to.get()))

// The headers say that some arguments are never null, which callers from elsewhere need not know.
#pragma GCC diagnostic ignored "-Wnonnull"
#pragma GCC diagnostic ignored "-Wnonnull-compare"

GDR_PATH_FIRST(int, access, (const char*, int), (const char* path, int mode) noexcept,
               (to.get(), mode))
GDR_PATH_FIRST(int, faccessat, (int, const char*, int, int),
               (int folder, const char* path, int mode, int flags) noexcept,
               (folder, to.get(), mode, flags))
GDR_PATH_FIRST(int, euidaccess, (const char*, int), (const char* path, int mode) noexcept,
               (to.get(), mode))
GDR_PATH_FIRST(int, eaccess, (const char*, int), (const char* path, int mode) noexcept,
               (to.get(), mode))
GDR_PATH_FIRST(ssize_t, readlink, (const char*, char*, std::size_t),
               (const char* path, char* buffer, std::size_t size) noexcept,
               (to.get(), buffer, size))
GDR_PATH_FIRST(ssize_t, readlinkat, (int, const char*, char*, std::size_t),
               (int folder, const char* path, char* buffer, std::size_t size) noexcept,
               (folder, to.get(), buffer, size))

// For `ls`, which asks for access control lists.
GDR_PATH_FIRST(ssize_t, getxattr, (const char*, const char*, void*, std::size_t),
               (const char* path, const char* name, void* value, std::size_t size) noexcept,
               (to.get(), name, value, size))
GDR_PATH_FIRST(ssize_t, lgetxattr, (const char*, const char*, void*, std::size_t),
               (const char* path, const char* name, void* value, std::size_t size) noexcept,
               (to.get(), name, value, size))

using Filter = int(const dirent*);
using Order = int(const dirent**, const dirent**);
using Filter64 = int(const dirent64*);
using Order64 = int(const dirent64**, const dirent64**);
GDR_PATH_FIRST(int, scandir, (const char*, dirent***, Filter*, Order*),
               (const char* path, dirent*** list, Filter* filter, Order* order),
               (to.get(), list, filter, order))
GDR_PATH_FIRST(int, scandir64, (const char*, dirent64***, Filter64*, Order64*),
               (const char* path, dirent64*** list, Filter64* filter, Order64* order),
               (to.get(), list, filter, order))

#define GDR_FOPEN(name)                                      \
  using name##_call = FILE*(const char*, const char*);       \
  GDR_SHOWN FILE* name(const char* path, const char* mode) { \
    GDR_NEXT(name##_call, name);                             \
    const Redirection to(path);                              \
    if (refuses_to_open(to)) return nullptr;                 \
    if (next_##name == nullptr) return not_there<FILE*>();   \
    return next_##name(to.get(), mode);                      \
  }
GDR_FOPEN(fopen)
GDR_FOPEN(fopen64)

// Those that say what a file is.
#define GDR_STATUS(name, types, parameters, arguments)   \
  using name##_call = int types;                         \
  GDR_SHOWN int name parameters {                        \
    GDR_NEXT(name##_call, name);                         \
    const Redirection to(path);                          \
    if (next_##name == nullptr) return not_there<int>(); \
    const int status = next_##name arguments;            \
    if (status == 0) become_device(to, result);          \
    return status;                                       \
  }
#define GDR_STATUS_OF_PATH(name, buffer)          \
  GDR_STATUS(name, (const char*, struct buffer*), \
             (const char* path, struct buffer* result) noexcept, (to.get(), result))
GDR_STATUS_OF_PATH(stat, stat)
GDR_STATUS_OF_PATH(lstat, stat)
GDR_STATUS_OF_PATH(stat64, stat64)
GDR_STATUS_OF_PATH(lstat64, stat64)

#define GDR_STATUS_AT(name, buffer)                                                     \
  GDR_STATUS(name, (int, const char*, struct buffer*, int),                             \
             (int folder, const char* path, struct buffer* result, int flags) noexcept, \
             (folder, to.get(), result, flags))
GDR_STATUS_AT(fstatat, stat)
GDR_STATUS_AT(fstatat64, stat64)

// Programs built with a C library before 2.33 call these.
#define GDR_OLD_STATUS(name, buffer)                   \
  GDR_STATUS(name, (int, const char*, struct buffer*), \
             (int version, const char* path, struct buffer* result), (version, to.get(), result))
GDR_OLD_STATUS(__xstat, stat)
GDR_OLD_STATUS(__lxstat, stat)
GDR_OLD_STATUS(__xstat64, stat64)
GDR_OLD_STATUS(__lxstat64, stat64)

#define GDR_OLD_STATUS_AT(name, buffer)                                                     \
  GDR_STATUS(name, (int, int, const char*, struct buffer*, int),                            \
             (int version, int folder, const char* path, struct buffer* result, int flags), \
             (version, folder, to.get(), result, flags))
GDR_OLD_STATUS_AT(__fxstatat, stat)
GDR_OLD_STATUS_AT(__fxstatat64, stat64)

GDR_STATUS(statx, (int, const char*, int, unsigned, struct statx*),
           (int folder, const char* path, int flags, unsigned mask, struct statx* result) noexcept,
           (folder, to.get(), flags, mask, result))

// Those that give a path back.
#define GDR_REAL_PATH(name, types, parameters, arguments)  \
  using name##_call = char* types;                         \
  GDR_SHOWN char* name parameters {                        \
    GDR_NEXT(name##_call, name);                           \
    const Redirection to(path);                            \
    if (next_##name == nullptr) return not_there<char*>(); \
    char* const found = next_##name arguments;             \
    return to.is_redirected() ? as_seen(found) : found;    \
  }
GDR_REAL_PATH(realpath, (const char*, char*), (const char* path, char* resolved) noexcept,
              (to.get(), resolved))
GDR_REAL_PATH(__realpath_chk, (const char*, char*, std::size_t),
              (const char* path, char* resolved, std::size_t size), (to.get(), resolved, size))
GDR_REAL_PATH(canonicalize_file_name, (const char*), (const char* path) noexcept, (to.get()))

// The working folder of a program that has gone into the tree.
#define GDR_CURRENT_FOLDER(name, types, parameters, arguments) \
  using name##_call = char* types;                             \
  GDR_SHOWN char* name parameters {                            \
    GDR_NEXT(name##_call, name);                               \
    if (next_##name == nullptr) return not_there<char*>();     \
    return as_seen(next_##name arguments);                     \
  }
GDR_CURRENT_FOLDER(getcwd, (char*, std::size_t), (char* buffer, std::size_t size) noexcept,
                   (buffer, size))
GDR_CURRENT_FOLDER(__getcwd_chk, (char*, std::size_t, std::size_t),
                   (char* buffer, std::size_t size, std::size_t room), (buffer, size, room))
GDR_CURRENT_FOLDER(get_current_dir_name, (), () noexcept, ())

// glob() reaches the C library's own functions, unless it is given others.
#define GDR_GLOB(name, buffer, status, entry)                                                      \
  using name##_call = int(const char*, int, int (*)(const char*, int), buffer*);                   \
  GDR_SHOWN int name(const char* pattern, int flags, int (*failed)(const char*, int),              \
                     buffer* found) noexcept {                                                     \
    GDR_NEXT(name##_call, name);                                                                   \
    if (next_##name == nullptr) return GLOB_NOSYS;                                                 \
    if (root().empty() || pattern == nullptr || pattern[0] != '/' || found == nullptr ||           \
        (flags & GLOB_ALTDIRFUNC) != 0) {                                                          \
      return next_##name(pattern, flags, failed, found);                                           \
    }                                                                                              \
    found->gl_opendir = [](const char* path) -> void* { return opendir(path); };                   \
    found->gl_readdir = [](void* folder) { return entry(static_cast<DIR*>(folder)); };             \
    found->gl_closedir = [](void* folder) { closedir(static_cast<DIR*>(folder)); };                \
    found->gl_stat = [](const char* path, struct status* result) { return status(path, result); }; \
    found->gl_lstat = [](const char* path, struct status* result) {                                \
      return l##status(path, result);                                                              \
    };                                                                                             \
    return next_##name(pattern, flags | GLOB_ALTDIRFUNC, failed, found);                           \
  }
GDR_GLOB(glob, glob_t, stat, readdir)
GDR_GLOB(glob64, glob64_t, stat64, readdir64)
