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

std::string gpu_text(const tool::GpuEntry& gpu) {
  return "GPU " + std::to_string(gpu.survey.ordinal) + ": " + gpu.survey.name + " " +
         gpu.survey.pci_address;
}

}  // namespace

Side describe_side(const tool::InventoryReport& inventory, const Chosen& chosen,
                   const std::string& version, const std::string& root) {
  const host::Files files(root);
  Side side;
  side.host = files.line("proc/sys/kernel/hostname");
  side.kernel = files.line("proc/sys/kernel/osrelease");
  side.processor = processor_of(files);
  side.version = version;
  side.nic = chosen.port.nic;
  side.port = chosen.port.port;
  side.gid = chosen.gid;
  side.gid_index = chosen.gid_index;
  side.path_mtu = chosen.path_mtu;
  side.library = inventory.verbs_path;
  side.soft_nic = inventory.soft_nic;
  side.soft_gpu = inventory.soft_gpu;
  if (const tool::NicEntry* nic = find_nic(inventory, chosen.port.nic)) {
    side.netdev = netdev_of(*nic, chosen.port.port);
    const tool::NicPort* port = find_port(*nic, chosen.port.port);
    if (port && !is_software(inventory, *nic)) side.link_bits_per_second = port->speed * 1e6;
  }
  for (const tool::GpuEntry& gpu : inventory.gpus) {
    if (std::ranges::find(chosen.gpus, gpu.survey.ordinal) != chosen.gpus.end()) {
      side.gpus.push_back(gpu_text(gpu));
    }
  }
  return side;
}

}  // namespace gdr::perf
