#include "host/hardware.h"

#include <algorithm>

#include "host/files.h"

namespace gdr::host {

bool is_software_nic(const Files& files, const std::string& name) {
  return files.line("sys/class/infiniband/" + name + "/hca_type") == "gdrkit software NIC";
}

bool has_rdma_nic(const std::string& root) {
  const Files files(root);
  const std::vector<std::string> names = files.entries("sys/class/infiniband");
  return std::any_of(names.begin(), names.end(),
                     [&files](const std::string& name) { return !is_software_nic(files, name); });
}

bool has_nic_card(const std::string& root) {
  const Files files(root);
  for (const std::string& address : files.entries("sys/bus/pci/devices")) {
    const std::string device = "sys/bus/pci/devices/" + address;
    const std::string kind = files.line(device + "/class").substr(0, 6);
    if (kind != "0x0200" && kind != "0x0207") continue;
    const std::string vendor = files.line(device + "/vendor");
    const bool efa = vendor == "0x1d0f" && files.line(device + "/device").rfind("0xefa", 0) == 0;
    if (kind == "0x0200" && vendor != "0x15b3" && !efa) continue;
    if (files.link_name(device + "/driver") != "vfio-pci") return true;
  }
  return false;
}

std::vector<std::string> gpus(const std::string& root) {
  const Files files(root);
  std::vector<std::string> found;
  for (const std::string& address : files.entries("sys/bus/pci/devices")) {
    const std::string device = "sys/bus/pci/devices/" + address;
    if (files.line(device + "/vendor") == "0x10de" &&
        files.line(device + "/class").rfind("0x03", 0) == 0) {
      found.push_back(address);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

}  // namespace gdr::host
