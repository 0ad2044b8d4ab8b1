// The values of `gdr perf`'s options, as text and as what the run is given. Each judges its own:
// CLI::ValidationError, one line that says what is allowed.
#pragma once

#include <string>
#include <vector>

#include "perf/run.h"

namespace gdr::cli {

std::vector<perf::Operation> read_operations(const std::string& text);
perf::Transport read_transport(const std::string& text);
std::vector<perf::Measure> read_measures(const std::string& text);
// "host", "gpu", "gpu:1", "gpu-vmm", "staged:0".
std::vector<perf::Place> read_places(const char* option, const std::string& text);
perf::Way read_way(const std::string& text);
// "64", "4K", "1M", "64-1M": every power of two.
std::vector<std::uint64_t> read_sizes(const std::string& text);
// "0.2", "200ms", "2s", "1m".
std::uint64_t read_nanoseconds(const char* option, const std::string& text);
// "mlx5_0,mlx5_1:2"; none where it is empty.
std::vector<std::string> read_names(const std::string& text);
// "0-3,8".
std::vector<int> read_processors(const char* option, const std::string& text);
// The CPUs of a NUMA node, from the kernel's list below `root`.
std::vector<int> processors_of_node(const std::string& root, std::uint32_t node);

}  // namespace gdr::cli
