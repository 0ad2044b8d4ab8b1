// A machine's PCI tree as sysfs would show it, below a temporary root: made up piece by piece.
//
//   CapturedHost host;
//   host.bridge("0000:00:01.0", "pci0000:00");
//   host.function({"0000:01:00.0", "0000:00:01.0", "16", "32", 16, 16});
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <string>

#include "scratch_folder.h"

namespace gdr::test {

struct PciSample {
  std::string address, parent;    // parent: a bridge's address, or "pci0000:00"
  std::string speed, most_speed;  // GT/s
  int width = 0, most_width = 0, node = -1;
  int max_payload = 0, max_read = 0;  // 0: the configuration space cannot be read
  bool relaxed = false;
};

class CapturedHost : public ScratchFolder {
 public:
  // `target` is below the root.
  void link(const std::string& path, const std::string& target) const {
    ScratchFolder::link(
        path, std::filesystem::relative(root_ / target, (root_ / path).parent_path()).string());
  }

  void bridge(const std::string& address, const std::string& parent) {
    function({address, parent, "", "", 0, 0, -1, 0, 0, false});
  }
  void function(const PciSample& sample) {
    const std::string above = sample.parent.substr(0, 3) == "pci" ? "sys/devices/" + sample.parent
                                                                  : places_[sample.parent];
    const std::string place = above + "/" + sample.address;
    places_[sample.address] = place;
    write(place + "/numa_node", std::to_string(sample.node) + "\n");
    if (!sample.speed.empty()) {
      write(place + "/current_link_speed", sample.speed + " GT/s PCIe\n");
      write(place + "/max_link_speed", sample.most_speed + " GT/s PCIe\n");
      write(place + "/current_link_width", std::to_string(sample.width) + "\n");
      write(place + "/max_link_width", std::to_string(sample.most_width) + "\n");
    }
    if (sample.max_payload > 0) write(place + "/config", config(sample));
    link("sys/bus/pci/devices/" + sample.address, place);
  }
  void nic(const std::string& name, const std::string& address) {
    link("sys/class/infiniband/" + name + "/device", places_[address]);
  }

  // Configuration space whose second capability is PCI Express.
  static std::string config(const PciSample& sample) {
    const auto coded = [](int bytes) {
      int code = 0;
      while (128 << code < bytes) ++code;
      return code;
    };
    const int control =
        coded(sample.max_payload) << 5 | coded(sample.max_read) << 12 | (sample.relaxed ? 0x10 : 0);
    std::string space(256, '\0');
    space[0x34] = 0x40;
    space[0x40] = 0x01;  // power management
    space[0x41] = 0x60;
    space[0x60] = 0x10;
    space[0x68] = static_cast<char>(control & 0xff);
    space[0x69] = static_cast<char>(control >> 8);
    return space;
  }

 private:
  std::map<std::string, std::string> places_;
};

}  // namespace gdr::test
