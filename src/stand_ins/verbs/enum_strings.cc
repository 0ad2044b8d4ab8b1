// Names of enumerators, in rdma-core's words: programs print and tests compare them.
#include <infiniband/verbs.h>

#include <array>
#include <cstddef>

#include "verbs/abi.h"

namespace {

template <std::size_t N>
const char* name_in(const std::array<const char*, N>& names, int value, int first = 0) {
  const int index = value - first;
  return index < 0 || static_cast<std::size_t>(index) >= N ? "unknown"
                                                           : names[static_cast<std::size_t>(index)];
}

constexpr std::array kNodeTypes = {"InfiniBand channel adapter",
                                   "InfiniBand switch",
                                   "InfiniBand router",
                                   "iWARP NIC",
                                   "usNIC",
                                   "usNIC UDP",
                                   "unspecified"};
static_assert(kNodeTypes.size() == IBV_NODE_UNSPECIFIED - IBV_NODE_CA + 1);

constexpr std::array kPortStates = {"no state change (NOP)", "down", "init", "armed", "active",
                                    "active defer"};
static_assert(kPortStates.size() == IBV_PORT_ACTIVE_DEFER + 1);

constexpr std::array kEventTypes = {"CQ error",
                                    "local work queue catastrophic error",
                                    "invalid request local work queue error",
                                    "local access violation work queue error",
                                    "communication established",
                                    "send queue drained",
                                    "path migrated",
                                    "path migration request error",
                                    "local catastrophic error",
                                    "port active",
                                    "port error",
                                    "LID change",
                                    "P_Key change",
                                    "SM change",
                                    "SRQ catastrophic error",
                                    "SRQ limit reached",
                                    "last WQE reached",
                                    "client reregistration",
                                    "GID table change",
                                    "WQ fatal"};
static_assert(kEventTypes.size() == IBV_EVENT_WQ_FATAL + 1);

constexpr std::array kStatuses = {"success",
                                  "local length error",
                                  "local QP operation error",
                                  "local EE context operation error",
                                  "local protection error",
                                  "Work Request Flushed Error",
                                  "memory management operation error",
                                  "bad response error",
                                  "local access error",
                                  "remote invalid request error",
                                  "remote access error",
                                  "remote operation error",
                                  "transport retry counter exceeded",
                                  "RNR retry counter exceeded",
                                  "local RDD violation error",
                                  "remote invalid RD request",
                                  "aborted error",
                                  "invalid EE context number",
                                  "invalid EE context state",
                                  "fatal error",
                                  "response timeout error",
                                  "general error",
                                  "TM error",
                                  "TM software rendezvous"};
static_assert(kStatuses.size() == IBV_WC_TM_RNDV_INCOMPLETE + 1);

}  // namespace

GDR_EXPORT const char* ibv_node_type_str(ibv_node_type type) {
  return name_in(kNodeTypes, type, IBV_NODE_CA);
}
GDR_EXPORT const char* ibv_port_state_str(ibv_port_state state) {
  return name_in(kPortStates, static_cast<int>(state));
}
GDR_EXPORT const char* ibv_event_type_str(ibv_event_type type) {
  return name_in(kEventTypes, static_cast<int>(type));
}
GDR_EXPORT const char* ibv_wc_status_str(ibv_wc_status status) {
  return name_in(kStatuses, static_cast<int>(status));
}
