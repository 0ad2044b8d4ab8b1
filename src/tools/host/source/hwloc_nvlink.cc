#include "host/source/hwloc_nvlink.h"

#include <stdlib.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <string>

#include "host/classify.h"
#include "host/pci/vendors.h"
#include "host/source/draft.h"

namespace gdr::host {
namespace {

constexpr std::size_t kMostEnds = 1024;

// By gp_index the PCI address of what an object is, or is on.
using Places = std::map<std::string, std::string>;

void find_places(const XmlElement& object, const std::string& above, Places& places) {
  std::string address = above;
  if (object.attribute("type") == "PCIDev") address = full_address(object.attribute("pci_busid"));
  const std::string_view index = object.attribute("gp_index");
  if (!address.empty() && !index.empty()) places.emplace(index, address);
  for (const XmlElement& child : object.children) {
    if (child.name == "object") find_places(child, address, places);
  }
}

// "OSDev:802" where the objects are of several types, else "802".
std::string index_of(const std::string& word) { return word.substr(word.find(':') + 1); }

struct Bandwidths {
  std::vector<std::string> ends;      // PCI addresses; empty: a processor
  std::vector<std::uint64_t> values;  // MB/s, a square
  std::uint64_t at(std::size_t row, std::size_t column) const {
    return values[row * ends.size() + column];
  }
};

Result<Bandwidths> read_matrix(const XmlElement& matrix, const Places& places) {
  Bandwidths found;
  for (const XmlElement& child : matrix.children) {
    std::istringstream words(child.text);
    if (child.name == "indexes") {
      for (std::string word; words >> word && found.ends.size() < kMostEnds;) {
        const auto place = places.find(index_of(word));
        found.ends.push_back(place == places.end() ? std::string() : place->second);
      }
    } else if (child.name == "u64values") {
      for (std::uint64_t value = 0;
           words >> value && found.values.size() < kMostEnds * kMostEnds;) {
        found.values.push_back(value);
      }
    }
  }
  if (found.ends.empty() || found.values.size() != found.ends.size() * found.ends.size()) {
    return Error{EINVAL, "this file's NVLinkBandwidth matrix is not square"};
  }
  return found;
}

// hwloc multiplies the links by what one has, MB/s (topology-nvml.c): 20,000 of the first
// generation (P100), 50,000 of the fifth (Blackwell), else 25,000.
std::uint64_t bandwidth_of_link(const PciFunction& gpu) {
  if (gpu.device >= 0x15f0 && gpu.device <= 0x15ff) return 20'000;
  const bool blackwell = (gpu.device >= 0x2900 && gpu.device <= 0x29ff) ||
                         (gpu.device >= 0x3180 && gpu.device <= 0x31ff);
  return blackwell ? 50'000 : 25'000;
}

}  // namespace

Result<std::vector<NvLinks>> read_hwloc_nvlinks(const XmlElement& topology, const PciTree& tree) {
  const auto matrix = std::ranges::find_if(topology.children, [](const XmlElement& child) {
    return child.name.starts_with("distances2") && child.attribute("name") == "NVLinkBandwidth";
  });
  if (matrix == topology.children.end()) {
    return Error{ENOENT, "this file has no NVLinkBandwidth (hwloc writes it when built with NVML)"};
  }
  Places places;
  for (const XmlElement& child : topology.children) {
    if (child.name == "object") find_places(child, {}, places);
  }
  Result<Bandwidths> read = read_matrix(*matrix, places);
  if (!read) return read.error();
  const auto gpu_at = [&](std::size_t end) {
    const PciFunction* function = tree.find(read->ends[end]);
    return function != nullptr && is_gpu(*function) ? function : nullptr;
  };
  // Each GPU reaches each other one over the switches with all of its links to them.
  std::vector<std::uint64_t> to_switches(read->ends.size());
  for (std::size_t i = 0; i < read->ends.size(); ++i) {
    for (std::size_t j = 0; j < read->ends.size(); ++j) {
      const PciFunction* other = tree.find(read->ends[j]);
      const bool is_switch =
          other != nullptr && !is_gpu(*other) && other->vendor == vendor::kNvidia;
      if (is_switch) to_switches[i] += read->at(i, j);
    }
  }
  std::vector<NvLinks> links;
  for (std::size_t i = 0; i < read->ends.size(); ++i) {
    for (std::size_t j = i + 1; j < read->ends.size(); ++j) {
      const PciFunction *a = gpu_at(i), *b = gpu_at(j);
      if (a == nullptr || b == nullptr || a == b) continue;
      const std::uint64_t bandwidth = read->at(i, j) + std::min(to_switches[i], to_switches[j]);
      const std::uint64_t count = bandwidth / bandwidth_of_link(*a);
      if (count == 0 || count > 1000) continue;
      links.push_back({a->address, b->address, static_cast<unsigned>(count)});
    }
  }
  return links;
}

}  // namespace gdr::host
