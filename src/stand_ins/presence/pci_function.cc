#include "presence/pci_function.h"

#include <array>
#include <cstdio>
#include <utility>

#include "presence/folders.h"

namespace gdr::presence {
namespace {

constexpr const char* kClass = "0x020000";  // an Ethernet controller

// PCI Express Base Specification, 7.5.3: the generation's code and name.
struct Link {
  unsigned most_gigabits, generation, lanes;
  const char* speed;
};
constexpr Link kLinks[] = {{50, 3, 8, "8.0 GT/s PCIe"},
                           {100, 3, 16, "8.0 GT/s PCIe"},
                           {200, 4, 16, "16.0 GT/s PCIe"},
                           {400, 5, 16, "32.0 GT/s PCIe"}};

const Link& link_for(unsigned gigabits) {
  for (const Link& link : kLinks) {
    if (gigabits <= link.most_gigabits) return link;
  }
  return kLinks[std::size(kLinks) - 1];
}

// What lspci, hwloc and others read the kind of a function and its link from.
std::string configuration_space(const Link& link) {
  std::array<unsigned char, 4096> bytes{};  // as PCI Express has; no extended capabilities
  constexpr std::size_t kExpress = 0x40;
  bytes[0x04] = 0x06;  // command: memory, bus master
  bytes[0x06] = 0x10;  // status: it has capabilities
  bytes[0x0b] = 0x02;  // class 02 00 00
  bytes[0x34] = kExpress;
  bytes[kExpress] = 0x10;         // PCI Express
  bytes[kExpress + 0x02] = 0x02;  // version 2 of its structure; an endpoint
  bytes[kExpress + 0x05] = 0x80;  // role-based error reporting
  // Link capabilities and link status begin alike: speed, then width.
  for (const std::size_t at : {kExpress + 0x0c, kExpress + 0x12}) {
    bytes[at] = static_cast<unsigned char>(link.generation | link.lanes << 4);
    bytes[at + 1] = static_cast<unsigned char>(link.lanes >> 4);
  }
  return {bytes.begin(), bytes.end()};
}

std::string resources() {
  std::string text;
  for (int region = 0; region < 13; ++region) {
    text += "0x0000000000000000 0x0000000000000000 0x0000000000000000\n";
  }
  return text;
}

std::string event_text(const Place& place, const std::string& alias) {
  return "PCI_CLASS=20000\nPCI_ID=0000:0000\nPCI_SUBSYS_ID=0000:0000\nPCI_SLOT_NAME=" +
         place.address + "\nMODALIAS=" + alias + "\n";
}

}  // namespace

Entry relative_link(const std::string& path, const std::string& target) {
  std::size_t common = 0;
  for (std::size_t i = 0; i < path.size() && i < target.size() && path[i] == target[i]; ++i) {
    if (path[i] == '/') common = i + 1;
  }
  std::string text;
  for (std::size_t i = common; i < path.size(); ++i) {
    if (path[i] == '/') text += "../";
  }
  return {Entry::Kind::kLink, path, text + target.substr(common)};
}

std::vector<Entry> make_pci_function(const Place& place, unsigned gigabits) {
  const std::string folder = place.folder() + "/";
  const std::string bus = place.parent + "/pci_bus/" + place.bus();
  const std::string alias = "pci:v00000000d00000000sv00000000sd00000000bc02sc00i00";
  const Link& link = link_for(gigabits);
  const std::string lanes = std::to_string(link.lanes);
  std::vector<Entry> entries;
  for (const auto& [name, line] : {std::pair<const char*, std::string>{"vendor", "0x0000"},
                                   {"device", "0x0000"},
                                   {"subsystem_vendor", "0x0000"},
                                   {"subsystem_device", "0x0000"},
                                   {"class", kClass},
                                   {"revision", "0x00"},
                                   {"label", kFunctionLabel},
                                   {"irq", "0"},
                                   {"enable", "1"},
                                   {"modalias", alias},
                                   {"numa_node", place.numa_node},
                                   {"local_cpus", place.local_cpus},
                                   {"local_cpulist", place.local_cpulist},
                                   {"max_link_speed", link.speed},
                                   {"max_link_width", lanes},
                                   {"current_link_speed", link.speed},
                                   {"current_link_width", lanes}}) {
    entries.push_back({Entry::Kind::kFile, folder + name, line + "\n"});
  }
  entries.push_back({Entry::Kind::kFile, folder + "config", configuration_space(link)});
  entries.push_back({Entry::Kind::kFile, folder + "resource", resources()});
  entries.push_back({Entry::Kind::kFile, folder + "uevent", event_text(place, alias)});
  entries.push_back(relative_link(folder + "subsystem", "/sys/bus/pci"));
  entries.push_back(relative_link("/sys/bus/pci/devices/" + place.address, place.folder()));
  // NCCL finds the function by its bus: /sys/class/pci_bus/0000:17/../../0000:17:00.0.
  entries.push_back({Entry::Kind::kFile, bus + "/cpuaffinity", place.local_cpus + "\n"});
  entries.push_back({Entry::Kind::kFile, bus + "/cpulistaffinity", place.local_cpulist + "\n"});
  entries.push_back(relative_link(bus + "/subsystem", "/sys/class/pci_bus"));
  entries.push_back(relative_link("/sys/class/pci_bus/" + place.bus(), bus));
  return entries;
}

}  // namespace gdr::presence
