#include "rnic/queue_pair_states.h"

#include <cerrno>

#include "rnic/queue_pair.h"

namespace gdr::rnic {
namespace {

struct Transition {
  ibv_qp_type type;
  ibv_qp_state from, to;
  int required, optional;
};

constexpr int kRcRtsOptional = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH |
                               IBV_QP_MIN_RNR_TIMER | IBV_QP_PATH_MIG_STATE;
constexpr int kUcRtsOptional =
    IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;
constexpr int kUdOptional = IBV_QP_CUR_STATE | IBV_QP_QKEY;
constexpr int kConnectedInit = IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kUcReady = IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
constexpr int kReadyOptional = IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX;

constexpr Transition kTransitions[] = {
    {IBV_QPT_RC, IBV_QPS_RESET, IBV_QPS_INIT, kConnectedInit, 0},
    {IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_INIT, 0, kConnectedInit},
    {IBV_QPT_RC, IBV_QPS_INIT, IBV_QPS_RTR,
     kUcReady | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, kReadyOptional},
    {IBV_QPT_RC, IBV_QPS_RTR, IBV_QPS_RTS,
     IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
     kRcRtsOptional},
    {IBV_QPT_RC, IBV_QPS_RTS, IBV_QPS_RTS, 0, kRcRtsOptional},

    {IBV_QPT_UC, IBV_QPS_RESET, IBV_QPS_INIT, kConnectedInit, 0},
    {IBV_QPT_UC, IBV_QPS_INIT, IBV_QPS_INIT, 0, kConnectedInit},
    {IBV_QPT_UC, IBV_QPS_INIT, IBV_QPS_RTR, kUcReady, kReadyOptional},
    {IBV_QPT_UC, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, kUcRtsOptional},
    {IBV_QPT_UC, IBV_QPS_RTS, IBV_QPS_RTS, 0, kUcRtsOptional},
    {IBV_QPT_UC, IBV_QPS_SQE, IBV_QPS_RTS, 0, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS},

    {IBV_QPT_XRC_SEND, IBV_QPS_RESET, IBV_QPS_INIT, kConnectedInit, 0},
    {IBV_QPT_XRC_SEND, IBV_QPS_INIT, IBV_QPS_INIT, 0, kConnectedInit},
    {IBV_QPT_XRC_SEND, IBV_QPS_INIT, IBV_QPS_RTR, kUcReady, kReadyOptional},
    {IBV_QPT_XRC_SEND, IBV_QPS_RTR, IBV_QPS_RTS,
     IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC,
     kUcRtsOptional},
    {IBV_QPT_XRC_SEND, IBV_QPS_RTS, IBV_QPS_RTS, 0, kUcRtsOptional},

    {IBV_QPT_XRC_RECV, IBV_QPS_RESET, IBV_QPS_INIT, kConnectedInit, 0},
    {IBV_QPT_XRC_RECV, IBV_QPS_INIT, IBV_QPS_INIT, 0, kConnectedInit},
    {IBV_QPT_XRC_RECV, IBV_QPS_INIT, IBV_QPS_RTR,
     kUcReady | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER, kReadyOptional},
    {IBV_QPT_XRC_RECV, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN | IBV_QP_TIMEOUT, kRcRtsOptional},
    {IBV_QPT_XRC_RECV, IBV_QPS_RTS, IBV_QPS_RTS, 0, kRcRtsOptional},

    {IBV_QPT_UD, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY, 0},
    {IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_QKEY},
    {IBV_QPT_UD, IBV_QPS_INIT, IBV_QPS_RTR, 0, IBV_QP_PKEY_INDEX | IBV_QP_QKEY},
    {IBV_QPT_UD, IBV_QPS_RTR, IBV_QPS_RTS, IBV_QP_SQ_PSN, kUdOptional},
    {IBV_QPT_UD, IBV_QPS_RTS, IBV_QPS_RTS, 0, kUdOptional},
    {IBV_QPT_UD, IBV_QPS_SQE, IBV_QPS_RTS, 0, kUdOptional},

    {IBV_QPT_RAW_PACKET, IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PORT, 0},
    {IBV_QPT_RAW_PACKET, IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PORT},
    {IBV_QPT_RAW_PACKET, IBV_QPS_INIT, IBV_QPS_RTR, 0, 0},
    {IBV_QPT_RAW_PACKET, IBV_QPS_RTR, IBV_QPS_RTS, 0, IBV_QP_RATE_LIMIT},
    {IBV_QPT_RAW_PACKET, IBV_QPS_RTS, IBV_QPS_RTS, 0, IBV_QP_RATE_LIMIT},
    {IBV_QPT_RAW_PACKET, IBV_QPS_SQE, IBV_QPS_RTS, 0, 0},
};

bool address_is_served(const ibv_ah_attr& address, std::uint32_t gid_count) {
  return (address.port_num == 0 || address.port_num == 1) &&
         (address.is_global == 0 || address.grh.sgid_index < gid_count);
}

}  // namespace

int check_transition(ibv_qp_type type, ibv_qp_state from, ibv_qp_state to, int mask) {
  const int given = mask & ~IBV_QP_STATE;
  if (to == IBV_QPS_RESET || to == IBV_QPS_ERR) {
    return (given & ~IBV_QP_CUR_STATE) == 0 ? 0 : EINVAL;
  }
  for (const Transition& row : kTransitions) {
    if (row.type != type || row.from != from || row.to != to) continue;
    if ((given & row.required) != row.required) return EINVAL;
    return (given & ~(row.required | row.optional)) == 0 ? 0 : EINVAL;
  }
  return EINVAL;
}

int check_values(const ibv_qp_attr& a, int mask, std::uint32_t gid_count) {
  const bool wrong =
      ((mask & IBV_QP_PORT) && a.port_num != 1) ||
      ((mask & IBV_QP_PKEY_INDEX) && a.pkey_index != 0) ||
      ((mask & IBV_QP_PATH_MTU) && (a.path_mtu < IBV_MTU_256 || a.path_mtu > IBV_MTU_4096)) ||
      ((mask & IBV_QP_DEST_QPN) && a.dest_qp_num > 0xff'ffff) ||
      ((mask & IBV_QP_AV) && !address_is_served(a.ah_attr, gid_count)) ||
      ((mask & IBV_QP_MAX_DEST_RD_ATOMIC) && a.max_dest_rd_atomic > kMaxReadAtomic) ||
      ((mask & IBV_QP_MAX_QP_RD_ATOMIC) && a.max_rd_atomic > kMaxReadAtomic) ||
      ((mask & IBV_QP_MIN_RNR_TIMER) && a.min_rnr_timer > 31) ||
      ((mask & IBV_QP_TIMEOUT) && a.timeout > 31) ||
      ((mask & IBV_QP_RETRY_CNT) && a.retry_cnt > 7) ||
      ((mask & IBV_QP_RNR_RETRY) && a.rnr_retry > 7);
  return wrong ? EINVAL : 0;
}

}  // namespace gdr::rnic
