// A machine to be changed: a PCI tree with configuration spaces of 4096 bytes below a temporary
// root, drivers, IOMMU groups, and programs that only leave a mark.
//
//   FakeHost host;
//   host.add({.address = "0000:01:00.0", .parent = "pci0000:00", .type = kRootPort, .acs = 0x120});
//   EXPECT_EQ(host.control("0000:01:00.0"), 0x001d);
#pragma once

#include <unistd.h>

#include <map>
#include <string>
#include <vector>

#include "captured_host.h"
#include "fix/machine.h"

namespace gdr::fix {

enum Type : unsigned { kEndpoint = 0, kRootPort = 4, kUpstreamPort = 5, kDownstreamPort = 6 };

struct FakeFunction {
  std::string address, parent;  // parent: a bridge's address, or "pci0000:00"
  unsigned type = kEndpoint;
  unsigned acs = 0;  // offset of the capability; 0: none
  unsigned control = 0x1d, capabilities = 0x5f;
  unsigned vendor = 0x10b5, device = 0x8749, class_code = 0x060400;
  std::string driver = {};
  int group = -1;  // its IOMMU group
  unsigned read_request = 512;
};

class FakeHost {
 public:
  FakeHost() {
    write("proc/sys/kernel/random/boot_id", "boot-a\n");
    write("proc/sys/kernel/osrelease", "6.8.0-50-generic\n");
    write("proc/cpuinfo", "flags\t\t: fpu vme\n");
    write("sys/kernel/security/lockdown", "[none] integrity confidentiality\n");
  }

  std::string root() const { return host_.root(); }
  std::string journal() const { return host_.root() + "/var/lib/gdrkit/fix"; }
  void write(const std::string& path, const std::string& text) const { host_.write(path, text); }
  std::string text(const std::string& path) const {
    return test::text_of_file(host_.root() + "/" + path);
  }
  bool exists(const std::string& path) const {
    return std::filesystem::exists(host_.root() + "/" + path);
  }

  void add(const FakeFunction& function) {
    host_.function({function.address, function.parent, "", "", 0, 0, 0, 0, 0, false});
    const std::string place = "sys/bus/pci/devices/" + function.address;
    const auto hex = [](unsigned value, int digits) {
      char text[16];
      snprintf(text, sizeof text, "0x%0*x\n", digits, value);
      return std::string(text);
    };
    write(place + "/vendor", hex(function.vendor, 4));
    write(place + "/device", hex(function.device, 4));
    write(place + "/class", hex(function.class_code, 6));
    write(place + "/config", configuration(function));
    if (!function.driver.empty()) {
      std::filesystem::create_directories(root() + "/sys/bus/pci/drivers/" + function.driver);
      host_.link(place + "/driver", "sys/bus/pci/drivers/" + function.driver);
    }
    if (function.group >= 0) {
      const std::string group = "sys/kernel/iommu_groups/" + std::to_string(function.group);
      write(group + "/devices/" + function.address, "");
      host_.link(place + "/iommu_group", group);
    }
  }
  void add_nic(const std::string& name, FakeFunction function) {
    if (function.vendor == 0x10b5) function.vendor = 0x15b3, function.device = 0x1021;
    function.class_code = 0x020000;
    add(function);
    host_.nic(name, function.address);
    write("sys/class/infiniband/" + name + "/ports/1/link_layer", "Ethernet\n");
  }
  void add_gpu(FakeFunction function) {
    function.vendor = 0x10de;
    function.device = 0x2330;
    function.class_code = 0x030200;
    if (function.driver.empty()) function.driver = "nvidia";
    add(function);
  }

  // GPU 0000:04:00.0 and NIC 0000:05:00.0 below two ports of one switch, an NVMe below a third.
  void add_switch() {
    add({.address = "0000:00:01.0",
         .parent = "pci0000:00",
         .type = kRootPort,
         .acs = 0x220,
         .vendor = 0x8086,
         .device = 0x352a,
         .driver = "pcieport",
         .group = 1});
    add({.address = "0000:01:00.0",
         .parent = "0000:00:01.0",
         .type = kUpstreamPort,
         .driver = "pcieport",
         .group = 2});
    add({.address = "0000:02:00.0",
         .parent = "0000:01:00.0",
         .type = kDownstreamPort,
         .acs = 0x170,
         .driver = "pcieport",
         .group = 3});
    add({.address = "0000:02:01.0",
         .parent = "0000:01:00.0",
         .type = kDownstreamPort,
         .acs = 0x170,
         .driver = "pcieport",
         .group = 4});
    add({.address = "0000:02:02.0",
         .parent = "0000:01:00.0",
         .type = kDownstreamPort,
         .acs = 0x170,
         .driver = "pcieport",
         .group = 5});
    add_gpu({.address = "0000:04:00.0", .parent = "0000:02:00.0", .acs = 0x200, .group = 6});
    add_nic("mlx5_0", {.address = "0000:05:00.0",
                       .parent = "0000:02:01.0",
                       .acs = 0x230,
                       .driver = "mlx5_core",
                       .group = 7});
    add({.address = "0000:06:00.0",
         .parent = "0000:02:02.0",
         .vendor = 0x144d,
         .device = 0xa80a,
         .class_code = 0x010802,
         .driver = "nvme",
         .group = 8});
  }

  std::string configuration_path(const std::string& address) const {
    return "sys/bus/pci/devices/" + address + "/config";
  }
  std::string bytes(const std::string& address) const { return text(configuration_path(address)); }
  unsigned word(const std::string& address, unsigned at) const {
    const std::string space = bytes(address);
    return static_cast<unsigned char>(space[at]) | static_cast<unsigned char>(space[at + 1]) << 8;
  }
  void set_word(const std::string& address, unsigned at, unsigned value) const {
    std::string space = bytes(address);
    put(space, at, value);
    write(configuration_path(address), space);
  }
  // The bytes of each function of the tree.
  std::map<std::string, std::string> all_bytes() const {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(root() + "/sys/bus/pci/devices")) {
      all[entry.path().filename()] = bytes(entry.path().filename());
    }
    return all;
  }

  // Programs end well, do nothing and are remembered.
  Machine machine() {
    Machine machine = captured_machine(root());
    machine.run = [this](const std::vector<std::string>& command) -> Result<Ran> {
      std::string line;
      for (const std::string& word : command) line += (line.empty() ? "" : " ") + word;
      ran.push_back(line);
      return on_run ? on_run(line) : Result<Ran>(Ran{});
    };
    return machine;
  }
  std::vector<std::string> ran;
  std::function<Result<Ran>(const std::string& line)> on_run;

  // Capabilities behind others, so that no offset is where a chip usually has it.
  static std::string configuration(const FakeFunction& function) {
    constexpr unsigned kExpress = 0x60;
    std::string space(4096, '\0');
    put(space, 0, function.vendor);
    put(space, 2, function.device);
    put(space, 0x06, 0x10);  // there is a list of capabilities
    put(space, 0x34, 0x40);
    put(space, 0x40, kExpress << 8 | 0x01);
    put(space, kExpress, 0x10);
    put(space, kExpress + 2, 2 | function.type << 4);
    unsigned code = 0;
    while (128u << code < function.read_request) ++code;
    put(space, kExpress + 8, code << 12 | 0x2810u % 0x1000u);
    put(space, kExpress + 10, 0x000f);  // status bits that writing would clear
    put(space, 0x100, 0x0001);          // Advanced Error Reporting
    put(space, 0x102, function.acs << 4 | 1);
    if (function.acs != 0) {
      put(space, function.acs, 0x000d);
      put(space, function.acs + 2, 1);
      put(space, function.acs + 4, function.capabilities);
      put(space, function.acs + 6, function.control);
    }
    return space;
  }
  static void put(std::string& space, unsigned at, unsigned value) {
    space[at] = static_cast<char>(value & 0xff);
    space[at + 1] = static_cast<char>(value >> 8);
  }

 private:
  test::CapturedHost host_;
};

}  // namespace gdr::fix
