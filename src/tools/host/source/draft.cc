#include "host/source/draft.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "base/unique_fd.h"
#include "host/pci/names.h"

namespace gdr::host {
namespace {

constexpr std::size_t kLargestFile = std::size_t{64} << 20;
constexpr std::size_t kMostMaskWords = 1024;

// The ports of a card are one device, but some dumps show a NUMA node for the first only.
void take_node_of_first_function(PciTree& tree, PciFunction& function) {
  if (function.numa_node >= 0) return;
  if (const PciFunction* other = tree.find(card_of(function.address) + ".0"))
    function.numa_node = other->numa_node;
}

bool is_nic(const Draft& draft, const PciFunction& function) {
  if (has_no_verbs(function)) return false;
  return draft.nics.contains(function.address) || is_likely_rdma_nic(function);
}

Nic nic_of(const Draft& draft, const PciFunction& function) {
  Nic nic;
  nic.name = function.address;
  nic.pci_address = function.address;
  nic.driver = function.driver;
  nic.numa_node = function.numa_node;
  nic.pci = function;
  if (const auto known = draft.nics.find(function.address); known != draft.nics.end()) {
    const std::vector<std::string>& names = known->second.names;
    if (!names.empty()) nic.name = names.front();
    if (names.size() > 1) nic.more_names.assign(names.begin() + 1, names.end());
    nic.ports = known->second.ports;
  }
  return nic;
}

}  // namespace

void add_name(DraftNic& nic, std::string_view name) {
  constexpr std::size_t kMost = 64;  // no function has as many RDMA devices
  const bool known = std::ranges::find(nic.names, name) != nic.names.end();
  if (!known && !name.empty() && nic.names.size() < kMost) nic.names.emplace_back(name);
}

Inventory finish(Draft draft) {
  Inventory& machine = draft.machine;
  PciNames names;
  for (const auto& [address, unused] : machine.pci.functions()) {
    PciFunction& function = *machine.pci.find(address);
    take_node_of_first_function(machine.pci, function);
    if (function.links.empty()) {
      function.links = links_along(function.path, [&](const std::string& port) {
        const auto found = draft.speeds.find(port);
        return found == draft.speeds.end() ? PortSpeed() : found->second;
      });
    }
    if (is_gpu(function)) {
      const auto model = draft.models.find(address);
      Gpu gpu{address, model == draft.models.end() ? function.name : model->second, function.driver,
              function.numa_node, function};
      if (gpu.model.empty()) gpu.model = names.device(function.vendor, function.device);
      if (gpu.model.empty()) gpu.model = "NVIDIA GPU";
      machine.gpus.push_back(std::move(gpu));
    } else if (is_nic(draft, function)) {
      machine.nics.push_back(nic_of(draft, function));
    }
  }
  if (std::ranges::all_of(machine.nics, has_rdma_name)) {
    std::stable_sort(machine.nics.begin(), machine.nics.end(), [](const Nic& a, const Nic& b) {
      return strverscmp(a.name.c_str(), b.name.c_str()) < 0;
    });
  }
  draw_conclusions(machine, draft.shown);
  return std::move(machine);
}

std::uint32_t to_number(std::string_view text, int base) {
  if (base == 16 && text.starts_with("0x")) text.remove_prefix(2);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

std::string processors_of_mask(std::string_view mask) {
  std::vector<std::uint32_t> words;  // the most significant first
  for (;;) {
    const std::size_t comma = std::min(mask.find(','), mask.size());
    std::string_view word = mask.substr(0, comma);
    if (word.starts_with("0x")) word.remove_prefix(2);
    // hwloc leaves a word of zeros empty.
    if (words.size() >= kMostMaskWords || word.size() > 8 ||
        word.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos) {
      return {};
    }
    words.push_back(to_number(word, 16));
    if (comma == mask.size()) break;
    mask.remove_prefix(comma + 1);
  }
  const std::size_t bits = words.size() * 32;
  const auto is_set = [&](std::size_t bit) {
    return bit < bits && (words[words.size() - 1 - bit / 32] >> bit % 32 & 1) != 0;
  };
  std::string list;
  for (std::size_t bit = 0; bit < bits; ++bit) {
    if (!is_set(bit)) continue;
    const std::size_t first = bit;
    while (is_set(bit + 1)) ++bit;
    if (!list.empty()) list += ',';
    list += std::to_string(first);
    if (bit > first) list += '-' + std::to_string(bit);
  }
  return list;
}

Result<std::string> read_source_file(const std::string& path) {
  // A pipe is as good as a file: --lspci <(ssh host lspci -vvv).
  const UniqueFd file(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return Error{errno, path + ": " + strerror(errno)};
  std::string content;
  std::vector<char> chunk(std::size_t{256} << 10);
  for (;;) {
    const ssize_t got = read(file.get(), chunk.data(), chunk.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return Error{errno, path + ": " + strerror(errno)};
    if (got == 0) return content;
    content.append(chunk.data(), static_cast<std::size_t>(got));
    if (content.size() > kLargestFile) {
      return Error{EINVAL, path + ": larger than 64 MiB, too large for a description of a machine"};
    }
  }
}

}  // namespace gdr::host
