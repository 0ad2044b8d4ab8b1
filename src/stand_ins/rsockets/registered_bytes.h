// RegisteredBytes: zeroed whole pages, registered with a protection domain. Whole pages, so that
// what is kept from a forked child (RDMAV_FORK_SAFE) is nothing else's.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>

namespace gdr::rsockets {

class RegisteredBytes {
 public:
  RegisteredBytes() = default;
  RegisteredBytes(const RegisteredBytes&) = delete;
  RegisteredBytes& operator=(const RegisteredBytes&) = delete;
  ~RegisteredBytes();

  // An errno value; 0: done.
  int open(ibv_pd* pd, std::size_t size, int access);

  std::span<std::uint8_t> bytes() const { return bytes_; }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(bytes_.data()); }
  std::uint32_t lkey() const { return region_->lkey; }
  std::uint32_t rkey() const { return region_->rkey; }

 private:
  std::span<std::uint8_t> bytes_;
  std::size_t mapped_ = 0;
  ibv_mr* region_ = nullptr;
};

}  // namespace gdr::rsockets
