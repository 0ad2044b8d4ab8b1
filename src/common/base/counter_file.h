// A file of named counters that processes share: one writes it, `gdr counters` prints it.
//
//   Result<std::atomic<std::uint64_t>*> values = map_counters("/tmp/run.counters", names);
//   Result<std::vector<NamedCount>> counts = read_counters("/tmp/run.counters");
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace gdr {

struct NamedCount {
  std::string name;
  std::uint64_t value;
};

// Makes the file, or adds to it if it holds counters of these names; EINVAL: it holds something
// else. The mapping stays.
Result<std::atomic<std::uint64_t>*> map_counters(const std::string& path,
                                                 std::span<const char* const> names);

// EINVAL for a file of another kind; what open says.
Result<std::vector<NamedCount>> read_counters(const std::string& path);

}  // namespace gdr
