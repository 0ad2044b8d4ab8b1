// Host: what the checks judge: a machine's files and inventory, and what only a live one can tell.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "host/files.h"
#include "host/inventory.h"

namespace gdr::doctor {

class Probes;

struct Host {
  const host::Files& files;
  const host::Inventory& inventory;
  // Variables of this process (NCCL_*, UCX_*, …), or those captured with the machine.
  std::map<std::string, std::string> environment;
  // Live probes; null for a captured machine.
  Probes* probes = nullptr;

  // The kernel log since boot; nothing if not permitted or not captured.
  std::optional<std::string> kernel_log;

  // Whether the kernel has a symbol: /proc/kallsyms takes long to read, so it is kept for the
  // checks that come after.
  mutable std::map<std::string, bool> kernel_symbols;

  // This machine, as it is now: else a captured one.
  bool is_live() const { return files.is_live(); }
};

}  // namespace gdr::doctor
