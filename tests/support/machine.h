// A machine with GPUs and NICs as sysfs and procfs would show it, below a temporary root, with
// whole configuration spaces. All is well on it until a test spoils something.
//
//   Machine machine;
//   machine.add_switch(1);
//   machine.find("0000:17:01.0").acs_control = 0x04;
//   machine.write_all();
#pragma once

#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "scratch_folder.h"

namespace gdr::test {

struct MachineFunction {
  std::string address, parent;  // parent: a bridge's address, or "pci0000:15"
  std::uint16_t vendor = 0x1000, device = 0xc030;
  std::uint32_t class_code = 0x060400;
  unsigned kind = 6;  // Device/Port Type: 0 endpoint, 4 root port, 5 upstream, 6 downstream
  std::string speed = "32.0", most_speed = "32.0";
  unsigned width = 16, most_width = 16;
  int node = 0;
  unsigned max_payload = 256, max_read = 128;
  bool relaxed = true;
  std::optional<std::uint16_t> acs_control;  // with all services capable
  std::optional<bool> ats;
  std::size_t config_size = 4096;  // 64: as without root
  std::string driver;
  int group = -1;
};

struct MachineNic {
  std::string name, address, netdev;
  std::string state = "4: ACTIVE", physical = "5: LinkUp", rate = "400 Gb/sec (4X NDR)";
  std::string link_layer = "Ethernet", firmware = "28.39.1002", board = "MT_0000000838";
  std::string gid = "0000:0000:0000:0000:0000:ffff:c0a8:0001", gid_type = "RoCE v2";
  long mtu = 9000;
};

class Machine : public ScratchFolder {
 public:
  // In memory where that is possible: some thousand small files.
  Machine()
      : ScratchFolder(access("/dev/shm", W_OK) == 0 ? "/dev/shm"
                                                    : std::filesystem::temp_directory_path()) {
    write("proc/cpuinfo", "vendor_id\t: GenuineIntel\nflags\t\t: fpu sse2\n");
    write("proc/cmdline", "BOOT_IMAGE=/vmlinuz ro quiet\n");
    make("sys/class/iommu");
    make("sys/class/infiniband");
    write("sys/devices/system/node/node0/cpulist", "0-31\n");
    write("sys/devices/system/node/node1/cpulist", "32-63\n");
  }
  // `path` becomes a link to `target`, both below the root.
  void link(const std::string& path, const std::string& target) const {
    std::filesystem::create_directories((root_ / path).parent_path());
    std::filesystem::remove(root_ / path);
    std::filesystem::create_symlink(
        (root_ / target).lexically_relative((root_ / path).parent_path()), root_ / path);
  }

  std::vector<MachineFunction> functions;
  std::vector<MachineNic> nics;

  MachineFunction& find(const std::string& address) {
    for (MachineFunction& function : functions) {
      if (function.address == address) return function;
    }
    throw std::out_of_range("no function " + address);
  }
  MachineNic& nic(const std::string& name) {
    for (MachineNic& nic : nics) {
      if (nic.name == name) return nic;
    }
    throw std::out_of_range("no NIC " + name);
  }

  // Root port, switch, GPU and NIC. Number 1: root port 0000:15:01.0, ports 0000:17:01.0 and
  // 0000:17:02.0, GPU 0000:19:00.0, NIC 0000:1a:00.0 "mlx5_1" with "ens1np0"; each further one is
  // 0x20 buses on.
  void add_switch(unsigned number) {
    const unsigned bus = 0x15 + 0x20 * (number - 1);
    const std::string root_port = bdf(bus, 1), upstream = bdf(bus + 1, 0);
    const std::string gpu_port = bdf(bus + 2, 1), nic_port = bdf(bus + 2, 2);
    MachineFunction function;
    function.node = number > 4 ? 1 : 0;
    function.max_read = 512;
    function.acs_control = 0;
    function.kind = 4;
    add(function, root_port, "pci0000:" + hex(bus));
    function.kind = 5;
    function.acs_control.reset();
    add(function, upstream, root_port);
    function.kind = 6;
    function.acs_control = 0;
    add(function, gpu_port, upstream);
    add(function, nic_port, upstream);
    function.kind = 0;
    function.acs_control.reset();
    function.max_read = 4096;
    function.vendor = 0x10de;
    function.device = 0x2330;
    function.class_code = 0x030200;
    function.driver = "nvidia";
    add(function, bdf(bus + 4, 0), gpu_port);
    function.vendor = 0x15b3;
    function.device = 0x1021;
    function.class_code = 0x020000;
    function.driver = "mlx5_core";
    add(function, bdf(bus + 5, 0), nic_port);
    MachineNic nic;
    nic.name = "mlx5_" + std::to_string(number);
    nic.address = bdf(bus + 5, 0);
    nic.netdev = "ens" + std::to_string(number) + "np0";
    nics.push_back(nic);
  }

  void write_all() {
    for (const MachineFunction& function : functions) write_function(function);
    for (const MachineNic& nic : nics) write_nic(nic);
  }

  static std::string config(const MachineFunction& function) {
    std::string space(4096, '\0');
    const auto word = [&](std::size_t at, unsigned value) {
      space[at] = static_cast<char>(value & 0xff);
      space[at + 1] = static_cast<char>(value >> 8 & 0xff);
    };
    const auto coded = [](unsigned bytes) {
      unsigned code = 0;
      while (128u << code < bytes) ++code;
      return code;
    };
    word(0, function.vendor);
    word(2, function.device);
    space[0x34] = 0x40;
    word(0x40, 0x10);
    word(0x42, 2 | function.kind << 4);
    word(0x48, coded(function.max_payload) << 5 | coded(function.max_read) << 12 |
                   (function.relaxed ? 0x10 : 0));
    // Serial number, ACS, ATS: each of 8 bytes and the header.
    const auto extended = [&](std::size_t at, unsigned id, std::size_t next) {
      word(at, id);
      word(at + 2, 1 | static_cast<unsigned>(next) << 4);
    };
    extended(0x100, 0x0003, 0x170);
    space.replace(0x104, 8, "SERIAL!!");
    const bool acs = function.acs_control.has_value(), ats = function.ats.has_value();
    extended(0x170, acs ? 0x000d : 0x0018, ats ? 0x220 : 0);
    if (acs) {
      word(0x174, 0x5f);
      word(0x176, *function.acs_control);
    }
    if (ats) {
      extended(0x220, 0x000f, 0);
      word(0x226, *function.ats ? 0x8000 : 0);
    }
    space.resize(function.config_size);
    return space;
  }

 private:
  static std::string hex(unsigned number) {
    char text[8];
    snprintf(text, sizeof(text), "%02x", number);
    return text;
  }
  static std::string bdf(unsigned bus, unsigned device) {
    return "0000:" + hex(bus) + ":" + hex(device) + ".0";
  }
  void add(MachineFunction function, const std::string& address, const std::string& parent) {
    function.address = address;
    function.parent = parent;
    functions.push_back(function);
  }

  void write_function(const MachineFunction& function) {
    const std::string above = function.parent.rfind("pci", 0) == 0
                                  ? "sys/devices/" + function.parent
                                  : places_[function.parent];
    const std::string place = above + "/" + function.address;
    places_[function.address] = place;
    const auto number = [](const char* format, unsigned value) {
      char text[16];
      snprintf(text, sizeof(text), format, value);
      return std::string(text);
    };
    write(place + "/vendor", number("0x%04x\n", function.vendor));
    write(place + "/device", number("0x%04x\n", function.device));
    write(place + "/class", number("0x%06x\n", function.class_code));
    write(place + "/numa_node", std::to_string(function.node) + "\n");
    write(place + "/current_link_speed", function.speed + " GT/s PCIe\n");
    write(place + "/max_link_speed", function.most_speed + " GT/s PCIe\n");
    write(place + "/current_link_width", std::to_string(function.width) + "\n");
    write(place + "/max_link_width", std::to_string(function.most_width) + "\n");
    write(place + "/config", config(function));
    if (!function.driver.empty()) {
      std::filesystem::create_directories(root_ / ("sys/bus/pci/drivers/" + function.driver));
      link(place + "/driver", "sys/bus/pci/drivers/" + function.driver);
    }
    if (function.group >= 0) {
      const std::string group = "sys/kernel/iommu_groups/" + std::to_string(function.group);
      std::filesystem::create_directories(root_ / group);
      link(place + "/iommu_group", group);
    }
    link("sys/bus/pci/devices/" + function.address, place);
  }

  void write_nic(const MachineNic& nic) {
    const std::string device = places_[nic.address];
    const std::string folder = device + "/infiniband/" + nic.name;
    // As the kernel writes it: over the device's name, although "../.." would do.
    std::filesystem::create_directories(root_ / folder);
    std::filesystem::remove(root_ / folder / "device");
    std::filesystem::create_symlink("../../../" + nic.address, root_ / folder / "device");
    write(folder + "/fw_ver", nic.firmware + "\n");
    write(folder + "/board_id", nic.board + "\n");
    const std::string port = folder + "/ports/1";
    write(port + "/state", nic.state + "\n");
    write(port + "/phys_state", nic.physical + "\n");
    write(port + "/rate", nic.rate + "\n");
    write(port + "/link_layer", nic.link_layer + "\n");
    write(port + "/gids/0", "fe80:0000:0000:0000:0e42:a1ff:fe00:0001\n");
    write(port + "/gid_attrs/types/0", "IB/RoCE v1\n");
    write(port + "/gid_attrs/ndevs/0", nic.netdev + "\n");
    if (!nic.gid.empty()) {
      write(port + "/gids/1", nic.gid + "\n");
      write(port + "/gid_attrs/types/1", nic.gid_type + "\n");
      write(port + "/gid_attrs/ndevs/1", nic.netdev + "\n");
    }
    write(port + "/counters/port_rcv_packets", "1000000000\n");
    write(port + "/counters/port_xmit_packets", "1000000000\n");
    write(port + "/hw_counters/packet_seq_err", "0\n");
    const std::string net = device + "/net/" + nic.netdev;
    write(net + "/mtu", std::to_string(nic.mtu) + "\n");
    write(net + "/address", "0c:42:a1:00:00:01\n");
    write(net + "/dev_port", "0\n");
    link("sys/class/net/" + nic.netdev, net);
    link("sys/class/infiniband/" + nic.name, folder);
  }

  std::map<std::string, std::string> places_;
};

}  // namespace gdr::test
