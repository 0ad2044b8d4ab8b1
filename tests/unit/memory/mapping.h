// Mapping: anonymous memory of the test's own, with the rights it asks for.
#pragma once

#include <sys/mman.h>

#include <cstdint>

namespace gdr::memory {

class Mapping {
 public:
  explicit Mapping(std::size_t bytes, int rights = PROT_READ | PROT_WRITE)
      : bytes_(bytes),
        base_(mmap(nullptr, bytes, rights, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {}
  ~Mapping() { munmap(base_, bytes_); }
  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  unsigned char* data() const { return static_cast<unsigned char*>(base_); }
  std::uint64_t address() const { return reinterpret_cast<std::uintptr_t>(base_); }
  std::size_t size() const { return bytes_; }

 private:
  std::size_t bytes_;
  void* base_;
};

}  // namespace gdr::memory
