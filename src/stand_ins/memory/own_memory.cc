#include "memory/own_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <mutex>

#include "base/unique_fd.h"
#include "memory/fault_guard.h"
#include "memory/host_pages.h"

namespace gdr::memory {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kPipeBytes = 64 << 10;  // what a pipe holds unless told otherwise

// Empty between two copies. Under its mutex.
class Pipe {
 public:
  // One that lives as long as the process. A child of fork makes its own: what both wrote would
  // mix, and another thread of the parent's may have held the mutex.
  static Pipe& instance() {
    static std::atomic<Pipe*> present{nullptr};
    Pipe* found = present.load(std::memory_order_acquire);
    while (found == nullptr || found->owner_ != getpid()) {
      auto* own = new Pipe;
      if (!present.compare_exchange_strong(found, own)) {
        delete own;
        continue;
      }
      if (found != nullptr) found->close();
      return *own;
    }
    return *found;
  }

  // 0 or an errno value; EMFILE and the like: there is no pipe.
  int copy(const std::byte* from, std::byte* to, std::size_t bytes) {
    const std::lock_guard guard(mutex_);
    if (const int error = open()) return error;
    while (bytes > 0) {
      const ssize_t in = write(write_end_.get(), from, std::min(bytes, kPipeBytes));
      if (in <= 0) return in < 0 ? errno : EFAULT;
      if (const int error = take(to, static_cast<std::size_t>(in))) return error;
      from += in, to += in, bytes -= static_cast<std::size_t>(in);
    }
    return 0;
  }

  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

 private:
  Pipe() = default;

  int open() {
    if (read_end_) return 0;
    int ends[2];
    if (pipe2(ends, O_CLOEXEC | O_NONBLOCK) != 0) return errno;
    read_end_.reset(ends[0]);
    write_end_.reset(ends[1]);
    return 0;
  }
  void close() {
    read_end_.reset();
    write_end_.reset();
  }

  int take(std::byte* to, std::size_t bytes) {
    while (bytes > 0) {
      const ssize_t out = read(read_end_.get(), to, bytes);
      if (out <= 0) {
        const int error = out < 0 ? errno : EIO;
        close();  // what is left in it is nobody's
        return error;
      }
      to += out, bytes -= static_cast<std::size_t>(out);
    }
    return 0;
  }

  const pid_t owner_ = getpid();
  std::mutex mutex_;
  UniqueFd read_end_, write_end_;
};

// Touches every page first: where it is missing and may be made, it is made.
int copy_by_touching(const std::byte* from, std::byte* to, std::size_t bytes) {
  if (!kernel_populates()) return EMFILE;
  const auto number = [](const void* pointer) { return reinterpret_cast<std::uint64_t>(pointer); };
  if (!fault_in(number(from), bytes, false) || !fault_in(number(to), bytes, true)) return EFAULT;
  return without_fault([=] { std::memmove(to, from, bytes); }) ? 0 : EFAULT;
}

int copy_piece_by_pipe(const std::byte* from, std::byte* to, std::size_t bytes) {
  const int error = Pipe::instance().copy(from, to, bytes);
  const bool has_none = error == EMFILE || error == ENFILE || error == EPERM || error == ENOSYS;
  return has_none ? copy_by_touching(from, to, bytes) : error;
}

int copy_piece_by_call(const std::byte* from, std::byte* to, std::size_t bytes) {
  while (bytes > 0) {
    const iovec here{const_cast<std::byte*>(from), bytes}, there{to, bytes};
    const ssize_t moved = process_vm_writev(getpid(), &here, 1, &there, 1, 0);
    if (moved <= 0) return moved < 0 ? errno : EFAULT;
    from += moved, to += moved, bytes -= static_cast<std::size_t>(moved);
  }
  return 0;
}

// `Copy`: of one stretch. The stretches that lie in one piece on both sides, one by one.
template <typename Copy>
int copy_pieces(std::span<const iovec> from, std::span<const iovec> to, const Copy& copy) {
  std::size_t read = 0, written = 0;  // of the first pieces
  while (!from.empty() && !to.empty()) {
    std::size_t length = std::min(from.front().iov_len - read, to.front().iov_len - written);
    const bool last = to.size() == 1 && written + length == to.front().iov_len;
    const auto* source = static_cast<const std::byte*>(from.front().iov_base) + read;
    auto* target = static_cast<std::byte*>(to.front().iov_base) + written;
    if (last && length > kCacheLine) length = (length - 1) & ~(kCacheLine - 1);
    if (length > 0) {
      if (const int error = copy(source, target, length)) return error;
    }
    read += length, written += length;
    if (read == from.front().iov_len) from = from.subspan(1), read = 0;
    if (written == to.front().iov_len) to = to.subspan(1), written = 0;
  }
  return 0;
}

}  // namespace

bool can_copy_by_kernel() {
  static const bool answer = [] {
    char from = 1, to = 0;
    const iovec there{&from, 1}, here{&to, 1};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 &&
           process_vm_writev(getpid(), &here, 1, &there, 1, 0) == 1;
  }();
  return answer;
}

int copy_own(std::span<const iovec> from, std::span<const iovec> to) {
  if (!can_copy_by_kernel()) return copy_own_by_pipe(from, to);
  return copy_pieces(from, to, copy_piece_by_call);
}

int copy_own_by_pipe(std::span<const iovec> from, std::span<const iovec> to) {
  return copy_pieces(from, to, copy_piece_by_pipe);
}

bool is_readable(std::uint64_t address) {
  std::byte byte{};
  const iovec from{reinterpret_cast<void*>(address), 1}, to{&byte, 1};
  return copy_own({&from, 1}, {&to, 1}) == 0;
}

}  // namespace gdr::memory
