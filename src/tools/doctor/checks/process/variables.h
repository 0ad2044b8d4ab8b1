// Variables: what the checks of programs' environments share.
//
//   if (const std::string* value = value_of(host, "MC_GID_INDEX")) ...
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "doctor/evidence.h"
#include "doctor/host.h"

namespace gdr::doctor {

// Null: not set.
const std::string* value_of(const Host& host, const std::string& name);
// Evidence of all variables with this prefix.
Evidences variables_with(const Host& host, std::string_view prefix);

// "mlx5_0" of "mlx5_0:1", for each entry of a list; without ^ (not these) and NCCL's = (exactly
// these) in front.
std::vector<std::string> nics_in(std::string_view list);
// The RDMA name is there, as a whole.
bool has_rdma_device(const Host& host, const std::string& name);
// Why this index names no RoCE v2 GID on some active Ethernet port: "mlx5_0 port 1 has no such
// GID"; nothing where it does on all, and where it is no number.
std::optional<std::string> why_no_gid(const Host& host, const std::string& index);

// A warning about one variable; the fix takes it away.
Finding wrong_variable(const std::string& name, const std::string& value,
                       const std::string& summary, const std::string& consequence);

}  // namespace gdr::doctor
