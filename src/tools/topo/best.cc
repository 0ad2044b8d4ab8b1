#include "topo/best.h"

#include <algorithm>

#include "host/best_nic.h"

namespace gdr::topo {
namespace {

// Positions of the inventory's devices of one kind in the list.
std::vector<std::size_t> places_of(const std::vector<Device>& devices, Device::Kind kind,
                                   std::size_t count) {
  std::vector<std::size_t> places(count);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].kind == kind) places[devices[i].index] = i;
  }
  return places;
}

}  // namespace

const char* name_of(Quality quality) {
  constexpr const char* kNames[] = {"good", "likely good", "bad", "unknown"};
  return kNames[static_cast<std::size_t>(quality)];
}

Quality quality_of(std::optional<host::PciPath> path, const host::Inventory& inventory) {
  if (!path || !has_reliable_grades(inventory)) return Quality::kUnknown;
  if (*path <= host::PciPath::kPxb) return Quality::kGood;
  if (*path == host::PciPath::kPhb && inventory.host_bridges_merged) return Quality::kUnknown;
  return *path == host::PciPath::kPhb ? Quality::kLikelyGood : Quality::kBad;
}

std::vector<Choice> choose_nics(const host::Inventory& inventory,
                                const std::vector<Device>& devices) {
  const auto gpus = places_of(devices, Device::Kind::kGpu, inventory.gpus.size());
  const auto nics = places_of(devices, Device::Kind::kNic, inventory.nics.size());
  std::vector<Choice> choices;
  for (const host::NicChoice& chosen : host::choose_nics(inventory)) {
    Choice choice;
    choice.gpu = gpus[chosen.gpu];
    const auto label = [&](const host::RankedNic& nic) { return devices[nics[nic.index]].label; };
    choice.why = host::why(chosen, label);
    choice.brief_why = host::brief_why(chosen, label);
    choice.ports_down = chosen.ports_down;
    if (!chosen.nics.empty()) {
      choice.nic = nics[chosen.nics.front().index];
      choice.path = chosen.nics.front().path;
      choice.quality = quality_of(choice.path, inventory);
    }
    for (std::size_t i = 1; i <= chosen.alike; ++i) {
      choice.alike.push_back(nics[chosen.nics[i].index]);
    }
    choices.push_back(std::move(choice));
  }
  std::sort(choices.begin(), choices.end(),
            [](const Choice& a, const Choice& b) { return a.gpu < b.gpu; });
  return choices;
}

}  // namespace gdr::topo
