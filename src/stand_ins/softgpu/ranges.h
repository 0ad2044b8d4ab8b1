// Ranges: what the driver knows of a process's addresses, by base; and what it has opened of other
// processes' allocations, found by that allocation, since a program may open thousands.
//
//   process.ranges.put(range);                              // at its base
//   auto found = process.ranges.find(address);
//   if (auto range = process.ranges.opened(identity, inode, context)) ++range->opened;
//
// Under the process's lock.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <tuple>
#include <unordered_map>

#include "softgpu/range.h"

namespace gdr::softgpu {

class Ranges {
 public:
  using Map = std::map<std::uint64_t, std::shared_ptr<Range>>;

  Map::iterator begin() { return by_base_.begin(); }
  Map::iterator end() { return by_base_.end(); }
  Map::iterator find(std::uint64_t base) { return by_base_.find(base); }
  Map::iterator lower_bound(std::uint64_t address) { return by_base_.lower_bound(address); }
  Map::iterator upper_bound(std::uint64_t address) { return by_base_.upper_bound(address); }

  void put(std::shared_ptr<Range> range);
  Map::iterator erase(Map::iterator at);

  // The allocation of that identity and backing that the context has opened. Null: it has not.
  std::shared_ptr<Range> opened(std::uint64_t identity, std::uint64_t inode,
                                const Context& context) const;
  // Whether another context of the same device than the range's has opened memory of the process
  // and device that the range comes from.
  bool another_context_opened(const Range& range) const;

 private:
  // The process that it comes from, its device there, and the device whose context has opened it.
  using Origin = std::tuple<int, int, int>;
  // Whether cuIpcOpenMemHandle has made it: the pointers of a pool have no context.
  static bool is_opened(const Range& range);
  static Origin origin_of(const Range& range);

  Map by_base_;
  std::unordered_multimap<std::uint64_t, std::shared_ptr<Range>> opened_;  // by identity
  std::map<Origin, std::map<const Context*, std::size_t>> contexts_;       // and their ranges
};

}  // namespace gdr::softgpu
