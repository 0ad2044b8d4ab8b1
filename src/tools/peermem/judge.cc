#include "peermem/judge.h"

#include <fmt/format.h>

#include "peermem/elf.h"

namespace gdr::peermem {
namespace {

constexpr const char* kInvalid = "Invalid argument";
constexpr const char* kUnknownSymbol = "Unknown symbol in module, or unknown parameter";
constexpr const char* kFormat = "Exec format error";

bool is_driver_symbol(const std::string& symbol) { return symbol.starts_with("nvidia_p2p_"); }
bool is_rdma_symbol(const std::string& symbol) {
  return symbol.starts_with("ib_") && symbol.ends_with("_peer_memory_client");
}

class Judge {
 public:
  Judge(const ModuleFile& module, const Sides& sides) : module_(module), sides_(sides) {}

  std::vector<Refusal> take() {
    formats();
    if (found_.empty()) symbols();
    return std::move(found_);
  }

 private:
  void add(Reason reason, const char* modprobe, std::string text, std::string symbol = {}) {
    found_.push_back({reason, std::move(symbol), {}, {}, std::move(text), modprobe});
  }

  // What the kernel looks at before any symbol.
  void formats() {
    if (sides_.driver != nullptr && sides_.driver->machine != module_.machine) {
      return add(Reason::kMachine, kFormat,
                 fmt::format("it is for {}, and the driver for {}", machine_name(module_.machine),
                             machine_name(sides_.driver->machine)));
    }
    const std::string& kernel = sides_.kernel_release;
    // With symbol versions the kernel compares those, and of vermagic only what is behind the
    // release.
    if (!module_.has_versions && !kernel.empty() && module_.kernel() != kernel) {
      return add(Reason::kKernel, kFormat,
                 fmt::format("it was built for kernel {}, not {}", module_.kernel(), kernel));
    }
    if (sides_.driver == nullptr || sides_.driver->kernel() != kernel) return;
    const auto flags = [](const ModuleFile& one) {
      return one.vermagic.substr(std::min(one.kernel().size(), one.vermagic.size()));
    };
    if (flags(module_) != flags(*sides_.driver)) {
      add(Reason::kKernel, kFormat,
          fmt::format("it was built for a kernel of another configuration: version magic '{}', the "
                      "driver's '{}'",
                      module_.vermagic, sides_.driver->vermagic));
    }
  }

  void symbols() {
    if (!module_.imports.contains(kClientSymbol)) {
      add(Reason::kNoInterface, kInvalid,
          std::string("it was built without the RDMA stack: it does not use ") + kClientSymbol,
          kClientSymbol);
    }
    for (const auto& [symbol, crc] : module_.imports) {
      if (is_driver_symbol(symbol)) {
        if (sides_.driver != nullptr) {
          one_symbol(symbol, crc, sides_.driver->exports, "the GPU driver");
        }
      } else if (is_rdma_symbol(symbol)) {
        if (sides_.rdma != nullptr) one_symbol(symbol, crc, *sides_.rdma, "the RDMA stack");
      } else if (sides_.kernel != nullptr) {
        of_the_kernel(symbol, crc);
      }
    }
  }

  void one_symbol(const std::string& symbol, std::optional<std::uint32_t> wanted,
                  const Exports& exports, const char* whose) {
    const auto found = exports.find(symbol);
    if (found == exports.end()) {
      return add(Reason::kUnknown, kUnknownSymbol,
                 fmt::format("Unknown symbol {}: {} does not export it", symbol, whose), symbol);
    }
    const Export& exported = found->second;
    if (exported.gpl_only && !is_gpl_compatible(module_.license)) {
      return add(Reason::kGplOnly, kUnknownSymbol,
                 fmt::format("Unknown symbol {}: {} exports it to GPL-compatible modules only, and "
                             "this one's licence is {}",
                             symbol, whose, module_.license),
                 symbol);
    }
    compare(symbol, wanted, exported, whose);
  }

  void compare(const std::string& symbol, std::optional<std::uint32_t> wanted,
               const Export& exported, const char* whose) {
    if (!exported.crc) return;
    if (!module_.has_versions) {
      if (no_versions_said_) return;
      no_versions_said_ = true;
      return add(Reason::kNoVersions, kFormat,
                 fmt::format("no symbol version for {}: it was built without any", symbol), symbol);
    }
    if (!wanted || *wanted == *exported.crc) return;  // for a missing one the kernel only warns
    add(Reason::kVersion, kInvalid,
        fmt::format("disagrees about version of symbol {}: it wants {}, {} has {}", symbol,
                    crc_text(wanted), whose, crc_text(exported.crc)),
        symbol);
    found_.back().wanted = wanted;
    found_.back().exported = exported.crc;
  }

  // Symbols of other modules are not in the kernel's list.
  void of_the_kernel(const std::string& symbol, std::optional<std::uint32_t> wanted) {
    const auto found = sides_.kernel->find(symbol);
    if (found == sides_.kernel->end()) return;
    const bool tainted = sides_.driver != nullptr && !is_gpl_compatible(sides_.driver->license);
    if (found->second.gpl_only && tainted) {
      return add(Reason::kGplOnly, kUnknownSymbol,
                 fmt::format("Unknown symbol {}: the kernel exports it to GPL modules only, and a "
                             "module beside a driver of licence {} counts as none",
                             symbol, sides_.driver->license),
                 symbol);
    }
    compare(symbol, wanted, found->second, "the kernel");
  }

  const ModuleFile& module_;
  const Sides& sides_;
  bool no_versions_said_ = false;
  std::vector<Refusal> found_;
};

}  // namespace

const char* name_of(Reason reason) {
  constexpr const char* kNames[] = {"machine", "kernel",   "no-versions", "unknown-symbol",
                                    "version", "gpl-only", "no-interface"};
  return kNames[static_cast<std::size_t>(reason)];
}

std::vector<Refusal> refusals(const ModuleFile& module, const Sides& sides) {
  return Judge(module, sides).take();
}

bool is_interface_symbol(const std::string& symbol) {
  return is_driver_symbol(symbol) || is_rdma_symbol(symbol);
}

}  // namespace gdr::peermem
