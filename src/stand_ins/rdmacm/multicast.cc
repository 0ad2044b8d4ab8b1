// Groups are addresses: on RoCE there is no subnet administrator to ask, so a join succeeds at
// once.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rdmacm/state.h"
#include "rdmacm/surface.h"

namespace gdr::rdmacm {
namespace {

int join(Id& id, const sockaddr* address, std::uint32_t flags, void* context) {
  const socklen_t length = length_of(address);
  const bool may_join = id.phase == Phase::kBound || id.phase == Phase::kResolved;
  if (length == 0 || is_any(address) || !id.local || !may_join || !is_datagram(id)) return EINVAL;
  Membership membership;
  std::memcpy(&membership.address, address, length);
  membership.gid = gid_of(address);
  auto event = make_event(id, RDMA_CM_EVENT_MULTICAST_JOIN);
  rdma_ud_param& ud = event->event.param.ud;
  ud.private_data = context;
  ud.qp_num = 0xffffff;
  ud.qkey = id.qkey;
  ud.ah_attr.is_global = 1;
  std::copy_n(membership.gid.begin(), 16, ud.ah_attr.grh.dgid.raw);
  ud.ah_attr.grh.sgid_index = id.local->index;
  ud.ah_attr.grh.hop_limit = 64;
  ud.ah_attr.grh.traffic_class = id.traffic_class;
  ud.ah_attr.port_num = id.local->port;
  event->attach = flags != RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER;
  event->group = membership.gid;
  id.memberships.push_back(membership);
  queue(std::move(event));
  return 0;
}

}  // namespace
}  // namespace gdr::rdmacm

using namespace gdr::rdmacm;

GDR_EXPORT int rdma_join_multicast_ex(rdma_cm_id* id, rdma_cm_join_mc_attr_ex* attr,
                                      void* context) {
  constexpr std::uint32_t kBoth = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
  if (attr == nullptr) return fail(EINVAL);
  if (attr->comp_mask >= RDMA_CM_JOIN_MC_ATTR_RESERVED) return fail(ENOTSUP);
  if ((attr->comp_mask & kBoth) != kBoth || attr->addr == nullptr ||
      attr->join_flags >= RDMA_MC_JOIN_FLAG_RESERVED) {
    return fail(EINVAL);
  }
  {
    Library& l = library();
    const Guard guard(l.lock);
    if (const int error = enter(l, id); error != 0) return fail(error);
    const int error = join(of(id), attr->addr, attr->join_flags, context);
    if (error != 0) return fail(error);
  }
  return complete(id);
}

GDR_EXPORT int rdma_join_multicast(rdma_cm_id* id, sockaddr* address, void* context) {
  rdma_cm_join_mc_attr_ex attr{};
  attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
  attr.addr = address;
  attr.join_flags = RDMA_MC_JOIN_FLAG_FULLMEMBER;
  return rdma_join_multicast_ex(id, &attr, context);
}

GDR_EXPORT int rdma_leave_multicast(rdma_cm_id* id, sockaddr* address) {
  Library& l = library();
  const Guard guard(l.lock);
  if (const int error = enter(l, id); error != 0) return fail(error);
  if (address == nullptr || length_of(address) == 0) return fail(EINVAL);
  Id& mine = of(id);
  const auto found =
      std::find_if(mine.memberships.begin(), mine.memberships.end(), [&](const Membership& m) {
        return std::memcmp(&m.address, address, length_of(address)) == 0;
      });
  if (found == mine.memberships.end()) return fail(EADDRNOTAVAIL);
  if (found->attached && id->qp != nullptr) {
    union ibv_gid group {};
    std::copy_n(found->gid.begin(), 16, group.raw);
    ibv_detach_mcast(id->qp, &group, 0);
  }
  erase_events(id->channel, [&](const std::unique_ptr<QueuedEvent>& event) {
    return event->id == &mine && event->event.event == RDMA_CM_EVENT_MULTICAST_JOIN &&
           event->group == found->gid;
  });
  mine.memberships.erase(found);
  return 0;
}
