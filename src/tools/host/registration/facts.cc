#include "host/registration/facts.h"

#include <algorithm>
#include <cstdint>

#include "base/environment.h"
#include "host/pci/vendors.h"

namespace gdr::host {
namespace {

constexpr const char* kKernelRelease = "proc/sys/kernel/osrelease";
constexpr const char* kDriverText = "proc/driver/nvidia/version";
constexpr const char* kSymbols = "proc/kallsyms";

// "580.95.05" in "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.95.05  Release ...".
std::string release_in(const std::string& line) {
  for (std::string_view word : split(line, ' ')) {
    if (!word.empty() && word[0] >= '0' && word[0] <= '9' &&
        word.find('.') != std::string_view::npos) {
      return std::string(word);
    }
  }
  return {};
}

void read_driver(const Files& files, const Inventory& inventory, ReadFacts& read) {
  const std::string text = files.line(kDriverText);
  std::string name = inventory.gpu_driver_version;
  if (name.empty()) name = release_in(text);
  read.facts.driver_name = name;
  read.facts.driver = parse_release(name);
  if (!text.empty()) {
    const bool open = text.find("Open Kernel Module") != std::string::npos;
    read.facts.flavour = open ? Flavour::kOpen : Flavour::kProprietary;
  } else if (read.facts.driver.known() && read.facts.driver.major < 515) {
    read.facts.flavour = Flavour::kProprietary;  // there was no other
  }
  const bool bound =
      std::ranges::any_of(inventory.gpus, [](const Gpu& gpu) { return gpu.driver == "nvidia"; });
  read.driver_loaded = !name.empty() || !text.empty() || bound || is_module_loaded(files, "nvidia");
}

// The oldest GPU decides which flavour of the driver works.
Generation oldest_of(const Inventory& inventory) {
  Generation oldest = Generation::kUnknown;
  for (const Gpu& gpu : inventory.gpus) {
    if (!gpu.pci) continue;
    const Generation one = generation_of(gpu.pci->device);
    if (one == Generation::kUnknown) continue;
    if (oldest == Generation::kUnknown || one < oldest) oldest = one;
  }
  return oldest;
}

bool has_efa_only(const Inventory& inventory) {
  bool efa = false;
  for (const Nic& nic : inventory.nics) {
    if (!nic.pci) continue;  // software devices
    if (nic.driver != "efa") return false;
    efa = true;
  }
  return efa;
}

// In the kernel or a loaded module it is in /proc/kallsyms; in a module that is not loaded, in
// modules.symbols.
void look_for_interface(const Files& files, const Inventory& inventory, const HasSymbol& has_symbol,
                        ReadFacts& read) {
  const auto saw = [&](Tri answer, const std::string& file, const std::string& value) {
    read.interface_seen = answer;
    read.sources.push_back({"/" + file, value});
  };
  const std::string name = kPeerMemorySymbol;
  if (!inventory.peer_memory.empty()) {
    read.interface_seen = Tri::kYes;
    return;
  }
  const std::string aliases = modules_file(files, "modules.symbols");
  const bool shown = files.exists(kSymbols);
  if (shown && has_symbol(name)) return saw(Tri::kYes, kSymbols, name + " is there");
  if (!aliases.empty() && !files.lines_with(aliases, name).empty()) {
    return saw(Tri::kYes, aliases, name + " is there");
  }
  if (!shown) return;
  const bool aliases_shown = !aliases.empty() && files.exists(aliases);
  // If ib_core is a module that is not loaded, only its own symbols could tell.
  const bool tells = read.rdma_loaded || aliases_shown;
  saw(tells ? Tri::kNo : Tri::kUnknown, kSymbols, "no " + name);
}

RdmaStack stack_of(const Files& files, const Inventory& inventory, const ReadFacts& read) {
  if (has_efa_only(inventory)) return RdmaStack::kEfa;
  if (read.interface_seen == Tri::kNo) return RdmaStack::kInbox;
  // OFED's modules share one that no kernel has of its own.
  const bool ofed = is_module_loaded(files, "mlx_compat");
  if (read.interface_seen == Tri::kYes) {
    return ofed ? RdmaStack::kOfed : RdmaStack::kPeerMemoryKernel;
  }
  if (ofed) return RdmaStack::kOfed;
  const RdmaStack inbox = inbox_stack_of(read.facts.kernel_name);
  // OFED may be installed, and not loaded.
  return inbox == RdmaStack::kInbox && !read.rdma_loaded ? RdmaStack::kUnknown : inbox;
}

}  // namespace

bool has_kernel_symbol(const Files& files, const std::string& symbol) {
  return !files.lines_with(kSymbols, symbol).empty();
}

bool is_module_loaded(const Files& files, const std::string& module) {
  std::string name = module;
  std::ranges::replace(name, '-', '_');
  if (files.exists("sys/module/" + name)) return true;
  for (const std::string& line : files.lines_with("proc/modules", name)) {
    if (line.substr(0, line.find(' ')) == name) return true;
  }
  return false;
}

bool has_amd_gpu(const Inventory& inventory) {
  constexpr std::uint32_t kDisplay = 0x03, kAccelerator = 0x12;
  const auto& functions = inventory.pci.functions();
  return std::ranges::any_of(functions, [](const auto& entry) {
    const std::uint32_t kind = entry.second.class_code >> 16;
    return entry.second.vendor == vendor::kAmdGraphics &&
           (kind == kDisplay || kind == kAccelerator);
  });
}

std::string modules_file(const Files& files, const std::string& name, const std::string& root) {
  const std::string kernel = files.line(kKernelRelease);
  // A component of a path: what a hostile capture says of its release must stay one.
  if (kernel.empty() || kernel.find('/') != std::string::npos || kernel == "..") return {};
  return (root.empty() ? "" : root + "/") + "lib/modules/" + kernel + "/" + name;
}

ReadFacts read_registration_facts(const Files& files, const Inventory& inventory,
                                  const HasSymbol& has_symbol) {
  const HasSymbol has = has_symbol ? has_symbol : [&files](const std::string& symbol) {
    return has_kernel_symbol(files, symbol);
  };
  ReadFacts read;
  read.facts.kernel_name = files.line(kKernelRelease);
  read.facts.kernel = parse_release(read.facts.kernel_name);
  read.facts.gpu = oldest_of(inventory);
  read.rdma_loaded = is_module_loaded(files, "ib_core");
  read_driver(files, inventory, read);
  // Red Hat's 4.18 and OFED carry it back; newer kernels need not be asked.
  if (read.facts.kernel.known() && read.facts.kernel < Release{5, 12} && has(kImportSymbol)) {
    read.facts.import_carried_back = true;
    read.sources.push_back({std::string("/") + kSymbols, std::string(kImportSymbol) + " is there"});
  }
  look_for_interface(files, inventory, has, read);
  read.facts.stack = stack_of(files, inventory, read);
  return read;
}

}  // namespace gdr::host
