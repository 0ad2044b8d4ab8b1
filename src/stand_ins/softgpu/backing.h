// Backing: bytes of "device memory", in a memfd, with a mapping that only this library knows.
//
//   Result<std::shared_ptr<Backing>> backing = Backing::create(2 << 20);
//   std::byte* bytes = (*backing)->bytes();
//
// Applications see device addresses, which are PROT_NONE (address_space.h); what they store lives
// here. Behind the data follows a ledger, one identity per 512-byte granule: a process that opens
// the memory through an IPC handle finds there whether the allocation it was given still lives.
// The memfd is sealed against shrinking, so that no mapping of it can ever fault; nothing of it is
// in a file system.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "base/unique_fd.h"

namespace gdr::softgpu {

inline constexpr std::uint64_t kGranule = 512;       // alignment of cuMemAlloc
inline constexpr std::uint64_t kBlock = 2ull << 20;  // granularity of the VMM calls
inline constexpr std::uint64_t kHostPage = 4096;
inline constexpr std::uint64_t kGpuPage = 64 * 1024;

constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) {
  return (value + unit - 1) / unit * unit;
}

class Backing {
 public:
  // `bytes` must be a multiple of the host page; `granules` ledger entries (1: one allocation).
  static Result<std::shared_ptr<Backing>> create(std::uint64_t bytes, int device,
                                                 std::uint64_t granules);
  // Opens a Backing of another process, or of this one through an exported descriptor. EBADF if the
  // descriptor is not a Backing's.
  static Result<std::shared_ptr<Backing>> open(int fd);

  ~Backing();
  Backing(const Backing&) = delete;
  Backing& operator=(const Backing&) = delete;

  std::byte* data() const { return map_; }
  std::uint64_t bytes() const { return bytes_; }
  int device() const { return device_; }
  int fd() const { return fd_.get(); }
  ino_t inode() const { return inode_; }

  // The identity of the allocation that begins at `offset`; 0 when there is none. Shared with other
  // processes, hence compared only, never trusted.
  void set_ledger(std::uint64_t offset, std::uint64_t identity);
  std::uint64_t ledger(std::uint64_t offset) const;

  // A descriptor another process can import, but neither it nor this one can map, read or write:
  // as with a real GPU's, the memory is reached through the driver only.
  Result<UniqueFd> export_descriptor() const;

 private:
  Backing() = default;
  Result<void> map();
  std::atomic<std::uint64_t>* entry(std::uint64_t offset) const;

  UniqueFd fd_;
  std::byte* map_ = nullptr;
  std::uint64_t bytes_ = 0;
  std::uint64_t granules_ = 1;
  int device_ = 0;
  ino_t inode_ = 0;
};

}  // namespace gdr::softgpu
