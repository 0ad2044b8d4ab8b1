#include "connected_pair.h"

#include <utility>

#include "../tests/support/queue_pair_steps.h"

namespace gdr::bench {

NotConnected connect(ibv_qp* queue_pair, const OtherEnd& other) {
  ibv_qp_attr to = test::attributes_towards(other.qp_number, other.gid);
  to.qp_access_flags = kAccess;
  to.ah_attr.grh.hop_limit = 1;
  constexpr std::pair<ibv_qp_state, const char*> kSteps[] = {
      {IBV_QPS_INIT, "ibv_modify_qp to INIT"},
      {IBV_QPS_RTR, "ibv_modify_qp to RTR"},
      {IBV_QPS_RTS, "ibv_modify_qp to RTS"}};
  for (const auto& [state, name] : kSteps) {
    if (const int error = test::step(queue_pair, to, state)) return {name, error};
  }
  return {};
}

}  // namespace gdr::bench
