#include "nccl/facts.h"

#include <algorithm>
#include <array>
#include <iterator>

#include "nccl/text.h"

namespace gdr::nccl {
namespace {

struct Pattern {
  Fact fact;
  std::string_view words;      // that the message holds
  std::string_view also = "";  // and these behind them
};

constexpr Pattern kPatterns[] = {
    {Fact::kNoIbDevice, "NET/IB : No device found"},
    {Fact::kNoLibrary, "Failed to open libibverbs.so"},
    // 2.30 says so of each name that it tries, of which this is the last.
    {Fact::kNoLibrary, "Count not open libibverbs.so.1"},
    {Fact::kNoLibrary, "dlvsym failed on ibv_"},
    {Fact::kNoIpInterface, "NET/IB : No IP interface found"},
    {Fact::kIbFound, "NET/IB : Using"},
    {Fact::kIbFailed, "Failed to initialize NET plugin IB"},
    {Fact::kNetworkMissing, "Error: network ", "not found"},
    {Fact::kNetworkMissing, "Failed to initialize any NET plugin"},
    {Fact::kPluginMissing, "NET/Plugin: Could not find:"},
    {Fact::kPluginMissing, "NET/Plugin", "No plugin found"},
    {Fact::kDmaBuf, "DMA-BUF is available on GPU device"},
    {Fact::kModifyQp, "Call to ibv_modify_qp failed"},
    {Fact::kCompletion, "NET/IB", "Got completion"},
    {Fact::kGidUnreadable, "failed in ncclIbRoceGetVersionNum"},
    {Fact::kGidChanged, "GID table changed"},
    {Fact::kRegistration, "Call to ibv_reg_", " failed with error"},
    {Fact::kNoTransport, "No transport found for rank"},
    {Fact::kNoPathToNic, "Could not find any local path from gpu", " to net"},
    {Fact::kInitDone, "Init COMPLETE"},
    {Fact::kConnected, "Connected all rings"},
};

// By byte: whether a pattern's words begin with it.
constexpr std::array<bool, 256> kBegins = [] {
  std::array<bool, 256> begins{};
  for (const Pattern& pattern : kPatterns) {
    begins[static_cast<unsigned char>(pattern.words.front())] = true;
  }
  return begins;
}();

}  // namespace

// The first pattern of the table that fits, in one pass over the text. What does not stand behind
// the first place of a pattern's words stands behind no later one, so that a line that repeats them
// takes no more time than another.
std::optional<Fact> find_fact(std::string_view text) {
  std::size_t first = std::size(kPatterns);
  std::array<bool, std::size(kPatterns)> met{};
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (!kBegins[static_cast<unsigned char>(text[at])]) continue;
    const std::string_view rest = text.substr(at);
    for (std::size_t i = 0; i < first; ++i) {
      const Pattern& pattern = kPatterns[i];
      if (met[i] || rest.front() != pattern.words.front()) continue;
      met[i] = rest.starts_with(pattern.words);
      if (met[i] && rest.find(pattern.also) != std::string_view::npos) first = i;
    }
  }
  if (first == std::size(kPatterns)) return std::nullopt;
  return kPatterns[first].fact;
}

// "NCCL_IB_DISABLE set by environment to 1.", "NCCL_IB_HCA set to mlx5", and in 2.6 "set from
// environment to".
std::optional<std::pair<std::string, std::string>> read_setting(std::string_view text) {
  constexpr std::size_t kLongestValue = 256;
  if (!text.starts_with("NCCL_")) return std::nullopt;
  Words words(text);
  const std::string_view name = words.until(" ");
  const bool is_name = name.size() < 64 && std::all_of(name.begin(), name.end(), [](char c) {
                         return (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
                       });
  if (!is_name || !words.skip(" set ")) return std::nullopt;
  if (!words.skip("by environment to ") && !words.skip("from environment to ") &&
      !words.skip("to ")) {
    return std::nullopt;
  }
  std::string_view value = words.rest().substr(0, kLongestValue);
  if (value.ends_with('.')) value.remove_suffix(1);  // a number is followed by one
  return std::pair(std::string(name), std::string(value));
}

std::optional<DeviceGdr> read_device(std::string_view text) {
  Words words(text);
  if (!words.skip("NET/")) return std::nullopt;
  DeviceGdr device;
  device.plugin = words.until(":").substr(0, 64);
  while (device.plugin.ends_with(' ')) device.plugin.pop_back();
  if (!words.skip_to("GPU Direct RDMA ")) return std::nullopt;
  device.enabled = words.skip("Enabled");
  if (!device.enabled && !words.skip("Disabled")) return std::nullopt;
  // The name in quotes tells this message from the one about distances.
  if (!words.skip_to("HCA ") || !words.skip_to("'")) return std::nullopt;
  device.name = words.until("'").substr(0, 64);
  return device;
}

std::optional<Distance> read_distance(std::string_view text) {
  Words words(text);
  if (!words.skip_to("GPU Direct RDMA ")) return std::nullopt;
  Distance found;
  found.enabled = words.skip("Enabled");
  if (!found.enabled && !words.skip("Disabled")) return std::nullopt;
  // "GPU ca000 / HCA 0 (", since 2.29 "GPU/0-ca000 (rank 0) - NET/0-0 (".
  if (!words.skip(" for GPU")) return std::nullopt;
  if (!words.skip(" ")) words.skip("/");
  found.gpu = words.until(" ").substr(0, 64);
  if (!words.skip_to("distance ")) return std::nullopt;
  const auto distance = words.number();
  words.until("0123456789");  // "> ", "<= ", and until 2.5 ">= " and "< "
  const auto limit = words.number();
  if (!distance || !limit) return std::nullopt;
  found.distance = *distance;
  found.limit = *limit;
  return found;
}

std::string quoted_line(std::string_view text) {
  constexpr std::size_t kLongest = 240;
  return text.size() <= kLongest ? std::string(text) : std::string(text.substr(0, kLongest)) + "…";
}

}  // namespace gdr::nccl
