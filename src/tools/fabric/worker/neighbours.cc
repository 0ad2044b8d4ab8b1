#include "fabric/worker/neighbours.h"

#include <algorithm>

#include "base/clock.h"
#include "process/start.h"

namespace gdr::fabric::worker {
namespace {

constexpr Nanoseconds kPatience = 2 * kSecond;
constexpr std::size_t kMost = 1 << 20;

}  // namespace

std::map<std::string, Neighbour> parse_neighbours(std::string_view text) {
  constexpr std::string_view kStart = "lldp.";
  std::map<std::string, Neighbour> neighbours;
  const auto take = [](std::string_view key, std::string_view end, std::string_view value,
                       std::map<std::string, Neighbour>& into, std::string Neighbour::*member) {
    if (!key.ends_with(end)) return;
    // The first neighbour of an interface is the one that it is connected to; names of interfaces
    // may have dots.
    std::string& field = into[std::string(key.substr(0, key.size() - end.size()))].*member;
    if (field.empty()) field = value;
  };
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
    const auto equals = line.find('=');
    if (!line.starts_with(kStart) || equals == std::string_view::npos) continue;
    const std::string_view key = line.substr(kStart.size(), equals - kStart.size());
    const std::string_view value = line.substr(equals + 1);
    take(key, ".chassis.name", value, neighbours, &Neighbour::leaf);
    // Switches give a port's name as one of these.
    take(key, ".port.ifname", value, neighbours, &Neighbour::port);
    take(key, ".port.local", value, neighbours, &Neighbour::port);
  }
  std::erase_if(neighbours, [](const auto& entry) { return entry.second.leaf.empty(); });
  return neighbours;
}

std::map<std::string, Neighbour> ask_neighbours() {
  process::Start start;
  start.command = {"lldpctl", "-f", "keyvalue"};
  const Result<process::ChildEnd> end =
      process::run(std::move(start), process::Output::kStandardOutput, kPatience, kMost);
  if (!end || end->timed_out || end->status != 0) return {};
  return parse_neighbours(end->output);
}

}  // namespace gdr::fabric::worker
