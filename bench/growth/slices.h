// SliceTable: as many registrations as are asked for. Those of host memory lie side by side in one
// stretch, so that what grows is what the software NIC keeps of a registration and not the
// program's memory. Those of GPU memory are allocations of their own, each of which another process
// has to open before it copies there by itself.
//
//   SliceTable table(protection_domain, SliceMemory::kGpu);
//   table.grow(1000);
#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <vector>

#include "link.h"

namespace gdr::bench {

// Gives memory for slices, one behind the other. Ends the program if there is no more.
class SliceSource {
 public:
  virtual ~SliceSource() = default;
  virtual std::uint64_t add() = 0;
  virtual void remove_last() = 0;
};

class SliceTable {
 public:
  SliceTable(ibv_pd* domain, SliceMemory memory);
  ~SliceTable();
  SliceTable(const SliceTable&) = delete;
  SliceTable& operator=(const SliceTable&) = delete;

  const std::vector<Slice>& slices() const { return slices_; }
  void grow(std::uint32_t count);
  // Seconds of the registration alone, and of its end.
  double add();
  double remove_last();

 private:
  ibv_pd* const domain_;
  const std::unique_ptr<SliceSource> source_;
  std::vector<ibv_mr*> regions_;
  std::vector<Slice> slices_;
};

}  // namespace gdr::bench
