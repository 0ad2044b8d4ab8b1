#include "presence/tree.h"

#include <endian.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "ports/attributes.h"
#include "presence/folders.h"
#include "presence/pci_function.h"

namespace gdr::presence {
namespace {

// The kernel's versions of its interfaces, as of Linux 5.x and 6.x.
constexpr int kVerbsAbi = 6;
constexpr int kDriverAbi = 1;
constexpr int kConnectionManagerAbi = 4;

template <typename... Values>
std::string format(const char* pattern, Values... values) {
  char text[128];
  const int length = std::snprintf(text, sizeof text, pattern, values...);
  return {text, static_cast<std::size_t>(std::clamp(length, 0, static_cast<int>(sizeof text) - 1))};
}

std::string guid_text(std::uint64_t network_order) {
  const std::uint64_t guid = be64toh(network_order);
  const auto part = [guid](int shift) { return static_cast<unsigned>(guid >> shift & 0xffff); };
  return format("%04x:%04x:%04x:%04x", part(48), part(32), part(16), part(0));
}

std::string gid_text(const std::uint8_t (&raw)[16]) {
  std::string text;
  for (int i = 0; i < 16; i += 2) {
    text += format(i == 0 ? "%02x%02x" : ":%02x%02x", raw[i], raw[i + 1]);
  }
  return text;
}

// As drivers/infiniband/core/sysfs.c: tenths of Gb/s of one lane, by the code of its speed.
struct LaneSpeed {
  int code, tenths;
  const char* name;
};
constexpr LaneSpeed kLaneSpeeds[] = {{1, 25, " SDR"},    {2, 50, " DDR"},    {4, 100, " QDR"},
                                     {8, 100, " FDR10"}, {16, 140, " FDR"},  {32, 250, " EDR"},
                                     {64, 500, " HDR"},  {128, 1000, " NDR"}};

int lanes_of(int width) {
  switch (width) {
    case 2:
      return 4;
    case 4:
      return 8;
    case 8:
      return 12;
    case 16:
      return 2;
    default:
      return 1;
  }
}

std::string rate_text(const ibv_port_attr& port) {
  const LaneSpeed* speed = kLaneSpeeds;
  for (const LaneSpeed& one : kLaneSpeeds) {
    if (one.code == port.active_speed) speed = &one;
  }
  const int lanes = lanes_of(port.active_width);
  const int tenths = speed->tenths * lanes;
  return tenths % 10 == 0
             ? format("%d Gb/sec (%dX%s)", tenths / 10, lanes, speed->name)
             : format("%d.%d Gb/sec (%dX%s)", tenths / 10, tenths % 10, lanes, speed->name);
}

const char* state_text(int state) {
  constexpr const char* kStates[] = {"0: NOP",   "1: DOWN",   "2: INIT",
                                     "3: ARMED", "4: ACTIVE", "5: ACTIVE_DEFER"};
  return state >= 0 && state < static_cast<int>(std::size(kStates)) ? kStates[state] : kStates[0];
}

// What the port's nominal speed is in Gb/s.
unsigned gigabits_of(const ibv_port_attr& port) {
  for (const LaneSpeed& one : kLaneSpeeds) {
    if (one.code == port.active_speed) {
      return static_cast<unsigned>(one.tenths * lanes_of(port.active_width) / 10);
    }
  }
  return 0;
}

class Maker {
 public:
  explicit Maker(Counters counters) : counters_(counters) {}

  std::vector<Entry> make(const std::vector<DeviceFacts>& devices) {
    add("/sys/class/infiniband_verbs/abi_version", std::to_string(kVerbsAbi));
    if (!devices.empty()) add_connection_manager();
    int number = 0;
    for (const DeviceFacts& device : devices) {
      add_device(device);
      add_node(device, number++);
      if (device.place) add_function(device);
    }
    const auto by_path = [](const Entry& one, const Entry& other) { return one.path < other.path; };
    std::sort(entries_.begin(), entries_.end(), by_path);
    // Functions of one bus share its folder.
    const auto same_path = [](const Entry& one, const Entry& other) {
      return one.path == other.path;
    };
    entries_.erase(std::unique(entries_.begin(), entries_.end(), same_path), entries_.end());
    return std::move(entries_);
  }

 private:
  void add(const std::string& path, const std::string& line) {
    entries_.push_back({Entry::Kind::kFile, path, line + "\n"});
  }

  // The folder of a device in its class, with a slash: of one that has a place it is below the PCI
  // function, and the class has a link there.
  std::string folder_in(const std::string& group, const std::string& name,
                        const DeviceFacts& device) {
    const std::string shown = "/sys/class/" + group + "/" + name;
    if (!device.place) {
      entries_.push_back({Entry::Kind::kLink, shown + "/subsystem", "../../../class/" + group});
      return shown + "/";
    }
    const std::string folder = device.place->folder() + "/" + group + "/" + name;
    entries_.push_back(relative_link(shown, folder));
    entries_.push_back(
        {Entry::Kind::kLink, folder + "/device", "../../../" + device.place->address});
    entries_.push_back(relative_link(folder + "/subsystem", "/sys/class/" + group));
    return folder + "/";
  }

  // What every device in the kernel's tree has. Nothing here manages its power.
  void add_common(const std::string& folder, const std::string& event) {
    add(folder + "uevent", event);
    for (const auto& [name, line] : {std::pair{"async", "disabled"},
                                     {"control", "auto"},
                                     {"runtime_active_kids", "0"},
                                     {"runtime_active_time", "0"},
                                     {"runtime_enabled", "disabled"},
                                     {"runtime_status", "unsupported"},
                                     {"runtime_suspended_time", "0"},
                                     {"runtime_usage", "0"}}) {
      add(folder + "power/" + name, line);
    }
  }

  // As udev is told, too.
  static std::string node_event(const std::string& name, int number) {
    return format("MAJOR=%d\nMINOR=%d\nDEVNAME=infiniband/%s\nDEVMODE=0666", kVerbsMajor,
                  kFirstVerbsMinor + number, name.c_str());
  }

  void add_device(const DeviceFacts& device) {
    const std::string folder = folder_in("infiniband", device.name, device);
    add_common(folder, "NAME=" + device.name);
    add(folder + "node_type", "1: CA");
    add(folder + "node_guid", guid_text(device.node_guid));
    add(folder + "sys_image_guid", guid_text(device.system_guid));
    add(folder + "node_desc", "gdrkit software NIC " + device.name);
    add(folder + "fw_ver", device.firmware);
    add(folder + "hw_rev", std::to_string(device.hardware_version));
    add(folder + "hca_type", "gdrkit software NIC");
    add(folder + "board_id", "gdrkit software NIC");
    add_port(device, folder + "ports/1/");
  }

  void add_function(const DeviceFacts& device) {
    for (Entry& entry : make_pci_function(*device.place, gigabits_of(device.port))) {
      entries_.push_back(std::move(entry));
    }
    if (device.interface.empty()) return;
    // The machine's own, which has its address; wherever its hardware is.
    entries_.push_back({Entry::Kind::kLink, device.place->folder() + "/net/" + device.interface,
                        "/sys/class/net/" + device.interface});
  }

  void add_port(const DeviceFacts& device, const std::string& folder) {
    const ibv_port_attr& port = device.port;
    add(folder + "state", state_text(port.state));
    add(folder + "phys_state", port.phys_state == 5 ? "5: LinkUp" : "3: Disabled");
    add(folder + "rate", rate_text(port));
    add(folder + "link_layer", "Ethernet");
    add(folder + "lid", format("0x%x", static_cast<unsigned>(port.lid)));
    add(folder + "sm_lid", format("0x%x", static_cast<unsigned>(port.sm_lid)));
    add(folder + "lid_mask_count", std::to_string(port.lmc));
    add(folder + "sm_sl", std::to_string(port.sm_sl));
    add(folder + "cap_mask", format("0x%08x", static_cast<unsigned>(port.port_cap_flags)));
    // Only places of the table that hold one: the kernel's empty ones read as 0, and nobody looks.
    for (const GidFacts& gid : device.gids) {
      const std::string index = std::to_string(gid.index);
      add(folder + "gids/" + index, gid_text(gid.raw));
      add(folder + "gid_attrs/types/" + index, gid.is_v2 ? "RoCE v2" : "IB/RoCE v1");
      if (!gid.interface.empty()) add(folder + "gid_attrs/ndevs/" + index, gid.interface);
    }
    for (std::size_t i = 0; i < device.partition_keys.size(); ++i) {
      add(folder + "pkeys/" + std::to_string(i),
          format("0x%04x", static_cast<unsigned>(device.partition_keys[i])));
    }
    add_counters(folder);
  }

  void add_counters(const std::string& folder) {
    if (counters_ == Counters::kNo) return;
    for (const ports::Attribute& one : ports::attributes()) {
      add(folder + one.folder + "/" + one.name, std::to_string(one.value({})));
    }
  }

  void add_connection_manager() {
    const std::string name = kConnectionManager, folder = "/sys/class/misc/" + name + "/";
    add(folder + "abi_version", std::to_string(kConnectionManagerAbi));
    add_device_number(folder + "dev", kConnectionManagerNumber);
    add_common(folder, node_event(name, kConnectionManagerNumber));
    entries_.push_back({Entry::Kind::kLink, folder + "subsystem", "../../../class/misc"});
    entries_.push_back({Entry::Kind::kDevice, "/dev/infiniband/" + name, ""});
  }

  void add_device_number(const std::string& file, int number) {
    add(file, format("%d:%d", kVerbsMajor, kFirstVerbsMinor + number));
  }

  void add_node(const DeviceFacts& device, int number) {
    const std::string folder = folder_in("infiniband_verbs", device.node_name, device);
    add(folder + "ibdev", device.name);
    add(folder + "abi_version", std::to_string(kDriverAbi));
    add_device_number(folder + "dev", number);
    add_common(folder, node_event(device.node_name, number));
    entries_.push_back({Entry::Kind::kDevice, "/dev/infiniband/" + device.node_name, ""});
  }

  const Counters counters_;
  std::vector<Entry> entries_;
};

}  // namespace

std::vector<Entry> make_tree(const std::vector<DeviceFacts>& devices, Counters counters) {
  return Maker(counters).make(devices);
}

std::string make_places(const std::vector<DeviceFacts>& devices) {
  std::set<std::string> lines;
  if (!devices.empty()) {
    lines.insert("list /sys/class/misc");
    lines.insert(std::string("all /sys/class/misc/") + kConnectionManager);
  }
  for (const DeviceFacts& device : devices) {
    if (!device.place) continue;
    const Place& place = *device.place;
    lines.insert("all " + (place.parent_is_made_up ? place.parent : place.folder()));
    // The kernel's own lists of links, to which the function is added.
    for (const auto& [list, name] :
         {std::pair{"/sys/bus/pci/devices", place.address}, {"/sys/class/pci_bus", place.bus()}}) {
      lines.insert(std::string("list ") + list);
      lines.insert(std::string("all ") + list + "/" + name);
    }
  }
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

}  // namespace gdr::presence
