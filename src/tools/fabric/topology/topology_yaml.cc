// Only the part of YAML that Slurm's own pages write: block style, a `key: value` a line, list
// items with "- ". What is written otherwise is not understood, and then simply has no switches.
#include <fmt/format.h>

#include <algorithm>

#include "base/environment.h"
#include "base/printable.h"
#include "fabric/host_list.h"
#include "fabric/topology/leaves.h"

namespace gdr::fabric {
namespace {

std::string_view unquoted(std::string_view text) {
  const bool quoted = text.size() >= 2 && (text.front() == '"' || text.front() == '\'') &&
                      text.back() == text.front();
  return quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

Result<Leaves> read_topology_yaml(std::string_view text) {
  if (text.size() > kLargestTopology) return Error{EFBIG, "topology.yaml: more than 64 MiB"};
  Leaves leaves;
  bool any = false;
  std::string name;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    line = trimmed(line.substr(0, line.find(" #")));
    if (line.starts_with('#')) continue;
    if (line.starts_with("- ")) line = trimmed(line.substr(2));
    const std::size_t colon = line.find(':');
    if (colon == std::string_view::npos) continue;
    const std::string_view key = trimmed(line.substr(0, colon));
    const std::string_view value = unquoted(trimmed(line.substr(colon + 1)));
    if (key == "switch") {
      any = true;
      name = value;
    } else if (key == "block" || key == "topology") {
      name.clear();
    } else if (key == "nodes" && !name.empty()) {
      Result<std::vector<std::string>> hosts = expand_host_list(value);
      if (!hosts) {
        return Error{EINVAL,
                     fmt::format("topology.yaml line {}: {}", number, hosts.error().message)};
      }
      for (std::string& host : *hosts) leaves[std::move(host)].leaf = name;
    }
  }
  if (!any) return Error{ENOENT, "topology.yaml: no \"switch:\" in it, so no leaves"};
  return leaves;
}

}  // namespace gdr::fabric
