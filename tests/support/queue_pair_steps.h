// The steps of a queue pair from RESET over INIT and RTR to RTS, and what each requires
// (ibv_modify_qp(3)).
//
//   ibv_qp_attr attr = attributes_towards(number, gid);
//   for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
//     if (step(qp, attr, state) != 0) ...
//   }
#pragma once

#include <infiniband/verbs.h>

#include <cstdint>

namespace gdr::test {

// As the mask of ibv_modify_qp.
inline int required_for(ibv_qp_state state, ibv_qp_type type) {
  const bool raw = type == IBV_QPT_RAW_PACKET;
  const bool requests = type == IBV_QPT_RC || type == IBV_QPT_XRC_SEND;
  const bool responds = type == IBV_QPT_RC || type == IBV_QPT_XRC_RECV;
  const bool connected = requests || responds || type == IBV_QPT_UC;
  int mask = IBV_QP_STATE;
  if (state == IBV_QPS_INIT) {
    mask |= IBV_QP_PORT | (connected ? IBV_QP_ACCESS_FLAGS : 0);
    if (!raw) mask |= IBV_QP_PKEY_INDEX | (connected ? 0 : IBV_QP_QKEY);
  } else if (state == IBV_QPS_RTR) {
    if (connected) mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    if (responds) mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  } else if (state == IBV_QPS_RTS) {
    if (!raw) mask |= IBV_QP_SQ_PSN;
    if (requests || responds) mask |= IBV_QP_TIMEOUT;
    if (requests) mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
  }
  return mask;
}

// A device's own address as RoCE v2, where programs find it on most NICs.
constexpr std::uint8_t kGidIndex = 3;

// For all of the steps, of a queue pair on port 1 towards that one.
inline ibv_qp_attr attributes_towards(std::uint32_t number, const ibv_gid& gid) {
  ibv_qp_attr attr{};
  attr.port_num = attr.ah_attr.port_num = 1;
  attr.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                         IBV_ACCESS_REMOTE_ATOMIC;
  attr.path_mtu = IBV_MTU_4096;
  attr.dest_qp_num = number;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.grh.dgid = gid;
  attr.ah_attr.grh.sgid_index = kGidIndex;
  attr.max_dest_rd_atomic = attr.max_rd_atomic = 1;
  attr.min_rnr_timer = 12;
  attr.timeout = 14;
  attr.retry_cnt = attr.rnr_retry = 7;
  return attr;
}

// An errno value; 0: done. `more`: what is set besides.
inline int step(ibv_qp* qp, ibv_qp_attr attr, ibv_qp_state state, int more = 0) {
  attr.qp_state = state;
  return ibv_modify_qp(qp, &attr, required_for(state, qp->qp_type) | more);
}

}  // namespace gdr::test
