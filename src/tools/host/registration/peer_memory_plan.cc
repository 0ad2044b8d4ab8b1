#include "host/registration/peer_memory_plan.h"

#include <algorithm>
#include <array>

#include "host/pci/vendors.h"
#include "host/registration/driver_roots.h"

namespace gdr::host {
namespace {

// "nvidia-peermem.ko.zst" of "updates/dkms/nvidia-peermem.ko.zst: kernel/drivers/…".
std::string file_of(const std::string& line) {
  const std::string path = line.substr(0, line.find(':'));
  return path.substr(path.rfind('/') + 1);
}

// Debian's is nvidia-current-peermem.ko, which modprobe knows as nvidia-peermem too.
bool is_file_of(const std::string& file, PeerModule module) {
  const std::string name = file.substr(0, file.find('.'));
  if (module != PeerModule::kNvidiaPeermem) return name == name_of(module);
  return name.starts_with("nvidia-") && name.ends_with("-peermem");
}

std::string line_of(const Files& files, const std::string& root, PeerModule module) {
  const std::string list = modules_file(files, "modules.dep", root);
  if (list.empty()) return {};
  for (const std::string& line : files.lines_with(list, "peer")) {
    if (line.find(':') != std::string::npos && is_file_of(file_of(line), module)) return line;
  }
  return {};
}

// What may serve, the best first: nv_peer_mem does with every driver, where it is installed.
std::vector<PeerModule> modules_for(PeerModule wanted) {
  if (wanted == PeerModule::kNvidiaPeermem) return {wanted, PeerModule::kNvPeerMem};
  return {wanted};
}

struct Search {
  InstalledModule found;
  bool shown = false;    // some modules.dep can be read
  std::string own_root;  // the driver's, where it has one
};

Search find_installed(const Files& files, PeerModule wanted,
                      const std::vector<std::string>& roots) {
  Search search;
  // There before its modules are, or without those of this kernel.
  if (files.exists(kOperatorsDriverRoot)) search.own_root = kOperatorsDriverRoot;
  for (const std::string& root : roots) {
    const std::string list = modules_file(files, "modules.dep", root);
    search.shown |= !list.empty() && files.exists(list);
    if (!root.empty() && search.own_root.empty()) search.own_root = root;
    for (const PeerModule module : modules_for(wanted)) {
      const std::string line = line_of(files, root, module);
      if (line.empty()) continue;
      InstalledModule& found = search.found;
      if (found.module != PeerModule::kNone) {
        found.both |= found.module != module;
        continue;
      }
      found.module = module;
      found.root = root;
      found.line = line;
      found.needs_rdma = module == PeerModule::kEfaNvPeermem ||
                         line.find("ib_core", line.find(':')) != std::string::npos;
      for (const char* place : {"/usr/sbin/modprobe", "/sbin/modprobe", "/usr/bin/modprobe"}) {
        found.has_modprobe |= !root.empty() && files.exists(root + place);
      }
    }
  }
  return search;
}

// nvidia_peermem does not serve EFA NICs, and efa_nv_peermem serves no others.
std::string loaded_client(const Files& files, const Inventory& inventory, PeerModule module) {
  if (module == PeerModule::kEfaNvPeermem) {
    return is_module_loaded(files, "efa_nv_peermem") ? "efa_nv_peermem" : "";
  }
  for (const char* name : {"nvidia_peermem", "nv_peer_mem"}) {
    if (is_module_loaded(files, name)) return name;
  }
  return inventory.peer_memory.empty() ? "" : inventory.peer_memory.front();
}

bool has_mellanox(const Inventory& inventory) {
  const auto& functions = inventory.pci.functions();
  return std::ranges::any_of(
      functions, [](const auto& entry) { return entry.second.vendor == vendor::kMellanox; });
}

// For a driver whose own module does not fit, or is not there.
text::Command build() {
  return text::Command("gdr peermem build && sudo gdr peermem install nvidia-peermem.ko");
}

std::string with_alternative(const std::string& note, const std::string& remedy) {
  return remedy.empty() ? note : note + "; or " + remedy;
}

void not_installed(const Search& search, PeerMemoryPlan& plan) {
  const RegistrationWays& ways = plan.ways;
  const std::string& kernel = plan.read.facts.kernel_name;
  plan.reason = std::string("no module ") + name_of(ways.module) + " for kernel " + kernel;
  std::string note;
  text::Command command;
  switch (ways.module) {
    case PeerModule::kEfaNvPeermem:
      note = "install it with AWS's EFA installer (efa_installer.sh --enable-gdr)";
      break;
    case PeerModule::kNvPeerMem:
      note =
          "build and install nv_peer_mem, which drivers before 470 need (they bring no "
          "nvidia-peermem)";
      break;
    default:
      command = build();
      note = "builds it for this driver; or " +
             (search.own_root.empty() ? "install the GPU driver's kernel modules for this kernel"
                                      : "recreate the pod of the driver below /" + search.own_root +
                                            ", with driver.rdma.enabled=true in the GPU operator");
  }
  plan.advice = {command, with_alternative(note, ways.remedy)};
}

// "nvidia" of "updates/dkms/nvidia-peermem.ko.zst", as dkms calls the package.
std::string dkms_name(const std::string& line) {
  if (line.substr(0, line.find(':')).find("dkms/") == std::string::npos) return {};
  const std::string file = file_of(line);
  return file.substr(0, file.find("-peermem"));
}

Advice rebuild_of(const InstalledModule& module, const std::string& release) {
  const std::string package =
      module.module == PeerModule::kNvidiaPeermem ? dkms_name(module.line) : std::string();
  if (!module.root.empty()) {
    return {build(),
            "builds one for exactly this driver and RDMA stack; or recreate the driver's pod while "
            "the RDMA driver is loaded, with driver.rdma.enabled=true in the GPU operator"};
  }
  if (!package.empty() && !release.empty()) {
    return {text::Command("sudo dkms install --force {}", package + "/" + release),
            "rebuilds it for the running kernel; repeat this after each change of the RDMA stack"};
  }
  if (module.module == PeerModule::kNvidiaPeermem) {
    return {build(),
            "builds one for exactly this driver and RDMA stack; repeat this after each change of "
            "either"};
  }
  return {{}, "build " + module.name() + " again, after every change of the RDMA stack"};
}

// Why loading it would fail: modprobe itself says no more than "Invalid argument".
void judge_loading(const Files& files, const Inventory& inventory, const std::string& driver_root,
                   PeerMemoryPlan& plan) {
  const RegistrationWays& ways = plan.ways;
  const bool efa = ways.module == PeerModule::kEfaNvPeermem;
  const Search search = find_installed(
      files, ways.module, driver_roots(files, plan.read.facts.driver_name, driver_root));
  plan.installed = search.found;
  plan.rebuild = rebuild_of(plan.installed, plan.read.facts.driver_name);
  plan.loaded = loaded_client(files, inventory, ways.module);
  if (!plan.loaded.empty()) {
    plan.loading = Loading::kLoaded;
  } else if (ways.peer_memory == Tri::kNo) {
    plan.reason = ways.why_no_peer_memory;
    plan.advice.note = ways.remedy.empty() ? "use dma-buf, which this host supports" : ways.remedy;
  } else if (search.shown && search.found.module == PeerModule::kNone) {
    not_installed(search, plan);
  } else if (!efa && !plan.read.rdma_loaded) {
    plan.wants_rdma_driver = true;
    plan.reason = "ib_core and the RDMA driver are not loaded";
    plan.advice.command =
        text::Command("sudo modprobe {}", has_mellanox(inventory) ? "mlx5_ib" : "ib_core");
  } else if (search.shown && !search.found.needs_rdma) {
    plan.reason = plan.installed.name() + " was built without the RDMA stack and cannot be loaded";
    plan.advice = plan.rebuild;
  } else {
    plan.loading = Loading::kCanLoad;
    // No list of modules is shown: it is tried by its name.
    if (plan.installed.module == PeerModule::kNone) plan.installed.module = ways.module;
  }
}

}  // namespace

text::Command InstalledModule::command() const {
  if (root.empty()) return text::Command("sudo modprobe {}", name());
  if (has_modprobe) return text::Command("sudo chroot /{} modprobe {}", root, name());
  return text::Command("sudo modprobe -d /{} {}", root, name());
}

PeerMemoryPlan plan_peer_memory(const Files& files, const Inventory& inventory,
                                const PlanOptions& options) {
  PeerMemoryPlan plan;
  plan.read = read_registration_facts(files, inventory, options.has_symbol);
  plan.ways = ways_of(plan.read.facts);
  if (plan.ways.dma_buf == Tri::kYes) plan.needed = Tri::kNo;
  if (plan.ways.dma_buf == Tri::kNo) plan.needed = Tri::kYes;
  judge_loading(files, inventory, options.driver_root, plan);
  return plan;
}

}  // namespace gdr::host
