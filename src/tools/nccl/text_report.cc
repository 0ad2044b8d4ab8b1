#include "nccl/text_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

namespace gdr::nccl {
namespace {

constexpr std::size_t kMostGroups = 24;

// Connections that differ in nothing but their channel.
struct Group {
  const Connection* example = nullptr;
  std::set<std::pair<std::int64_t, std::int64_t>> channels;  // by index
};

bool is_plain(const Connection& connection) { return is_network(connection) && !connection.gdrdma; }

std::vector<Group> group(const Log& log) {
  using Key = std::tuple<bool, bool, std::int64_t, std::int64_t, Direction, std::string>;
  std::map<Key, Group> groups;  // what is wrong comes first, what needs no network last
  for (const auto& [connection, times] : log.connections) {
    const Key key{!is_plain(connection), !is_network(connection), connection.from,
                  connection.to,         connection.direction,    name_of(connection)};
    Group& found = groups[key];
    found.example = &connection;
    found.channels.emplace(connection.index, connection.channel);
  }
  std::vector<Group> sorted;
  for (auto& [key, found] : groups) sorted.push_back(std::move(found));
  return sorted;
}

// "00-07, 00-01/1": runs of channels, with the index behind them where it is not 0.
std::string ranges(const std::set<std::pair<std::int64_t, std::int64_t>>& channels) {
  std::string text;
  for (auto at = channels.begin(); at != channels.end();) {
    const auto [index, first] = *at;
    std::int64_t last = first;
    for (++at; at != channels.end() && at->first == index && at->second == last + 1; ++at) ++last;
    if (!text.empty()) text += ", ";
    text += fmt::format("{:02}", first);
    if (last > first) text += fmt::format("-{:02}", last);
    if (index != 0) text += fmt::format("/{}", index);
  }
  return text;
}

std::string line_of(const Group& found, std::size_t widest) {
  constexpr const char* kDirections[] = {"send", "receive", ""};
  const Connection& connection = *found.example;
  const std::string peer = connection.to < 0 ? "all" : fmt::format("{}", connection.to);
  return fmt::format("  {:>3} → {:<3}  {:<7}  {:<{}}  channel{} {}\n", connection.from, peer,
                     kDirections[static_cast<int>(connection.direction)], name_of(connection),
                     widest, found.channels.size() == 1 ? "" : "s", ranges(found.channels));
}

std::string connections_text(const Report& report, bool all) {
  const std::vector<Group> groups = group(report.log);
  if (groups.empty()) return {};
  const std::size_t shown = all ? groups.size() : std::min(groups.size(), kMostGroups);
  std::size_t widest = 0;
  for (std::size_t i = 0; i < shown; ++i) {
    widest = std::max(widest, name_of(*groups[i].example).size());
  }
  std::string text = "Connections\n";
  for (std::size_t i = 0; i < shown; ++i) text += line_of(groups[i], widest);
  if (shown < groups.size()) {
    text += fmt::format("  … {} more; --all shows them\n", groups.size() - shown);
  }
  if (report.log.connections_left_out > 0) {
    text += fmt::format("  … {} more connections, which gdr does not keep\n",
                        report.log.connections_left_out);
  }
  return text + "\n";
}

std::string plural(std::uint64_t count, std::string_view one, std::string_view more = "") {
  if (count != 1 && more.empty()) return fmt::format("{} {}s", count, one);
  return fmt::format("{} {}", count, count == 1 ? one : more);
}

std::string head(const Log& log) {
  std::string text = log.version.known() ? "NCCL " + log.version.text : "NCCL, unknown version";
  if (log.ranks > 0) text += "  " + plural(static_cast<std::uint64_t>(log.ranks), "rank");
  if (!log.processes.empty()) {
    text += fmt::format("  log of {} on {}", plural(log.processes.size(), "process", "processes"),
                        plural(log.hosts.size(), "host"));
  }
  for (const std::string& network : log.networks) text += "  network " + network;
  return text + "\n\n";
}

std::string verdict_text(const Report& report) {
  const Counts& counts = report.counts;
  std::string text = name_of(report.verdict);
  if (counts.network > 0) {
    text +=
        fmt::format("  on {} of {}", counts.gdrdma, plural(counts.network, "network connection"));
  }
  if (counts.uncertain > 0) text += fmt::format(", {} cut off", counts.uncertain);
  for (const auto& [count, what] :
       {std::pair(counts.p2p, "P2P"), std::pair(counts.shared_memory, "SHM"),
        std::pair(counts.other, "others")}) {
    if (count > 0) text += fmt::format("  {} {}", count, what);
  }
  if (report.expectation != Expectation::kGdrdma) {
    text += fmt::format("  {} (--expect {})", report.met ? "as expected" : "not as expected",
                        name_of(report.expectation));
  }
  return text + "\n";
}

std::string cause_text(const Cause& cause, const char* head) {
  std::string text = fmt::format("  {:<8}  {}\n", head, cause.what);
  if (cause.evidence) {
    text += fmt::format("  {:<8}  {}", fmt::format("line {}", cause.evidence->line),
                        cause.evidence->text);
    if (cause.evidence->times > 1) text += fmt::format("  ({} times)", cause.evidence->times);
    text += "\n";
  }
  if (!cause.next.empty()) text += fmt::format("  {:<8}  {}\n", "next", cause.next.text());
  if (!cause.note.empty()) text += fmt::format("  {:<8}  {}\n", "", cause.note);
  return text;
}

}  // namespace

const char* name_of(Verdict verdict) {
  constexpr const char* kNames[] = {"GDRDMA", "GDRDMA IN PART", "NO GDRDMA", "NO NETWORK",
                                    "NO CONNECTIONS"};
  return kNames[static_cast<std::size_t>(verdict)];
}

const char* name_of(Expectation expectation) {
  constexpr const char* kNames[] = {"gdrdma", "local", "any"};
  return kNames[static_cast<std::size_t>(expectation)];
}

std::string to_text(const Report& report, bool all) {
  std::string text = head(report.log) + connections_text(report, all) + verdict_text(report);
  for (const Cause& cause : report.causes) text += cause_text(cause, "why");
  for (const Cause& cause : report.also) text += cause_text(cause, "also");
  return text;
}

}  // namespace gdr::nccl
