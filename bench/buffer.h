// Buffer: anonymous memory whose page size is known, not hoped for.
//
//   Buffer buffer(8 << 20, Pages::kHuge);
//   ... ibv_reg_mr(pd, buffer.data(), buffer.size(), access) ...
//   if (buffer.huge_bytes() != buffer.size()) ...  // the kernel did not agree
#pragma once

#include <cstddef>
#include <cstdint>

namespace gdr::bench {

enum class Pages {
  kOrdinary,  // never huge: MADV_NOHUGEPAGE
  kHuge,      // aligned so that registration can collapse it to huge pages; nothing else is asked
};

class Buffer {
 public:
  Buffer(std::size_t size, Pages pages);
  ~Buffer();
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  // Bytes of it that lie in huge pages now, as /proc/self/smaps says.
  std::size_t huge_bytes() const;

  void clear();
  void fill(std::uint64_t seed);
  // Hashes the first `bytes`; depends on the position of each.
  std::uint64_t hash(std::size_t bytes) const;

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_ = 0;
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace gdr::bench
