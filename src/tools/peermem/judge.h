// Why a kernel would refuse a peer-memory module, said before it is tried: modprobe itself says
// "Invalid argument" or "Unknown symbol", and the reason stands in the kernel's log alone.
//
//   for (const Refusal& one : refusals(module, sides)) say(one.text);
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "peermem/module_file.h"

namespace gdr::peermem {

inline constexpr const char* kPagesSymbol = "nvidia_p2p_get_pages";
inline constexpr const char* kClientSymbol = "ib_register_peer_memory_client";

// Whom it meets. What is null is not known, and nothing is said about it.
struct Sides {
  const ModuleFile* driver = nullptr;
  const Exports* rdma = nullptr;    // of the RDMA stack: all of it
  const Exports* kernel = nullptr;  // Module.symvers of the kernel's headers
  std::string kernel_release;
};

enum class Reason {
  kMachine,     // another architecture
  kKernel,      // built for another kernel
  kNoVersions,  // wants symbols without saying which version
  kUnknown,     // wants a symbol that nobody exports
  kVersion,     // wants another version of a symbol
  kGplOnly,     // wants a symbol that its licence, or the driver's taint, keeps from it
  kNoInterface  // was built without the RDMA stack, and does nothing but refuse
};
const char* name_of(Reason reason);

struct Refusal {
  Reason reason;
  std::string symbol;                             // empty: none is to blame
  std::optional<std::uint32_t> wanted, exported;  // of kVersion
  std::string text;      // "disagrees about version of symbol X: it wants …, the driver has …"
  std::string modprobe;  // what modprobe will say: "Invalid argument"
};
// In the order of their names; empty: nothing that is known keeps it out.
std::vector<Refusal> refusals(const ModuleFile& module, const Sides& sides);

// Whether it is of those that the driver and the RDMA stack give to peer-memory modules.
bool is_interface_symbol(const std::string& symbol);

}  // namespace gdr::peermem
