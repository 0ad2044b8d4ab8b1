// What a log says, in numbers and in its own words: every connection, and whatever may explain why
// one has no GPUDirect RDMA. Nothing is judged here.
//
//   LogReader reader;
//   while (more) reader.feed(bytes);
//   const Log log = reader.finish();
//
// Memory is bounded whatever the log holds: each list has an end, and what did not fit is counted.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "nccl/connection.h"
#include "nccl/facts.h"
#include "nccl/lines.h"
#include "nccl/message.h"

namespace gdr::nccl {

// NCCL logs these of each process, so what counts is the kinds, not the processes.
constexpr std::size_t kMostConnections = 131072;
constexpr std::size_t kMostNames = 4096;

struct Version {
  int major = 0;
  int minor = 0;
  int patch = 0;
  std::string text;  // "2.28.9+cuda12.9"; empty where the log does not say

  bool known() const { return !text.empty(); }
  bool before(int of_minor) const { return known() && major == 2 && minor < of_minor; }
};

// By host and number; found without making strings.
struct ProcessLess {
  using is_transparent = void;
  template <typename A, typename B>
  bool operator()(const A& a, const B& b) const {
    const int hosts = std::string_view(a.first).compare(b.first);
    return hosts != 0 ? hosts < 0 : a.second < b.second;
  }
};

struct Log {
  std::uint64_t lines = 0;
  std::uint64_t messages = 0;  // NCCL's
  std::uint64_t infos = 0;
  std::uint64_t warnings = 0;
  Version version;
  std::set<std::string> hosts;
  std::set<std::pair<std::string, std::int64_t>, ProcessLess> processes;
  std::int64_t ranks = 0;  // of the largest communicator; 0 where the log does not say
  std::int64_t nodes = 0;
  std::set<std::string> networks;  // "IB", "Socket" or a plugin's name, as chosen
  std::map<std::string, Setting> settings;
  std::map<std::string, DeviceGdr> devices;  // by host, plugin, name and whether enabled
  std::map<Distance, Evidence> distances;
  std::array<std::optional<Evidence>, kFactCount> facts;
  std::optional<Evidence> first_warning;
  std::map<Connection, std::uint64_t> connections;  // how often each was logged
  std::uint64_t connections_left_out = 0;
  std::uint64_t plain_left_out = 0;  // of these: over a network, without GDRDMA

  const std::optional<Evidence>& fact(Fact which) const {
    return facts[static_cast<std::size_t>(which)];
  }
  // What the environment sets `name` to; nullptr where the log does not say.
  const Setting* setting(const std::string& name) const;
};

class LogReader {
 public:
  LogReader();
  LogReader(const LogReader&) = delete;  // its Lines call back into it
  LogReader& operator=(const LogReader&) = delete;

  void feed(std::string_view bytes) { lines_.feed(bytes); }
  // A further file of the same run: the end of the last one is the end of its last line.
  void next_file() { lines_.finish(); }
  Log finish();

 private:
  void take(const Message& message);
  // What it says about NICs and distances; false where it is about something else.
  bool take_gdr(const Message& message);

  Log log_;
  Lines lines_;
};

}  // namespace gdr::nccl
