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
  // Of the process that asks (NCCL_*, UCX_*, …), or that were captured with the machine.
  std::map<std::string, std::string> environment;
  // What only this machine can be asked; null: nothing can.
  Probes* probes = nullptr;

  // This machine, as it is now: else a captured one.
  bool is_live() const { return files.is_live(); }
};

}  // namespace gdr::doctor
