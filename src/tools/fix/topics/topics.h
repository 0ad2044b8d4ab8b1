// The topics of gdr fix, a file each.
#pragma once

#include "fix/plan.h"

namespace gdr::fix {

void plan_access_control(const Situation& situation, Proposal& proposal);
void plan_peer_memory(const Situation& situation, Proposal& proposal);
void plan_locked_memory(const Situation& situation, Proposal& proposal);
void plan_max_read_request(const Situation& situation, Proposal& proposal);
void plan_persistence(const Situation& situation, Proposal& proposal);
void plan_roce(const Situation& situation, Proposal& proposal);

}  // namespace gdr::fix
