// Variables: what the checks of programs' environments share.
//
//   if (const std::string* value = value_of(host, "MC_GID_INDEX")) ...
#pragma once

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
// Warns of each NIC of a list that is not there.
void judge_nic_list(const Host& host, const std::string& variable, const std::string& program,
                    Findings& findings);
// The active Ethernet ports on which this index names no RoCE v2 GID: "mlx5_0 port 1 has no such
// GID", "on mlx5_0 port 1 that is IB/RoCE v1". Empty if `index` is not a number.
struct MissingGid {
  std::string where;
  bool is_there = false;  // as another kind
};
std::vector<MissingGid> missing_gids(const Host& host, const std::string& index);
// Warns of the first of them.
void judge_gid_index(const Host& host, const std::string& variable, const std::string& program,
                     Findings& findings);

// A warning about one variable; the fix takes it away.
Finding wrong_variable(const std::string& name, const std::string& value,
                       const std::string& summary, const std::string& consequence);

}  // namespace gdr::doctor
