#include "local/process_memory.h"

#include <sys/syscall.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>

namespace gdr::local {
namespace {

constexpr std::size_t kCacheLine = 64;
constexpr std::size_t kFewBytes = 2048;  // from here on its copy into a page of the kernel's costs

long as_number(const void* pointer) { return reinterpret_cast<long>(pointer); }

// `kNumber`: of pread or pwrite.
template <long kNumber>
int move_few(int memory_file, const While& held, std::span<const iovec> local,
             std::span<const iovec> remote, std::size_t most) {
  if (memory_file < 0 || local.size() != 1 || remote.size() != 1) return kNotFew;
  const std::size_t bytes = local[0].iov_len;
  if (bytes == 0 || bytes > most) return kNotFew;
  const long moved = system_call_while(held, kNumber, memory_file, as_number(local[0].iov_base),
                                       static_cast<long>(bytes), as_number(remote[0].iov_base));
  if (moved == static_cast<long>(bytes)) return 0;
  if (moved == kEnded) return ECANCELED;
  if (moved == 0) return ESRCH;  // the memory has no user left: it ended, or called exec
  return kNotFew;
}

// Drops the first `bytes` of a list.
std::span<iovec> drop_first(std::span<iovec> pieces, std::size_t bytes) {
  while (!pieces.empty() && bytes >= pieces.front().iov_len) {
    bytes -= pieces.front().iov_len;
    pieces = pieces.subspan(1);
  }
  if (!pieces.empty() && bytes > 0) {
    pieces.front().iov_base = static_cast<std::byte*>(pieces.front().iov_base) + bytes;
    pieces.front().iov_len -= bytes;
  }
  return pieces;
}

std::size_t bytes_in(std::span<const iovec> pieces) {
  std::size_t bytes = 0;
  for (const iovec& piece : pieces) bytes += piece.iov_len;
  return bytes;
}

// `kNumber`: of process_vm_readv or process_vm_writev.
template <long kNumber>
long move_in_one_call(const ProcessMemory& process, std::span<const iovec> local,
                      std::span<const iovec> remote) {
  return system_call_while(process.held, kNumber, process.pid, as_number(local.data()),
                           static_cast<long>(local.size()), as_number(remote.data()),
                           static_cast<long>(remote.size()), 0);
}

template <long kNumber>
int transfer(const ProcessMemory& process, std::span<iovec> local, std::span<iovec> remote) {
  std::size_t left = bytes_in(remote);
  while (!remote.empty()) {
    const long moved = move_in_one_call<kNumber>(process, local, remote);
    if (moved == kEnded) return ECANCELED;
    if (moved < 0) return static_cast<int>(-moved);
    if (static_cast<std::size_t>(moved) == left) return 0;
    left -= static_cast<std::size_t>(moved);
    if (moved == 0) {
      // Only empty pieces are left, or nothing could be moved at all.
      const std::span<iovec> rest = drop_first(remote, 0);
      return rest.empty() ? 0 : EFAULT;
    }
    local = drop_first(local, static_cast<std::size_t>(moved));
    remote = drop_first(remote, static_cast<std::size_t>(moved));
  }
  return 0;
}

}  // namespace

int write_few(int memory_file, const While& held, std::span<const iovec> local,
              std::span<const iovec> remote) {
  // Beyond that the tail has to be written by itself.
  return move_few<SYS_pwrite64>(memory_file, held, local, remote, kCacheLine);
}

int read_few(int memory_file, const While& held, std::span<const iovec> local,
             std::span<const iovec> remote) {
  return move_few<SYS_pread64>(memory_file, held, local, remote, kFewBytes);
}

int write_process(const ProcessMemory& process, std::span<iovec> local, std::span<iovec> remote) {
  if (remote.empty()) return 0;
  return transfer<SYS_process_vm_writev>(process, split_tail(local, remote.back()), remote);
}

int read_process(const ProcessMemory& process, std::span<iovec> local, std::span<iovec> remote) {
  return transfer<SYS_process_vm_readv>(process, local, remote);
}

long write_in_one_call(const ProcessMemory& process, std::span<const iovec> local,
                       std::span<const iovec> remote) {
  return move_in_one_call<SYS_process_vm_writev>(process, local, remote);
}

long read_in_one_call(const ProcessMemory& process, std::span<const iovec> local,
                      std::span<const iovec> remote) {
  return move_in_one_call<SYS_process_vm_readv>(process, local, remote);
}

std::span<iovec> split_tail(std::span<iovec> local, const iovec& remote) {
  const auto begin = reinterpret_cast<std::uintptr_t>(remote.iov_base);
  const std::uintptr_t line = (begin + remote.iov_len - 1) & ~(kCacheLine - 1);
  if (remote.iov_len <= kCacheLine || line <= begin) return local;
  std::size_t tail = begin + remote.iov_len - line;
  std::size_t split = local.size();
  while (split > 0 && local[split - 1].iov_len < tail) tail -= local[--split].iov_len;
  if (split == 0 || local[split - 1].iov_len == tail) return local;
  iovec& whole = local[split - 1];
  const std::span<iovec> longer(local.data(), local.size() + 1);
  std::copy_backward(local.begin() + static_cast<std::ptrdiff_t>(split), local.end(), longer.end());
  const std::size_t head = whole.iov_len - tail;
  longer[split] = {static_cast<std::byte*>(whole.iov_base) + head, tail};
  whole.iov_len = head;
  return longer;
}

void copy_within(std::span<const iovec> from, std::span<const iovec> to) {
  std::size_t from_piece = 0, from_offset = 0, to_piece = 0, to_offset = 0;
  while (from_piece < from.size() && to_piece < to.size()) {
    const std::size_t length =
        std::min(from[from_piece].iov_len - from_offset, to[to_piece].iov_len - to_offset);
    const auto* source = static_cast<const std::byte*>(from[from_piece].iov_base) + from_offset;
    auto* target = static_cast<std::byte*>(to[to_piece].iov_base) + to_offset;
    // Overlap is the program's business on hardware too, but must not be undefined behaviour here.
    if (length > kCacheLine) {
      const std::size_t head = (length - 1) & ~(kCacheLine - 1);
      std::memmove(target, source, head);
      std::atomic_thread_fence(std::memory_order_release);
      std::memmove(target + head, source + head, length - head);
    } else if (length > 0) {
      std::memmove(target, source, length);
    }
    from_offset += length;
    to_offset += length;
    if (from_offset == from[from_piece].iov_len) ++from_piece, from_offset = 0;
    if (to_offset == to[to_piece].iov_len) ++to_piece, to_offset = 0;
  }
}

}  // namespace gdr::local
