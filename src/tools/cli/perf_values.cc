#include "cli/perf_values.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <charconv>
#include <cmath>

#include "base/environment.h"
#include "host/files.h"
#include "perf/rules.h"

namespace gdr::cli {
namespace {

using perf::Measure;
using perf::Operation;
using perf::Place;

// One of `all` by its name; `option` is told in the error.
template <typename Value, std::size_t N>
Value one_of(const char* option, std::string_view text,
             const std::pair<const char*, Value> (&all)[N]) {
  std::string allowed;
  for (const auto& [name, value] : all) {
    if (text == name) return value;
    allowed += (allowed.empty() ? "" : ", ") + std::string(name);
  }
  throw CLI::ValidationError(fmt::format("unknown {} '{}'; allowed: {}", option, text, allowed));
}

constexpr std::pair<const char*, Operation> kOperations[] = {
    {"write", Operation::kWrite},
    {"write-imm", Operation::kWriteWithImmediate},
    {"read", Operation::kRead},
    {"send", Operation::kSend},
    {"fetch-add", Operation::kFetchAndAdd},
    {"compare-swap", Operation::kCompareAndSwap}};
constexpr std::pair<const char*, Measure> kMeasures[] = {
    {"bandwidth", Measure::kBandwidth}, {"latency", Measure::kLatency}, {"rate", Measure::kRate}};
constexpr std::pair<const char*, Place::Kind> kPlaces[] = {{"host", Place::Kind::kHost},
                                                           {"gpu", Place::Kind::kGpu},
                                                           {"gpu-vmm", Place::Kind::kGpuVmm},
                                                           {"staged", Place::Kind::kStaged},
                                                           {"pinned", Place::Kind::kPinned}};

template <typename Value>
bool read_number(std::string_view text, Value& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::uint64_t read_size(std::string_view text) {
  std::uint64_t value = 0, unit = 1;
  std::string_view digits = text;
  switch (digits.empty() ? ' ' : digits.back()) {
    case 'K':
    case 'k':
      unit = 1 << 10;
      break;
    case 'M':
      unit = 1 << 20;
      break;
    case 'G':
      unit = 1 << 30;
      break;
    default:
      break;
  }
  if (unit != 1) digits.remove_suffix(1);
  if (!read_number(digits, value) || value == 0 || value > perf::kLargestSize / unit) {
    throw CLI::ValidationError(
        fmt::format("wrong size '{}'; as in 64,4K,1M or 64-1M, up to 1G", text));
  }
  return value * unit;
}

}  // namespace

std::vector<std::string> read_names(const std::string& text) {
  std::vector<std::string> names;
  if (text.empty()) return names;
  for (std::string_view one : split(text, ',')) names.emplace_back(one);
  return names;
}

std::vector<Operation> read_operations(const std::string& text) {
  std::vector<Operation> all;
  for (std::string_view one : split(text, ',')) {
    all.push_back(one_of("--operation", one, kOperations));
  }
  return all;
}

perf::Transport read_transport(const std::string& text) {
  constexpr std::pair<const char*, perf::Transport> kTransports[] = {
      {"rc", perf::Transport::kRc},
      {"uc", perf::Transport::kUc},
      {"ud", perf::Transport::kUd},
      {"xrc", perf::Transport::kXrc}};
  // Documents have them in capitals.
  std::string small = text;
  for (char& letter : small) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return one_of("--transport", small, kTransports);
}

std::vector<Measure> read_measures(const std::string& text) {
  std::vector<Measure> all;
  for (std::string_view one : split(text, ',')) all.push_back(one_of("--measure", one, kMeasures));
  return all;
}

std::vector<Place> read_places(const char* option, const std::string& text) {
  std::vector<Place> all;
  for (std::string_view one : split(text, ',')) {
    const auto colon = one.find(':');
    Place place{one_of(option, one.substr(0, colon), kPlaces), perf::kChosenGpu};
    if (!place.names_gpu()) place.gpu = 0;
    if (colon != std::string_view::npos &&
        (!place.names_gpu() || !read_number(one.substr(colon + 1), place.gpu) || place.gpu < 0)) {
      throw CLI::ValidationError(
          fmt::format("wrong {} '{}'; as in host, gpu, gpu:1, gpu-vmm:0 or staged:0", option, one));
    }
    all.push_back(place);
  }
  return all;
}

perf::Way read_way(const std::string& text) {
  constexpr std::pair<const char*, perf::Way> kWays[] = {{"dma-buf", perf::Way::kDmaBuf},
                                                         {"peer-memory", perf::Way::kPeerMemory}};
  return one_of("--registration", text, kWays);
}

std::vector<std::uint64_t> read_sizes(const std::string& text) {
  std::vector<std::uint64_t> sizes;
  for (std::string_view one : split(text, ',')) {
    const auto dash = one.find('-');
    if (dash == std::string_view::npos) {
      sizes.push_back(read_size(one));
      continue;
    }
    const std::uint64_t first = read_size(one.substr(0, dash)),
                        last = read_size(one.substr(dash + 1));
    if (first > last) {
      throw CLI::ValidationError(
          fmt::format("wrong sizes '{}': the smaller one comes first, as in 64-1M", one));
    }
    for (std::uint64_t size = first; size <= last; size *= 2) {
      sizes.push_back(size);
    }
  }
  return sizes;
}

std::uint64_t read_nanoseconds(const char* option, const std::string& text) {
  std::string_view digits = text;
  double unit = 1e9;
  for (const auto& [name, value] : {std::pair<std::string_view, double>{"us", 1e3},
                                    {"ms", 1e6},
                                    {"s", 1e9},
                                    {"m", 60e9},
                                    {"h", 3600e9}}) {
    if (digits.size() <= name.size() || !digits.ends_with(name)) continue;
    unit = value;
    digits.remove_suffix(name.size());
    break;
  }
  double value = 0;
  if (!read_number(digits, value) || !std::isfinite(value) || value < 0 || value * unit > 86400e9) {
    throw CLI::ValidationError(
        fmt::format("wrong {} '{}'; as in 0.2, 200ms, 2s, 1m, 1h, up to a day", option, text));
  }
  return static_cast<std::uint64_t>(value * unit);
}

std::vector<int> read_processors(const char* option, const std::string& text) {
  constexpr int kMost = 1023;  // of a cpu_set_t
  std::vector<int> all;
  for (std::string_view one : split(text, ',')) {
    const auto dash = one.find('-');
    int first = 0, last = 0;
    const bool right = read_number(one.substr(0, dash), first) &&
                       (dash == std::string_view::npos ? (last = first, true)
                                                       : read_number(one.substr(dash + 1), last));
    if (!right || first < 0 || last < first || last > kMost) {
      throw CLI::ValidationError(fmt::format("wrong {} '{}'; as in 0-3,8", option, text));
    }
    for (int processor = first; processor <= last; ++processor) all.push_back(processor);
  }
  return all;
}

std::vector<int> processors_of_node(const std::string& root, std::uint32_t node) {
  const std::string folder = fmt::format("sys/devices/system/node/node{}", node);
  const std::string list = host::Files(root).line(folder + "/cpulist");
  if (list.empty()) {
    throw CLI::ValidationError(fmt::format(
        "--numa {}: no such node with processors; ls /sys/devices/system/node shows them", node));
  }
  return read_processors("--numa", list);
}

}  // namespace gdr::cli
