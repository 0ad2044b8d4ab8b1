#include "host/source/lspci_tree.h"

#include <algorithm>
#include <optional>

#include "host/classify.h"
#include "host/pci/names.h"
#include "host/source/draft.h"
#include "host/source/lspci_function.h"

namespace gdr::host {
namespace {

constexpr std::size_t kLongestLine = 4096;

// "0000:40"
bool is_bus(const std::string& text) { return !full_address(text + ":00.0").empty(); }

class Reader {
 public:
  Result<LspciTree> read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      if (line.ends_with('\r')) line.remove_suffix(1);
      ++number_;
      if (line.empty()) continue;
      if (const Result<void> done = read_line(line); !done) return done.error();
    }
    if (tree_.functions.empty()) return Error{EINVAL, "the tree of lspci has no PCI functions"};
    return std::move(tree_);
  }

 private:
  Error error(const std::string& what) const {
    return {EINVAL, "line " + std::to_string(number_) + ": " + what};
  }

  // A line goes on where a column of one before it branches off.
  Result<void> read_line(std::string_view line) {
    std::size_t at = line.find_first_not_of(" |");
    if (at == std::string_view::npos) return {};
    if (line.size() > kLongestLine) return error("the tree of lspci is deeper than a machine's");
    bus_.clear();
    if (line[at] == '+' || line[at] == '\\') {
      const auto column = columns_.find(at);
      if (column == columns_.end()) return error("a branch of the tree of lspci hangs on nothing");
      bus_ = column->second;
      columns_.erase(std::next(column), columns_.end());
      ++at;
    } else if (line[at] != '-') {
      return error("not a line of lspci -tv");
    } else {
      columns_.clear();
    }
    while (at < line.size()) {
      if (line[at] == '-') {
        ++at;
      } else if (line[at] == '+') {
        columns_[at++] = bus_;
      } else if (line[at] == '[') {
        if (!take_root_bus(line, at)) return error("no bus where the tree of lspci has one");
      } else if (Result<void> done = take_function(line, at); !done) {
        return done;
      }
    }
    return {};
  }

  // "[0000:40]"
  bool take_root_bus(std::string_view line, std::size_t& at) {
    const std::size_t end = line.find(']', at);
    if (!bus_.empty() || end == std::string_view::npos) return false;
    const std::string_view bus = line.substr(at + 1, end - at - 1);
    // With only one domain, older versions omit it.
    bus_ = bus.size() == 2 ? "0000:" + std::string(bus) : std::string(bus);
    at = end + 1;
    return is_bus(bus_);
  }

  // "01.1-[61-73]" or "00.0  NVIDIA Corporation ...": a bridge is followed by its bus, everything
  // else by what it is.
  Result<void> take_function(std::string_view line, std::size_t& at) {
    const std::string address =
        bus_.empty() ? std::string() : full_address(bus_ + ":" + std::string(line.substr(at, 4)));
    if (address.empty()) return error("no address where the tree of lspci has one");
    if (tree_.functions.size() >= kMostFunctions) {
      return error("more PCI functions than a machine can have");
    }
    PciFunction& function = tree_.functions[address];
    function.address = address;
    at += 4;
    if (line.substr(at).starts_with("-[")) return take_bridge(line, at, function);
    std::string_view description = line.substr(at);
    while (description.starts_with(' ')) description.remove_prefix(1);
    take_description(description, function);
    if (function.name.empty()) function.name = names_.device(function.vendor, function.device);
    function.class_code = class_by_name(function);
    at = line.size();
    return {};
  }

  Result<void> take_bridge(std::string_view line, std::size_t& at, PciFunction& function) {
    function.class_code = 0x060400;
    const std::size_t end = line.find(']', at);
    if (end == std::string_view::npos) return error("a bridge without its bus");
    std::string_view buses = line.substr(at + 2, end - at - 2);
    if (const auto colon = buses.find(':'); colon != std::string_view::npos) {
      buses.remove_prefix(colon + 1);
    }
    const std::string domain = function.address.substr(0, function.address.find(':') + 1);
    bus_ = domain + std::string(buses.substr(0, 2));
    if (buses.size() < 2 || !is_bus(bus_)) return error("a bridge without its bus");
    tree_.bridges.emplace(bus_, function.address);
    at = end + 1;
    return {};
  }

  LspciTree tree_;
  PciNames names_;
  std::map<std::size_t, std::string> columns_;  // where a bus branches off
  std::string bus_;
  std::size_t number_ = 0;
};

}  // namespace

Result<LspciTree> read_lspci_tree(std::string_view text) { return Reader().read(text); }

}  // namespace gdr::host
