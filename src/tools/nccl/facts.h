// The messages, other than connections, that say why GPUDirect RDMA is or is not used. NCCL worded
// some of them differently from version to version; facts.cc has the table.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "nccl/message.h"

namespace gdr::nccl {

// The log's own words, and where the first of them stands.
struct Evidence {
  std::uint64_t line = 0;
  std::string text;
  std::uint64_t times = 0;
};

enum class Fact {
  kNoIbDevice,
  kNoLibrary,
  kNoIpInterface,
  kIbFound,
  kIbFailed,
  kNetworkMissing,
  kPluginMissing,
  kDmaBuf,
  kModifyQp,
  kCompletion,
  kGidUnreadable,
  kGidChanged,
  kRegistration,
  kNoTransport,
  kNoPathToNic,
  kInitDone,
  kConnected,
  kCount
};
constexpr std::size_t kFactCount = static_cast<std::size_t>(Fact::kCount);

// A variable of the environment, as NCCL understood it.
struct Setting {
  std::string value;
  Evidence evidence;
};

// "NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0' (no module)": whether the NIC and the
// kernel under it can do it at all.
struct DeviceGdr {
  std::string host;
  std::string plugin;  // "IB"
  std::string name;    // "mlx5_0"
  bool enabled = false;
  Evidence evidence;
};

// "GPU Direct RDMA Disabled for GPU 7 / HCA 0 (distance 6 > 4)": whether a GPU is near enough.
struct Distance {
  std::string host;
  std::string gpu;  // as the log calls it: a rank, a bus address or a node of the topology
  bool enabled = false;
  std::int64_t distance = 0;
  std::int64_t limit = 0;

  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a null pointer in the generated code
  auto operator<=>(const Distance&) const = default;
};

std::optional<Fact> find_fact(std::string_view text);
std::optional<std::pair<std::string, std::string>> read_setting(std::string_view text);
std::optional<DeviceGdr> read_device(std::string_view text);
std::optional<Distance> read_distance(std::string_view text);

// The part of a message that is worth repeating.
std::string quoted_line(std::string_view text);

}  // namespace gdr::nccl
