// gdr fix peer-memory: the module that lets a NIC's driver pin GPU memory, where dma-buf cannot.
#include <fmt/format.h>

#include "fix/changes/module.h"
#include "fix/changes/text_file.h"
#include "fix/kernel_version.h"
#include "fix/topics/topics.h"

namespace gdr::fix {
namespace {

constexpr KernelVersion kDmaBuf{5, 12};
constexpr unsigned kOpenDriver = 515;  // the first with open modules

struct Module {
  std::string name;  // empty: none is installed
  bool in_container = false;
  bool both = false;           // the older one is installed too
  bool knows_depends = false;  // there is a list of what modules need
  bool needs_ib_core = false;
};

// "updates/dkms/nvidia-peermem.ko.zst: kernel/drivers/infiniband/core/ib_core.ko.zst …"
std::string dependencies_of(const host::Files& files, const std::string& list,
                            const std::string& module) {
  for (const std::string& line : files.lines_with(list, module + ".ko")) {
    const std::string file = line.substr(0, line.find(':'));
    if (file.substr(file.rfind('/') + 1).rfind(module + ".ko", 0) == 0) return line;
  }
  return {};
}

Module find_module(const host::Files& files) {
  const std::string release = files.line("proc/sys/kernel/osrelease");
  Module module;
  for (const bool in_container : {false, true}) {
    const std::string root = in_container ? std::string(kDriverContainer) + "/" : std::string();
    const std::string list = root + "lib/modules/" + release + "/modules.dep";
    module.knows_depends = module.knows_depends || files.exists(list);
    for (const char* name : {kNvidiaPeermem, kOldPeermem}) {
      const std::string line = dependencies_of(files, list, name);
      if (line.empty()) continue;
      if (!module.name.empty()) {
        module.both = true;
        continue;
      }
      module.name = name;
      module.in_container = in_container;
      module.needs_ib_core = line.find("ib_core.ko", line.find(':')) != std::string::npos;
    }
  }
  return module;
}

bool is_loaded(const host::Files& files) {
  return files.exists("sys/module/nvidia_peermem") || files.exists("sys/module/nv_peer_mem");
}

// By what is installed: whether the NIC's driver takes part, only trying tells.
bool dma_buf_suffices(const Situation& situation) {
  const std::string& version = situation.inventory.gpu_driver_version;
  return situation.inventory.gpu_driver_open && atoi(version.c_str()) >= int{kOpenDriver} &&
         kernel_version(situation.machine.files) >= kDmaBuf;
}

// Why loading it would fail: it says no more than "Invalid argument" itself.
std::string refusal_of(const host::Files& files, const Module& module) {
  if (!files.exists("sys/module/ib_core")) {
    return "ib_core is not loaded: load the NIC's RDMA driver first, as in modprobe mlx5_ib";
  }
  const bool has_symbols = files.exists("proc/kallsyms");
  if (has_symbols && files.lines_with("proc/kallsyms", "ib_register_peer_memory_client").empty()) {
    return "this kernel's RDMA stack has no interface for peer memory "
           "(ib_register_peer_memory_client): use dma-buf (open GPU driver, kernel 5.12 or newer), "
           "or install DOCA-OFED";
  }
  if (!module.needs_ib_core) {
    return fmt::format(
        "{} was built without the RDMA stack and cannot be loaded: build the GPU "
        "driver's modules again, as in dkms install --force nvidia/VERSION",
        module.name);
  }
  return {};
}

void persist(const Situation& situation, const std::string& module, bool in_container,
             Proposal& proposal) {
  const host::Files& files = situation.machine.files;
  if (in_container) {
    proposal.notes.push_back(
        "The container of the driver loads its modules itself: set its "
        "GPU operator's driver.rdma.enabled=true to have this one at boot.");
    return;
  }
  for (const std::string& name : files.entries("etc/modules-load.d")) {
    if (name == "gdrkit.conf") continue;
    if (!files.lines_with("etc/modules-load.d/" + name, module).empty()) return;
  }
  proposal.propose(written_file(situation.machine, kModulesFile, file_text({module})));
}

}  // namespace

void plan_peer_memory(const Situation& situation, Proposal& proposal) {
  const host::Files& files = situation.machine.files;
  if (!files.exists("sys/module/nvidia")) {
    proposal.nothing = situation.inventory.gpus.empty()
                           ? "no NVIDIA GPU here"
                           : "NVIDIA's driver is not loaded: install or load it first";
    return;
  }
  const bool loaded = is_loaded(files);
  const bool asked_for = situation.wishes.named(proposal.topic);
  if (!asked_for && dma_buf_suffices(situation)) {
    proposal.nothing =
        "not needed: kernel and open GPU driver have dma-buf ('gdr prove' tries it); 'gdr fix "
        "peer-memory' loads the module all the same";
    return;
  }
  if (loaded && !situation.wishes.persist) {
    proposal.nothing = "a module for peer memory is loaded";
    return;
  }
  const Module module = find_module(files);
  if (module.name.empty()) {
    proposal.refusals.push_back(
        fmt::format("no module nvidia-peermem for kernel {}: install the GPU driver's kernel "
                    "modules for it",
                    files.line("proc/sys/kernel/osrelease")));
    return;
  }
  const std::string refusal = loaded ? std::string() : refusal_of(files, module);
  if (!loaded) proposal.propose(loaded_module(module.name, module.in_container), refusal);
  if (situation.wishes.persist && refusal.empty()) {
    persist(situation, module.name, module.in_container, proposal);
  }
  if (module.both) {
    proposal.notes.push_back(
        "nvidia-peermem and nv_peer_mem are both installed, and only one of "
        "them may be loaded: remove nv_peer_mem.");
  }
  if (dma_buf_suffices(situation)) {
    proposal.notes.push_back("Programs that use dma-buf do not need this module.");
  }
  if (proposal.changes.empty() && proposal.refusals.empty()) {
    proposal.nothing = "a module for peer memory is loaded, and is so at each boot";
  }
}

}  // namespace gdr::fix
