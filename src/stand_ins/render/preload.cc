// libgdr-render.so: a program's calls for the render nodes of software GPUs. See README.md.
//
// A program that has none open pays one look at a number for each ioctl(), mmap(), fstat() and
// close(), and one at the beginning of the path for each open().
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdarg>
#include <cstdlib>

#include "base/next_function.h"
#include "ledger/ledger.h"
#include "render/drm_interface.h"
#include "render/nodes.h"
#include "render/requests.h"
#include "render/shown.h"

namespace gdr::render {
namespace {

constinit Nodes nodes;

// As the C library does with what the kernel gives.
int as_call(int outcome) {
  if (outcome >= 0) return outcome;
  errno = -outcome;
  return -1;
}

// To the ledger of `gdr run`, for the line that it prints at the end of a program.
void tell_of_use() {
  ledger::Ledger* const ledger = ledger::attach(std::getenv(ledger::kRunVariable));
  if (ledger == nullptr) return;
  ledger::Process* const process = ledger::claim_process(
      *ledger, static_cast<std::uint32_t>(getpid()), program_invocation_short_name);
  if (process != nullptr) process->libraries.fetch_or(ledger::kSoftGpu, std::memory_order_relaxed);
}

// Before the first node of this process is opened.
void prepare() {
  static std::atomic<bool> done{false};
  if (done.exchange(true)) return;
  tell_of_use();
  pthread_atfork([] { nodes.before_fork(); }, [] { nodes.after_fork(); }, [] { nodes.in_child(); });
}

// Whether the path is that of a node; if so, what opening it gives.
bool opens_node(const char* path, int flags, int& outcome) {
  // These two letters tell nearly all calls apart. A descriptor for the path alone is the file's.
  if (path == nullptr || path[0] != '/' || path[1] != 'd' || (flags & O_PATH) != 0) return false;
  const std::string_view text(path);
  if (!text.starts_with(kPrefix)) return false;
  const int before = errno;
  const Shown shown = shown_from_environment();
  const int gpu = gpu_at(text, shown);
  if (gpu >= 0) prepare();
  errno = before;
  if (gpu < 0) return false;
  outcome = as_call(nodes.open({gpu, shown.bytes}, shown.first + gpu, flags));
  return true;
}

template <typename Status>
int with_device(int outcome, int descriptor, Status* status) {
  if (outcome != 0 || !nodes.any_open()) return outcome;
  if (const std::optional<int> minor = nodes.minor_of(descriptor)) {
    status->st_mode = S_IFCHR | 0666;
    status->st_rdev = makedev(kDrmMajor, static_cast<unsigned>(*minor));
    status->st_size = 0;
  }
  return outcome;
}

using MapCall = void*(void*, std::size_t, int, int, int, off_t);

// The kernel's, for what maps memory before or while the C library's is looked for: an allocator
// that dlsym() asks for memory.
void* map_by_kernel(void* address, std::size_t length, int protection, int flags, int descriptor,
                    off_t offset) {
  return reinterpret_cast<void*>(
      syscall(SYS_mmap, address, length, protection, flags, descriptor, offset));
}

MapCall* next_map() {
  static std::atomic<MapCall*> known{nullptr};
  static std::atomic<bool> looked{false};
  MapCall* found = known.load(std::memory_order_acquire);
  if (found != nullptr) return found;
  if (looked.exchange(true)) return &map_by_kernel;
  found = reinterpret_cast<MapCall*>(dlsym(RTLD_NEXT, "mmap"));
  if (found == nullptr) found = &map_by_kernel;
  known.store(found, std::memory_order_release);
  return found;
}

void* map(void* address, std::size_t length, int protection, int flags, int descriptor,
          off_t offset) {
  MapCall* const next = next_map();
  if (descriptor < 0 || (flags & MAP_ANONYMOUS) != 0 || !nodes.any_open()) {
    return next(address, length, protection, flags, descriptor, offset);
  }
  const bool writes = (protection & PROT_WRITE) != 0 && (flags & MAP_TYPE) != MAP_PRIVATE;
  const int before = errno;
  const int buffer =
      nodes.open_mapped(descriptor, static_cast<std::uint64_t>(offset), length, writes);
  errno = before;
  if (buffer == -ENOTTY) return next(address, length, protection, flags, descriptor, offset);
  if (buffer < 0) {
    errno = -buffer;
    return MAP_FAILED;
  }
  void* const mapped = next(address, length, protection, flags, buffer, 0);
  const int outcome = errno;
  close_descriptor(buffer);
  errno = outcome;
  return mapped;
}

}  // namespace
}  // namespace gdr::render

using gdr::mode_of, gdr::not_there;
using namespace gdr::render;  // NOLINT: this file is the C interface of the namespace

using OpenCall = int(const char*, int, mode_t);
using OpenAtCall = int(int, const char*, int, mode_t);
using CheckedOpenCall = int(const char*, int);
using CheckedOpenAtCall = int(int, const char*, int);

#define GDR_OPEN(name)                                    \
  GDR_SHOWN int name(const char* path, int flags, ...) {  \
    va_list list;                                         \
    va_start(list, flags);                                \
    const mode_t mode = mode_of(flags, list);             \
    va_end(list);                                         \
    GDR_NEXT(OpenCall, name);                             \
    int outcome = 0;                                      \
    if (opens_node(path, flags, outcome)) return outcome; \
    if (next_##name == nullptr) return not_there<int>();  \
    return next_##name(path, flags, mode);                \
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
    int outcome = 0;                                                 \
    if (opens_node(path, flags, outcome)) return outcome;            \
    if (next_##name == nullptr) return not_there<int>();             \
    return next_##name(folder, path, flags, mode);                   \
  }
GDR_OPEN_AT(openat)
GDR_OPEN_AT(openat64)

// With _FORTIFY_SOURCE.
#define GDR_CHECKED_OPEN(name)                            \
  GDR_SHOWN int name(const char* path, int flags) {       \
    GDR_NEXT(CheckedOpenCall, name);                      \
    int outcome = 0;                                      \
    if (opens_node(path, flags, outcome)) return outcome; \
    if (next_##name == nullptr) return not_there<int>();  \
    return next_##name(path, flags);                      \
  }
GDR_CHECKED_OPEN(__open_2)
GDR_CHECKED_OPEN(__open64_2)

#define GDR_CHECKED_OPEN_AT(name)                               \
  GDR_SHOWN int name(int folder, const char* path, int flags) { \
    GDR_NEXT(CheckedOpenAtCall, name);                          \
    int outcome = 0;                                            \
    if (opens_node(path, flags, outcome)) return outcome;       \
    if (next_##name == nullptr) return not_there<int>();        \
    return next_##name(folder, path, flags);                    \
  }
GDR_CHECKED_OPEN_AT(__openat_2)
GDR_CHECKED_OPEN_AT(__openat64_2)

using ControlCall = int(int, unsigned long, void*);

GDR_SHOWN int ioctl(int descriptor, unsigned long request, ...) noexcept {
  va_list list;
  va_start(list, request);
  void* const argument = va_arg(list, void*);
  va_end(list);
  GDR_NEXT(ControlCall, ioctl);
  if (nodes.any_open() && _IOC_TYPE(request) == kDrmType) {
    const int before = errno;
    const std::optional<int> answer = answer_request(nodes, descriptor, request, argument);
    errno = before;
    if (answer) return as_call(*answer);
  }
  if (next_ioctl == nullptr) return not_there<int>();
  return next_ioctl(descriptor, request, argument);
}

GDR_SHOWN void* mmap(void* address, std::size_t length, int protection, int flags, int descriptor,
                     off_t offset) noexcept {
  return map(address, length, protection, flags, descriptor, offset);
}

GDR_SHOWN void* mmap64(void* address, std::size_t length, int protection, int flags, int descriptor,
                       off64_t offset) noexcept {
  return map(address, length, protection, flags, descriptor, offset);
}

using CloseCall = int(int);

GDR_SHOWN int close(int descriptor) {
  GDR_NEXT(CloseCall, close);
  if (next_close == nullptr) return not_there<int>();
  const int outcome = next_close(descriptor);
  if (nodes.any_open()) nodes.tidy_up();
  return outcome;
}

#pragma GCC diagnostic ignored "-Wnonnull-compare"

#define GDR_STATUS(name, buffer)                                             \
  using name##_call = int(int, struct buffer*);                              \
  GDR_SHOWN int name(int descriptor, struct buffer* status) noexcept {       \
    GDR_NEXT(name##_call, name);                                             \
    if (next_##name == nullptr) return not_there<int>();                     \
    return with_device(next_##name(descriptor, status), descriptor, status); \
  }
GDR_STATUS(fstat, stat)
GDR_STATUS(fstat64, stat64)

// Programs built with a C library before 2.33 call these.
#define GDR_OLD_STATUS(name, buffer)                                                  \
  using name##_call = int(int, int, struct buffer*);                                  \
  GDR_SHOWN int name(int version, int descriptor, struct buffer* status) noexcept {   \
    GDR_NEXT(name##_call, name);                                                      \
    if (next_##name == nullptr) return not_there<int>();                              \
    return with_device(next_##name(version, descriptor, status), descriptor, status); \
  }
GDR_OLD_STATUS(__fxstat, stat)
GDR_OLD_STATUS(__fxstat64, stat64)
