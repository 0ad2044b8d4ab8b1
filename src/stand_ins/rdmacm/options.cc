#include <cerrno>
#include <cstring>

#include "rdmacm/state.h"
#include "rdmacm/surface.h"

namespace gdr::rdmacm {
namespace {

bool takes_ack_timeout(const Id& id) {
  return id.visible.qp_type == IBV_QPT_RC || id.visible.qp_type == IBV_QPT_XRC_SEND;
}

// The kernel's rules (rdma_set_reuseaddr, rdma_set_afonly, rdma_set_ack_timeout).
int set_id_option(Id& id, int name, const void* value, std::size_t bytes) {
  int number = 0;
  switch (name) {
    case RDMA_OPTION_ID_TOS:
    case RDMA_OPTION_ID_ACK_TIMEOUT: {
      if (bytes != 1) return EINVAL;
      const std::uint8_t byte = *static_cast<const std::uint8_t*>(value);
      if (name == RDMA_OPTION_ID_TOS) {
        id.traffic_class = byte;
      } else if (byte > 31 || !takes_ack_timeout(id)) {
        return EINVAL;
      } else {
        id.ack_timeout = byte;
      }
      return 0;
    }
    case RDMA_OPTION_ID_REUSEADDR:
      if (bytes != sizeof number) return EINVAL;
      std::memcpy(&number, value, sizeof number);
      if (number != 0 ? id.phase == Phase::kListening : id.phase != Phase::kIdle) return EINVAL;
      id.reuse_address = number != 0;
      return 0;
    case RDMA_OPTION_ID_AFONLY:
      if (bytes != sizeof number) return EINVAL;
      std::memcpy(&number, value, sizeof number);
      if (id.phase != Phase::kIdle && id.phase != Phase::kBound) return EINVAL;
      id.family_only_option = id.family_only = number != 0;
      return 0;
    default:
      return ENOSYS;
  }
}

}  // namespace
}  // namespace gdr::rdmacm

using namespace gdr::rdmacm;

GDR_EXPORT int rdma_set_option(rdma_cm_id* id, int level, int name, void* value,
                               std::size_t bytes) {
  Library& l = library();
  const Guard guard(l.lock);
  if (const int error = enter(l, id); error != 0) return fail(error);
  if (value == nullptr) return fail(EINVAL);
  if (level == RDMA_OPTION_ID) return fail(set_id_option(of(id), name, value, bytes));
  // Paths come from a subnet administrator, which RoCE does not have.
  return fail(level == RDMA_OPTION_IB && name == RDMA_OPTION_IB_PATH ? EINVAL : ENOSYS);
}

GDR_EXPORT int rdma_set_local_ece(rdma_cm_id* id, ibv_ece* ece) {
  Library& l = library();
  const Guard guard(l.lock);
  if (const int error = enter(l, id); error != 0) return fail(error);
  if (id->qp != nullptr || ece == nullptr || ece->vendor_id == 0 || ece->comp_mask != 0) {
    return fail(EINVAL);
  }
  of(id).local_ece = *ece;
  return 0;
}

GDR_EXPORT int rdma_get_remote_ece(rdma_cm_id* id, ibv_ece* ece) {
  Library& l = library();
  const Guard guard(l.lock);
  if (const int error = enter(l, id); error != 0) return fail(error);
  if (id->qp != nullptr || ece == nullptr) return fail(EINVAL);
  *ece = of(id).remote_ece;
  ece->comp_mask = 0;
  return 0;
}
