// Whether this host has a real RDMA NIC and a real NVIDIA GPU: what `gdr run` replaces by default
// is what is missing.
//
//   Hardware hardware = detect_hardware("/");
//   if (!hardware.nic) ...
#pragma once

#include <string>

namespace gdr::cli {

struct Hardware {
  bool nic = false;  // the kernel has registered an RDMA device
  bool gpu = false;  // the NVIDIA driver is loaded, or libcuda drives an NVIDIA PCI device
};

// `root` is "/" or, in tests, a folder that looks like it.
Hardware detect_hardware(const std::string& root);

}  // namespace gdr::cli
