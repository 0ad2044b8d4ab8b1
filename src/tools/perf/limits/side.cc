#include "perf/limits/side.h"

#include <sys/utsname.h>

#include <algorithm>

namespace gdr::perf {
namespace {

// "model name	: AMD EPYC 9334" of x86; other processors do not say a name there.
std::string processor_of(const host::Files& files) {
  const std::string text = files.text("proc/cpuinfo");
  const auto label = text.find("model name");
  const auto colon = label == std::string::npos ? label : text.find(": ", label);
  if (colon == std::string::npos) {
    utsname names{};
    return uname(&names) == 0 ? names.machine : "";
  }
  return text.substr(colon + 2, text.find('\n', colon) - colon - 2);
}

std::string gpu_text(const participants::GpuEntry& gpu) {
  return "GPU " + std::to_string(gpu.survey.ordinal) + ": " + gpu.survey.name + " " +
         gpu.survey.pci_address;
}

Port describe_port(const participants::InventoryReport& inventory, const ChosenPort& chosen) {
  Port port;
  port.nic = chosen.port.nic;
  port.number = chosen.port.port;
  port.gid = chosen.gid;
  port.gid_index = chosen.gid_index;
  port.path_mtu = chosen.path_mtu;
  if (const participants::NicEntry* nic = find_nic(inventory, chosen.port.nic)) {
    port.netdev = netdev_of(*nic, chosen.port.port);
    const participants::NicPort* known = find_port(*nic, chosen.port.port);
    if (known && !is_software(inventory, *nic)) port.link_bits_per_second = known->speed * 1e6;
  }
  return port;
}

}  // namespace

Side describe_side(const participants::InventoryReport& inventory, const Chosen& chosen,
                   const std::string& version, const std::string& root) {
  const host::Files files(root);
  Side side;
  side.host = files.line("proc/sys/kernel/hostname");
  side.kernel = files.line("proc/sys/kernel/osrelease");
  side.processor = processor_of(files);
  side.version = version;
  for (const ChosenPort& port : chosen.ports) side.ports.push_back(describe_port(inventory, port));
  side.library = inventory.verbs_path;
  side.soft_nic = inventory.soft_nic;
  side.soft_gpu = inventory.soft_gpu;
  for (const participants::GpuEntry& gpu : inventory.gpus) {
    if (std::ranges::find(chosen.gpus, gpu.survey.ordinal) != chosen.gpus.end()) {
      side.gpus.push_back(gpu_text(gpu));
    }
  }
  return side;
}

}  // namespace gdr::perf
