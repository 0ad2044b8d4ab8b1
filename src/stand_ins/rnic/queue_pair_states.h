// Which changes of state a queue pair may make, and which attributes each needs: the table of the
// specification's clauses C10-17 and following, as ibv_modify_qp(3) prints it.
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace gdr::rnic {

// 0, or EINVAL for a transition that does not exist, an attribute that is missing or one that the
// transition does not take.
int check_transition(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask);

// EINVAL when one of the attributes named by the mask has a value the device, whose port has that
// many GIDs, does not offer.
int check_values(const ibv_qp_attr& attributes, int mask, std::uint32_t gid_count);

}  // namespace gdr::rnic
