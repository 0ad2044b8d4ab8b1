#include "doctor/checks/registration/ways.h"

#include <stdio.h>

#include <algorithm>

#include "base/environment.h"

namespace gdr::doctor {
namespace {

constexpr const char* kOsRelease = "proc/sys/kernel/osrelease";
constexpr const char* kDriverVersion = "proc/driver/nvidia/version";
constexpr const char* kKernelSymbols = "proc/kallsyms";
constexpr const char* kImportSymbol = "ib_umem_dmabuf_get";
constexpr const char* kSymbol = "ib_register_peer_memory_client";
// ib_umem_dmabuf_get() came with 5.12; cuMemGetHandleForAddressRange() with CUDA 11.7.
constexpr Release kFirstKernel{5, 12};
constexpr unsigned kFirstDriver = 515;

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

// By release, or by the symbol itself: Red Hat's 4.18 and MLNX_OFED carry it back.
bool kernel_is_too_old(const Host& host, Ways& ways) {
  if (!ways.kernel_release.known() || !(ways.kernel_release < kFirstKernel)) return false;
  if (!has_symbol(host, kImportSymbol)) return true;
  ways.evidence.push_back({"/proc/kallsyms", std::string(kImportSymbol) + " is there"});
  return false;
}

void judge_dma_buf(const Host& host, Ways& ways) {
  const auto no = [&](const std::string& why) {
    ways.dma_buf = Tri::kNo;
    ways.why_no_dma_buf = why;
  };
  if (!ways.driver_loaded) return no("the NVIDIA driver is not loaded");
  if (kernel_is_too_old(host, ways)) return no("kernel " + ways.kernel + " is older than 5.12");
  if (ways.open_driver == Tri::kNo) {
    return no("driver " + ways.driver_version + " is the proprietary kernel module");
  }
  if (ways.driver_release.known() && ways.driver_release.major < kFirstDriver) {
    return no("driver " + ways.driver_version + " is older than 515");
  }
  if (ways.kernel_release.known() && ways.driver_release.known() && ways.open_driver == Tri::kYes) {
    ways.dma_buf = Tri::kYes;
    return;
  }
  ways.why_no_dma_buf = !ways.kernel_release.known()        ? "the kernel's release is not shown"
                        : ways.open_driver == Tri::kUnknown ? "whether the driver's kernel module "
                                                              "is the open one is not shown"
                                                            : "the driver's release is not shown";
}

// Built into the kernel it is in /proc/kallsyms; in a module that is not loaded, in
// modules.symbols.
void judge_peer_interface(const Host& host, Ways& ways) {
  if (ways.peer_memory) {
    ways.peer_interface = Tri::kYes;
    return;
  }
  const bool symbols_shown = host.files.exists(kKernelSymbols);
  const std::string aliases = modules_file(host, "modules.symbols");
  const bool loaded = has_symbol(host, kSymbol);
  const bool offered = !aliases.empty() && !host.files.lines_with(aliases, kSymbol).empty();
  if (loaded || offered) {
    ways.peer_interface = Tri::kYes;
    ways.evidence.push_back(
        {loaded ? "/proc/kallsyms" : "/" + aliases, std::string(kSymbol) + " is there"});
    return;
  }
  if (!symbols_shown) return;
  ways.evidence.push_back({"/proc/kallsyms", std::string("no ") + kSymbol});
  // Where ib_core is a module that is not loaded, only the module's own symbols could tell.
  const bool core_loaded = host.files.exists("sys/module/ib_core");
  const bool aliases_shown = !aliases.empty() && host.files.exists(aliases);
  if (core_loaded || aliases_shown) ways.peer_interface = Tri::kNo;
}

}  // namespace

Action sign_the_module() {
  return to_do(
      "sign the module and enrol the key (mokutil --import KEY.der, with the key that signed it), "
      "then reboot");
}

bool has_symbol(const Host& host, const std::string& symbol) {
  const auto known = host.kernel_symbols.find(symbol);
  if (known != host.kernel_symbols.end()) return known->second;
  const bool found = !host.files.lines_with(kKernelSymbols, symbol).empty();
  host.kernel_symbols[symbol] = found;
  return found;
}

Release parse_release(const std::string& text) {
  Release release;
  if (sscanf(text.c_str(), "%5u.%5u", &release.major, &release.minor) != 2) return {};
  return release;
}

std::string kernel_of(const Host& host) { return host.files.line(kOsRelease); }

std::string modules_file(const Host& host, const std::string& name) {
  const std::string kernel = kernel_of(host);
  // A component of a path: what a hostile capture says of its release must stay one.
  if (kernel.empty() || kernel.find('/') != std::string::npos || kernel == "..") return {};
  return "lib/modules/" + kernel + "/" + name;
}

Ways find_ways(const Host& host) {
  const host::Inventory& inventory = host.inventory;
  Ways ways;
  ways.kernel = kernel_of(host);
  ways.kernel_release = parse_release(ways.kernel);
  ways.driver_version = inventory.gpu_driver_version;
  if (ways.driver_version.empty())
    ways.driver_version = release_in(host.files.line(kDriverVersion));
  ways.driver_release = parse_release(ways.driver_version);
  const std::string version = host.files.line(kDriverVersion);
  ways.driver_loaded = !ways.driver_version.empty() || !version.empty() ||
                       std::any_of(inventory.gpus.begin(), inventory.gpus.end(),
                                   [](const host::Gpu& gpu) { return gpu.driver == "nvidia"; });
  if (!version.empty()) ways.open_driver = inventory.gpu_driver_open ? Tri::kYes : Tri::kNo;
  ways.evidence = {read_line(host.files, kOsRelease), read_line(host.files, kDriverVersion)};
  judge_dma_buf(host, ways);
  ways.peer_memory = !inventory.peer_memory.empty();
  for (const std::string& path : inventory.peer_memory) ways.evidence.push_back({path, "there"});
  judge_peer_interface(host, ways);
  return ways;
}

}  // namespace gdr::doctor
