// SliceTable: as many registrations as are asked for, side by side in one stretch of memory, so
// that what grows is what the software NIC keeps of a registration and not the program's memory.
#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <vector>

#include "link.h"

namespace gdr::bench {

constexpr std::uint32_t kMostSlices = 100'000 + 64;

class SliceTable {
 public:
  explicit SliceTable(ibv_pd* domain);
  ~SliceTable();
  SliceTable(const SliceTable&) = delete;
  SliceTable& operator=(const SliceTable&) = delete;

  const Slices& slices() const { return slices_; }
  std::size_t size() const { return regions_.size(); }
  void grow(std::uint32_t count);
  void add();
  void remove_last();

 private:
  ibv_pd* const domain_;
  std::byte* const bytes_;
  std::vector<ibv_mr*> regions_;
  Slices slices_;
};

}  // namespace gdr::bench
