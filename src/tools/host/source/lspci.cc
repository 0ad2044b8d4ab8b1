#include "host/source/lspci.h"

#include <optional>
#include <set>

#include "host/pci/vendors.h"
#include "host/source/draft.h"
#include "host/source/lspci_tree.h"
#include "host/source/lspci_verbose.h"
#include "host/source/pasted_text.h"

namespace gdr::host {
namespace {

struct Texts {
  std::optional<LspciTree> tree;
  std::optional<LspciVerbose> verbose;
  std::vector<std::string> notes;  // what was skipped
};

Error in_file(const NamedText& text, const std::string& what) {
  return {EINVAL, text.name + ": " + what};
}

Error second(const NamedText& text, const char* option) {
  return in_file(text, std::string("a second text of lspci ") + option +
                           "; give one of lspci -vvv and one of lspci -tv");
}

Result<void> take(const NamedText& text, const PastedLspci& pasted, Texts& found) {
  if (!pasted.tree.empty()) {
    if (found.tree) return second(text, "-tv");
    auto tree = read_lspci_tree(pasted.tree);
    if (!tree) return in_file(text, tree.error().message);
    found.tree = *std::move(tree);
  }
  if (!pasted.verbose.empty()) {
    if (found.verbose) return second(text, "-vvv");
    auto verbose = read_lspci_verbose(pasted.verbose);
    if (!verbose) return in_file(text, verbose.error().message);
    found.verbose = *std::move(verbose);
  }
  return {};
}

Result<Texts> sort_out(const std::vector<NamedText>& texts) {
  Texts found;
  for (const NamedText& text : texts) {
    const PastedLspci pasted = unwrap_lspci(without_windows(text.text));
    if (pasted.tree.empty() && pasted.verbose.empty()) {
      return in_file(text, "not text of lspci -vvv or lspci -tv");
    }
    if (Result<void> taken = take(text, pasted, found); !taken) return taken.error();
    const std::string note = skipped_note(pasted.skipped, "from lspci", pasted.example);
    if (!note.empty()) found.notes.push_back(text.name + ": " + note);
  }
  return found;
}

// "0000:41" of "0000:41:00.0"
std::string bus_of(const std::string& address) { return address.substr(0, address.rfind(':')); }

// From the function up, over the bridge that leads to each bus, to a bus that none leads to.
Result<std::vector<std::string>> path_to(const std::string& address,
                                         const std::map<std::string, std::string>& bridges) {
  std::vector<std::string> path{address};
  for (auto bridge = bridges.find(bus_of(address)); bridge != bridges.end();
       bridge = bridges.find(bus_of(bridge->second))) {
    if (path.size() >= kDeepestPath) {
      return Error{EINVAL, "the bridges above " + address + " form a circle, which is impossible"};
    }
    path.push_back(bridge->second);
  }
  path.push_back("pci" + bus_of(path.back()));
  return std::vector<std::string>(path.rbegin(), path.rend());
}

// If both texts show a function, the verbose one has more.
std::map<std::string, PciFunction> merged(Texts& texts) {
  std::map<std::string, PciFunction> functions;
  if (texts.verbose) functions = std::move(texts.verbose->functions);
  if (texts.tree) functions.merge(texts.tree->functions);
  return functions;
}

// A Broadcom switch below another one: NCCL may take both for one, by numbers that only -nn prints.
bool has_unnumbered_cascade(const PciTree& tree) {
  const auto is_broadcom = [&](const std::string& address) {
    const PciFunction* bridge = tree.find(address);
    return bridge != nullptr && bridge->is_bridge() && bridge->vendor == vendor::kLsi;
  };
  for (const auto& [address, function] : tree.functions()) {
    const auto& path = function.path;
    if (function.subsystem_vendor == 0 && path.size() > 4 && is_broadcom(address) &&
        is_broadcom(path[path.size() - 2]) && is_broadcom(path[path.size() - 3])) {
      return true;
    }
  }
  return false;
}

std::vector<std::string> unseen(const Texts& texts) {
  std::vector<std::string> sentences;
  if (!texts.verbose) {
    sentences.push_back(
        "NUMA nodes, links, access control and settings: add the text of 'sudo lspci -vvv'.");
  } else if (texts.verbose->configuration_hidden) {
    sentences.push_back(
        "Configuration space (access control, settings) of some functions: only root's 'lspci "
        "-vvv' prints it.");
  }
  if (!texts.tree && !texts.verbose->has_bridges) {
    sentences.push_back("The bridges above each device: add the text of 'lspci -tv'.");
  }
  sentences.push_back("RDMA names, ports and NVLink: lspci does not show them.");
  return sentences;
}

}  // namespace

Result<Inventory> read_lspci(const std::vector<NamedText>& texts) {
  Result<Texts> sorted = sort_out(texts);
  if (!sorted) return sorted.error();
  Draft draft;
  draft.machine.unseen = unseen(*sorted);
  draft.machine.notes = std::move(sorted->notes);
  std::map<std::string, std::string> bridges;
  bool structure_known = false;
  if (sorted->tree) {
    bridges = sorted->tree->bridges;
    structure_known = true;
  }
  if (sorted->verbose) {
    bridges.merge(sorted->verbose->bridges);
    structure_known = structure_known || sorted->verbose->has_bridges;
    draft.speeds = std::move(sorted->verbose->speeds);
  }
  std::set<int> nodes;
  for (auto& [address, function] : merged(*sorted)) {
    function.path = {address};
    if (structure_known) {
      auto path = path_to(address, bridges);
      if (!path) return in_file(texts.front(), path.error().message);
      function.path = *std::move(path);
    }
    if (function.numa_node >= 0) nodes.insert(function.numa_node);
    draft.machine.pci.add(std::move(function));
  }
  if (draft.machine.pci.functions().size() > kMostFunctions) {
    return in_file(texts.front(), "more PCI functions than a machine can have");
  }
  if (has_unnumbered_cascade(draft.machine.pci)) {
    draft.machine.unseen.push_back(
        "Whether NCCL treats two Broadcom switches as one: add the text of 'lspci -nnvvv'.");
  }
  draft.machine.pci.set_nodes_shown(sorted->verbose.has_value());
  for (const int node : nodes) draft.machine.numa_nodes.push_back({node, {}, {}});
  return finish(std::move(draft));
}

}  // namespace gdr::host
