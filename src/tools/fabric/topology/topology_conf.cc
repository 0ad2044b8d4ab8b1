#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "base/printable.h"
#include "fabric/host_list.h"
#include "fabric/topology/leaves.h"

namespace gdr::fabric {
namespace {

constexpr std::size_t kMostLeafHosts = 1U << 20;  // names of all leaves together

Error bad_line(std::size_t number, const std::string& why) {
  return Error{EINVAL, fmt::format("topology.conf line {}: {}", number, why)};
}

bool same_word(std::string_view one, std::string_view other) {
  return std::ranges::equal(one, other, [](char left, char right) {
    return std::tolower(static_cast<unsigned char>(left)) ==
           std::tolower(static_cast<unsigned char>(right));
  });
}

// A line without comment and blanks around it. A backslash before the # makes it part of the text.
std::string_view without_comment(std::string_view line) {
  for (std::size_t place = 0; place < line.size(); ++place) {
    if (line[place] == '#' && (place == 0 || line[place - 1] != '\\')) line = line.substr(0, place);
  }
  const std::size_t last = line.find_last_not_of(" \t\r");
  return last == std::string_view::npos ? std::string_view() : line.substr(0, last + 1);
}

struct Logical {
  std::string text;
  std::size_t number = 0;  // where it begins
};

// Lines that end with a backslash go on in the next one.
std::vector<Logical> logical_lines(std::string_view text) {
  std::vector<Logical> lines;
  bool goes_on = false;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = without_comment(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    const bool more = !line.empty() && line.back() == '\\';
    if (more) line.remove_suffix(1);
    if (!goes_on) lines.push_back({"", number});
    lines.back().text += line;
    goes_on = more;
  }
  return lines;
}

struct Switch {
  std::string name, nodes, switches;
  bool is_switch = false;
};

// "SwitchName=s0 Nodes=n[01-04] LinkSpeed=100", with values that may be in quotes.
Result<Switch> read_switch(const Logical& line) {
  Switch found;
  std::string_view rest = line.text;
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    if (rest.empty()) return found;
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos) {
      return bad_line(line.number,
                      fmt::format("\"{}\" is no KEY=VALUE", printable(rest.substr(0, 40))));
    }
    const std::string_view key = rest.substr(0, equals);
    rest.remove_prefix(equals + 1);
    std::size_t end = 0;
    std::string_view value;
    if (!rest.empty() && rest.front() == '"') {
      end = rest.find('"', 1);
      if (end == std::string_view::npos) return bad_line(line.number, "a quote is not closed");
      value = rest.substr(1, end - 1);
      ++end;
    } else {
      end = std::min(rest.find_first_of(" \t"), rest.size());
      value = rest.substr(0, end);
    }
    rest.remove_prefix(end);
    if (same_word(key, "SwitchName")) {
      found.name = value;
      found.is_switch = true;
    }
    if (same_word(key, "Nodes")) found.nodes = value;
    if (same_word(key, "Switches")) found.switches = value;
  }
}

}  // namespace

Result<Leaves> read_topology_conf(std::string_view text) {
  if (text.size() > kLargestTopology) return Error{EFBIG, "topology.conf: more than 64 MiB"};
  Leaves leaves;
  bool any = false;
  std::size_t listed = 0;
  for (const Logical& line : logical_lines(text)) {
    Result<Switch> found = read_switch(line);
    if (!found) return found.error();
    // Blocks and other kinds of topology have no leaves.
    if (!found->is_switch) continue;
    any = true;
    if (found->name.empty()) return bad_line(line.number, "SwitchName is empty");
    if (!found->nodes.empty() && !found->switches.empty()) {
      return bad_line(line.number,
                      fmt::format("{} has both Nodes and Switches", printable(found->name)));
    }
    if (same_word(found->nodes, "ALL")) continue;
    Result<std::vector<std::string>> hosts = expand_host_list(found->nodes);
    if (!hosts) return bad_line(line.number, hosts.error().message);
    listed += hosts->size();
    if (listed > kMostLeafHosts) return bad_line(line.number, "too many hosts up to here");
    for (std::string& host : *hosts) leaves[std::move(host)].leaf = found->name;
  }
  if (!any) return Error{ENOENT, "topology.conf: no SwitchName= in it, so no leaves"};
  return leaves;
}

}  // namespace gdr::fabric
