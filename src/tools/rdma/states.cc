#include "rdma/states.h"

#include <string>

namespace gdr::rdma {
namespace {

// 4.096 µs * 2^14 = 67 ms, seven retries: a lost peer is an error completion in about half a
// second.
constexpr std::uint8_t kTimeout = 14;
constexpr std::uint8_t kRetries = 7;
constexpr std::uint8_t kRnrWithoutEnd = 7;     // the wait itself is bounded
constexpr std::uint8_t kMinimumRnrTimer = 12;  // 0.64 ms
constexpr std::uint8_t kHopLimit = 64;

bool is_connected(ibv_qp_type type) { return type != IBV_QPT_UD && type != IBV_QPT_RAW_PACKET; }
bool is_reliable(ibv_qp_type type) { return is_connected(type) && type != IBV_QPT_UC; }

class BringUp {
 public:
  BringUp(const Device& device, ibv_qp* queue_pair, const States& states)
      : device_(device), queue_pair_(queue_pair), states_(states) {}

  Result<void> to_init(const Endpoint& mine) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_INIT;
    attributes.port_num = mine.port;
    int mask = IBV_QP_STATE | IBV_QP_PORT;
    if (states_.type != IBV_QPT_RAW_PACKET) mask |= IBV_QP_PKEY_INDEX;
    if (states_.type == IBV_QPT_UD) {
      attributes.qkey = kQKey;
      mask |= IBV_QP_QKEY;
    } else if (is_connected(states_.type)) {
      attributes.qp_access_flags = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE;
      if (is_reliable(states_.type)) attributes.qp_access_flags |= IBV_ACCESS_REMOTE_READ;
      if (is_reliable(states_.type) && states_.atomics) {
        attributes.qp_access_flags |= IBV_ACCESS_REMOTE_ATOMIC;
      }
      mask |= IBV_QP_ACCESS_FLAGS;
    }
    return modify(attributes, mask, "INIT");
  }

  Result<void> to_ready_to_receive(const Endpoint& mine, const Endpoint& theirs) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RTR;
    int mask = IBV_QP_STATE;
    if (is_connected(states_.type)) {
      attributes.path_mtu = states_.mtu;
      attributes.dest_qp_num = theirs.number;
      attributes.rq_psn = theirs.packet_sequence;
      attributes.ah_attr = path_to(mine, theirs, states_);
      mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN;
    }
    if (is_reliable(states_.type) && states_.type != IBV_QPT_XRC_SEND) {
      attributes.max_dest_rd_atomic = states_.reads;
      attributes.min_rnr_timer = kMinimumRnrTimer;
      mask |= IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
    }
    return modify(attributes, mask, "RTR");
  }

  Result<void> to_ready_to_send(const Endpoint& mine) {
    ibv_qp_attr attributes{};
    attributes.qp_state = IBV_QPS_RTS;
    int mask = IBV_QP_STATE;
    if (states_.type != IBV_QPT_RAW_PACKET) {
      attributes.sq_psn = mine.packet_sequence;
      mask |= IBV_QP_SQ_PSN;
    }
    if (is_reliable(states_.type)) {
      attributes.timeout = kTimeout;
      mask |= IBV_QP_TIMEOUT;
    }
    if (is_reliable(states_.type) && states_.type != IBV_QPT_XRC_RECV) {
      attributes.retry_cnt = kRetries;
      attributes.rnr_retry = kRnrWithoutEnd;
      attributes.max_rd_atomic = states_.reads;
      mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_MAX_QP_RD_ATOMIC;
    }
    return modify(attributes, mask, "RTS");
  }

 private:
  Result<void> modify(ibv_qp_attr attributes, int mask, const char* step) {
    if (int code = device_.library().modify_qp(queue_pair_, &attributes, mask)) {
      const std::string call = std::string("ibv_modify_qp to ") + step;
      return verbs_error(call.c_str(), code > 0 ? code : errno);
    }
    return {};
  }

  const Device& device_;
  ibv_qp* const queue_pair_;
  const States& states_;
};

}  // namespace

ibv_ah_attr path_to(const Endpoint& mine, const Endpoint& theirs, const States& states) {
  ibv_ah_attr path{};
  path.dlid = theirs.lid;
  path.port_num = mine.port;
  path.sl = states.service_level;
  if (theirs.global) {
    path.is_global = 1;
    path.grh.dgid = theirs.gid;
    path.grh.sgid_index = mine.gid_index;
    path.grh.hop_limit = kHopLimit;
    path.grh.traffic_class = states.traffic_class;
  }
  return path;
}

Result<void> bring_up(const Device& device, ibv_qp* queue_pair, const Endpoint& mine,
                      const Endpoint& theirs, const States& states) {
  BringUp way(device, queue_pair, states);
  if (Result<void> done = way.to_init(mine); !done) return done;
  if (Result<void> done = way.to_ready_to_receive(mine, theirs); !done) return done;
  return way.to_ready_to_send(mine);
}

}  // namespace gdr::rdma
