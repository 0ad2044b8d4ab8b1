#include "host/hardware.h"

#include "host/files.h"

namespace gdr::host {

bool has_rdma_nic(const std::string& root) {
  return !Files(root).entries("sys/class/infiniband").empty();
}

bool has_gpu(const std::string& root) {
  const Files files(root);
  for (const std::string& address : files.entries("sys/bus/pci/devices")) {
    const std::string device = "sys/bus/pci/devices/" + address;
    if (files.line(device + "/vendor") == "0x10de" &&
        files.line(device + "/class").rfind("0x03", 0) == 0) {
      return true;
    }
  }
  return false;
}

}  // namespace gdr::host
