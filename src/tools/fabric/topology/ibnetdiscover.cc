#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <set>

#include "base/printable.h"
#include "fabric/topology/leaves.h"

namespace gdr::fabric {
namespace {

// A switch as its line tells: Switch 41 "S-7cfe900300a5e020" # "MF0;leaf1:MQM8700/U1" enhanced ...
struct IbSwitch {
  std::string id, description;
};
// A host's port behind a switch: [1] "H-0c42a10300b3cb7c"[1](...) # "n07 mlx5_0" lid 12 4xHDR
struct IbPort {
  std::size_t of_switch = 0;
  std::string host, nic;
};

// What is between the first two quotes; `text` is moved behind them. Empty: there are none.
std::string_view take_quoted(std::string_view* text) {
  const std::size_t begin = text->find('"');
  if (begin == std::string_view::npos) return {};
  const std::size_t end = text->find('"', begin + 1);
  if (end == std::string_view::npos) return {};
  const std::string_view quoted = text->substr(begin + 1, end - begin - 1);
  text->remove_prefix(end + 1);
  return quoted;
}

// Managed switches describe themselves as "MF0;leaf1:MQM8700/U1", of which "leaf1" is the name.
std::string short_name(const IbSwitch& about) {
  const std::string_view text = about.description;
  const std::size_t semicolon = text.find(';');
  if (!text.starts_with("MF0") || semicolon == std::string_view::npos) return about.description;
  const std::string_view name = text.substr(semicolon + 1);
  return std::string(name.substr(0, name.find(':')));
}

class Parser {
 public:
  Result<void> read(std::string_view text) {
    for (std::size_t number = 1; !text.empty(); ++number) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      const std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.starts_with("Switch")) {
        std::string_view rest = line;
        const std::string_view id = take_quoted(&rest);
        if (id.empty()) {
          return Error{EINVAL, fmt::format("ibnetdiscover line {}: a switch without a name in "
                                           "quotes; give the whole output of ibnetdiscover",
                                           number)};
        }
        switches_.push_back({std::string(id), std::string(take_quoted(&rest))});
        in_switch_ = true;
      } else if (line.starts_with('[')) {
        if (in_switch_) read_port(line);
      } else if (line.starts_with("Ca") || line.starts_with("Rt")) {
        // What hangs at a host is told a second time from the host's side.
        in_switch_ = false;
      }
    }
    return {};
  }

  std::size_t switches() const { return switches_.size(); }

  Leaves leaves() const {
    const std::vector<std::string> names = leaf_names();
    Leaves leaves;
    for (const IbPort& port : ports_) {
      leaves[port.host].of_nics.emplace(port.nic, names[port.of_switch]);
    }
    for (auto& [name, host] : leaves) {
      const std::string& first = host.of_nics.begin()->second;
      const bool same =
          std::ranges::all_of(host.of_nics, [&](const auto& nic) { return nic.second == first; });
      if (same) host.leaf = first;
    }
    return leaves;
  }

 private:
  void read_port(std::string_view line) {
    std::string_view rest = line;
    const std::string_view peer = take_quoted(&rest);
    if (!peer.starts_with("H-")) return;
    std::uint32_t port = 1;
    if (rest.starts_with('[')) std::from_chars(rest.data() + 1, rest.data() + rest.size(), port);
    std::string_view description = take_quoted(&rest);
    // Switches compute sums with an adapter of their own (SHARP), also spines.
    if (description.empty() || description.find("Aggregation Node") != std::string_view::npos) {
      return;
    }
    const std::size_t space = description.find(' ');
    std::string nic(space == std::string_view::npos ? std::string_view()
                                                    : description.substr(space + 1));
    if (port > 1) nic += fmt::format(":{}", port);
    ports_.push_back(
        {switches_.size() - 1, std::string(description.substr(0, space)), std::move(nic)});
  }

  // Short names as long as they are different: switches of one chassis share theirs.
  std::vector<std::string> leaf_names() const {
    std::set<std::size_t> leaves;
    for (const IbPort& port : ports_) leaves.insert(port.of_switch);
    std::map<std::string, std::size_t> by_short, by_long;
    for (const std::size_t leaf : leaves) {
      ++by_short[short_name(switches_[leaf])];
      ++by_long[switches_[leaf].description];
    }
    std::vector<std::string> names(switches_.size());
    for (const std::size_t leaf : leaves) {
      const IbSwitch& about = switches_[leaf];
      const std::string name = short_name(about);
      const bool is_short = !name.empty() && by_short[name] == 1;
      const bool is_long = !about.description.empty() && by_long[about.description] == 1;
      names[leaf] = printable(is_short ? name : is_long ? about.description : about.id);
    }
    return names;
  }

  std::vector<IbSwitch> switches_;
  std::vector<IbPort> ports_;
  bool in_switch_ = false;
};

}  // namespace

Result<Leaves> read_ibnetdiscover(std::string_view text) {
  if (text.size() > kLargestTopology) return Error{EFBIG, "ibnetdiscover: more than 64 MiB"};
  Parser parser;
  if (Result<void> read = parser.read(text); !read) return read.error();
  if (parser.switches() == 0) {
    return Error{ENOENT, "ibnetdiscover: no switch in it, so no leaves"};
  }
  return parser.leaves();
}

}  // namespace gdr::fabric
