#include "render/nodes.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstdio>

namespace gdr::render {
namespace {

constexpr std::uint64_t kPage = 4096;
constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
constexpr char kBufferName[] = "gdrkit software GPU buffer";  // as /proc/PID/fd shows it

// As the kernel's, offsets begin where no 32-bit file could have any. Buffers are as far apart as
// the largest GPU's memory.
constexpr std::uint64_t kFirstOffset = 1ull << 32, kOffsetStep = 1ull << 40;

// Another opening of the same file: what the program does to its position or its locks stays there.
int open_again(int descriptor, int flags) {
  char path[32];
  std::snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
  const auto opened =
      static_cast<int>(syscall(SYS_openat, AT_FDCWD, path, flags & (O_ACCMODE | O_CLOEXEC)));
  if (opened >= 0) return opened;
  if (errno != ENOENT) return -errno;
  // Without /proc.
  const int copy = fcntl(descriptor, (flags & O_CLOEXEC) != 0 ? F_DUPFD_CLOEXEC : F_DUPFD, 0);
  return copy >= 0 ? copy : -errno;
}

int make_memory(std::uint64_t bytes) {
  const int made = memfd_create(kBufferName, MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (made < 0) return errno == EMFILE || errno == ENFILE ? -errno : -ENOMEM;
  if (ftruncate(made, static_cast<off_t>(bytes)) != 0 || fcntl(made, F_ADD_SEALS, kSeals) != 0) {
    close_descriptor(made);
    return -ENOMEM;
  }
  return made;
}

}  // namespace

int Nodes::open(const Gpu& gpu, int minor, int flags) {
  if (gpu.number < 0 || gpu.number >= kMostGpus) return -ENODEV;
  if ((flags & O_DIRECTORY) != 0) return -ENOTDIR;
  if ((flags & O_CREAT) != 0 && (flags & O_EXCL) != 0) return -EEXIST;
  const std::lock_guard guard(lock_);
  drop_unreachable();
  const int place = free_place();
  if (place < 0) return -EMFILE;
  int ends[2];
  if (pipe2(ends, O_CLOEXEC | (flags & O_NONBLOCK)) != 0) return -errno;
  Node node{true, (flags & O_ACCMODE) == O_RDWR, ends[1], minor, gpu, {}};
  if (!identify(ends[0], node.file) ||
      ((flags & O_CLOEXEC) == 0 && fcntl(ends[0], F_SETFD, 0) != 0)) {
    const int error = errno;
    close_descriptor(ends[0]);
    close_descriptor(ends[1]);
    return -error;
  }
  nodes_[place] = node;
  owner_.store(getpid(), std::memory_order_relaxed);
  open_.fetch_add(1, std::memory_order_relaxed);
  return ends[0];
}

std::optional<int> Nodes::minor_of(int descriptor) {
  const std::lock_guard guard(lock_);
  const int node = find(descriptor);
  if (node < 0) return std::nullopt;
  return nodes_[node].minor;
}

int Nodes::create_buffer(int node, std::uint64_t bytes, std::uint32_t& handle) {
  const std::lock_guard guard(lock_);
  drop_unreachable();
  const int at = find(node);
  if (at < 0) return -ENOTTY;
  const std::uint64_t rounded = (bytes + kPage - 1) / kPage * kPage;
  if (bytes == 0 || rounded < bytes) return -EINVAL;
  const Gpu& gpu = nodes_[at].gpu;
  std::uint64_t& used = used_[gpu.number];
  if (used > gpu.bytes || rounded > gpu.bytes - used) return -ENOMEM;
  const int memory = make_memory(rounded);
  if (memory < 0) return memory;
  Buffer buffer;
  buffer.descriptor = memory;
  buffer.bytes = buffer.charged = rounded;
  const int error = add_buffer(at, buffer, handle);
  if (error == 0) used += rounded;
  return error;
}

int Nodes::close_buffer(int node, std::uint32_t handle) {
  const std::lock_guard guard(lock_);
  const int at = find(node);
  if (at < 0) return -ENOTTY;
  Buffer* buffer = find_buffer(at, handle);
  if (buffer == nullptr) return -EINVAL;
  drop(*buffer);
  return 0;
}

int Nodes::export_buffer(int node, std::uint32_t handle, int flags) {
  const std::lock_guard guard(lock_);
  const int at = find(node);
  if (at < 0) return -ENOTTY;
  const Buffer* buffer = find_buffer(at, handle);
  if (buffer == nullptr) return -ENOENT;
  return open_again(buffer->descriptor, flags);
}

int Nodes::import_buffer(int node, int descriptor, std::uint32_t& handle) {
  const std::lock_guard guard(lock_);
  drop_unreachable();
  const int at = find(node);
  if (at < 0) return -ENOTTY;
  Buffer buffer;
  mode_t mode = 0;
  if (!identify(descriptor, buffer.file, &mode)) return -EBADF;
  // A buffer that is here already keeps its one handle.
  for (const Buffer& known : buffers_) {
    if (!known.used || known.node != at || known.file != buffer.file) continue;
    handle = known.handle;
    return 0;
  }
  // Memory that cannot shrink under a mapping: another process's buffer, or one of another node.
  const int seals = S_ISREG(mode) ? fcntl(descriptor, F_GET_SEALS) : -1;
  if (seals < 0 || (seals & kSeals) != kSeals) return -EINVAL;
  const off_t size = lseek(descriptor, 0, SEEK_END);
  if (size <= 0) return -EINVAL;
  buffer.bytes = static_cast<std::uint64_t>(size);
  buffer.descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  return buffer.descriptor < 0 ? -errno : add_buffer(at, buffer, handle);
}

int Nodes::offset_of(int node, std::uint32_t handle, std::uint64_t& offset) {
  const std::lock_guard guard(lock_);
  const int at = find(node);
  if (at < 0) return -ENOTTY;
  const Buffer* buffer = find_buffer(at, handle);
  if (buffer == nullptr) return -ENOENT;
  offset = kFirstOffset + static_cast<std::uint64_t>(buffer - buffers_) * kOffsetStep;
  return 0;
}

int Nodes::open_mapped(int node, std::uint64_t offset, std::uint64_t length, bool writes) {
  const std::lock_guard guard(lock_);
  const int at = find(node);
  if (at < 0) return -ENOTTY;
  if (offset < kFirstOffset || (offset - kFirstOffset) % kOffsetStep != 0) return -EINVAL;
  const std::uint64_t number = (offset - kFirstOffset) / kOffsetStep;
  if (number >= kMostBuffers || !buffers_[number].used) return -EINVAL;
  const Buffer& buffer = buffers_[number];
  if (buffer.node != at) return -EACCES;
  if (writes && !nodes_[at].writable) return -EACCES;
  if (length > (buffer.bytes + kPage - 1) / kPage * kPage) return -EINVAL;
  if (!is_still(buffer.descriptor, buffer.file)) return -EINVAL;
  const int copy = fcntl(buffer.descriptor, F_DUPFD_CLOEXEC, 0);
  return copy >= 0 ? copy : -ENOMEM;
}

void Nodes::tidy_up() {
  // A child of vfork() shares this memory, but not its parent's descriptors.
  if (!any_open() || getpid() != owner_.load(std::memory_order_relaxed)) return;
  if (!lock_.try_lock()) return;
  const int before = errno;
  drop_unreachable();
  errno = before;
  lock_.unlock();
}

void Nodes::in_child() {
  owner_.store(getpid(), std::memory_order_relaxed);
  lock_.unlock();
}

int Nodes::find(int descriptor) const {
  FileIdentity file;
  mode_t mode = 0;
  if (descriptor < 0 || !identify(descriptor, file, &mode) || !S_ISFIFO(mode)) return -1;
  for (int i = 0; i < kMostNodes; ++i) {
    if (nodes_[i].used && nodes_[i].file == file) return i;
  }
  return -1;
}

int Nodes::free_place() const {
  for (int i = 0; i < kMostNodes; ++i) {
    if (!nodes_[i].used) return i;
  }
  return -1;
}

Nodes::Buffer* Nodes::find_buffer(int node, std::uint32_t handle) {
  for (Buffer& buffer : buffers_) {
    if (!buffer.used || buffer.node != node || buffer.handle != handle) continue;
    return is_still(buffer.descriptor, buffer.file) ? &buffer : nullptr;
  }
  return nullptr;
}

int Nodes::add_buffer(int node, const Buffer& buffer, std::uint32_t& handle) {
  for (Buffer& place : buffers_) {
    if (place.used) continue;
    const std::uint32_t number = lowest_free_handle(node);
    place = buffer;
    place.used = true;
    place.node = node;
    place.handle = handle = number;
    identify(buffer.descriptor, place.file);
    return 0;
  }
  close_descriptor(buffer.descriptor);
  return -ENOSPC;
}

std::uint32_t Nodes::lowest_free_handle(int node) const {
  bool taken[kMostBuffers + 1] = {};
  for (const Buffer& buffer : buffers_) {
    if (buffer.used && buffer.node == node) taken[buffer.handle] = true;
  }
  std::uint32_t handle = 1;
  while (taken[handle]) ++handle;
  return handle;
}

void Nodes::drop(Buffer& buffer) {
  used_[nodes_[buffer.node].gpu.number] -= buffer.charged;
  if (is_still(buffer.descriptor, buffer.file)) close_descriptor(buffer.descriptor);
  buffer = Buffer();
}

void Nodes::drop_unreachable() {
  for (int i = 0; i < kMostNodes; ++i) {
    Node& node = nodes_[i];
    if (!node.used) continue;
    const bool watched = is_still(node.watch, node.file);
    pollfd end{node.watch, 0, 0};
    if (watched && (poll(&end, 1, 0) != 1 || (end.revents & POLLERR) == 0)) continue;
    for (Buffer& buffer : buffers_) {
      if (buffer.used && buffer.node == i) drop(buffer);
    }
    if (watched) close_descriptor(node.watch);
    node = Node();
    open_.fetch_sub(1, std::memory_order_relaxed);
  }
}

}  // namespace gdr::render
