#include "connected_pair.h"

namespace gdr::bench {

NotConnected connect(ibv_qp* queue_pair, const OtherEnd& other) {
  ibv_qp_attr to{};
  to.qp_state = IBV_QPS_INIT;
  to.port_num = kPort;
  to.qp_access_flags = kAccess;
  if (const int error = ibv_modify_qp(
          queue_pair, &to, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS)) {
    return {"ibv_modify_qp to INIT", error};
  }
  to = {};
  to.qp_state = IBV_QPS_RTR;
  to.path_mtu = IBV_MTU_4096;
  to.dest_qp_num = other.qp_number;
  to.max_dest_rd_atomic = 1;
  to.min_rnr_timer = 12;
  to.ah_attr.is_global = 1;
  to.ah_attr.port_num = kPort;
  to.ah_attr.grh.dgid = other.gid;
  to.ah_attr.grh.hop_limit = 1;
  if (const int error =
          ibv_modify_qp(queue_pair, &to,
                        IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN |
                            IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER)) {
    return {"ibv_modify_qp to RTR", error};
  }
  to = {};
  to.qp_state = IBV_QPS_RTS;
  to.timeout = 14;
  to.retry_cnt = 7;
  to.rnr_retry = 7;
  to.max_rd_atomic = 1;
  const int error = ibv_modify_qp(queue_pair, &to,
                                  IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
                                      IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC);
  if (error != 0) return {"ibv_modify_qp to RTS", error};
  return {};
}

}  // namespace gdr::bench
