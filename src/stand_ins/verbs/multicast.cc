// Multicast groups of UD queue pairs. RoCE has no subnet manager to ask.
#include <algorithm>

#include "verbs/abi.h"
#include "verbs/errors.h"
#include "verbs/objects.h"
#include "verbs/qp.h"

namespace gdr::verbs {
namespace {

// False for what cannot be a group or a member of one.
bool read_group(const ibv_qp* qp, const ibv_gid* gid, rnic::GroupId* group) {
  std::copy(std::begin(gid->raw), std::end(gid->raw), group->begin());
  return qp->qp_type == IBV_QPT_UD && rnic::is_multicast(*group);
}

}  // namespace
}  // namespace gdr::verbs

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

// Once more is no error, and changes nothing. Of the LID Ethernet knows nothing.
GDR_EXPORT int ibv_attach_mcast(ibv_qp* qp, const ibv_gid* gid, std::uint16_t /*lid*/) {
  return or_errno([&] {
    gdr::rnic::GroupId group;
    if (!read_group(qp, gid, &group)) return EINVAL;
    gdr::Result<bool> joined = context_of(qp->context).adapter->join(group, *qp_of(qp).queue);
    if (!joined) return joined.error().code;
    if (*joined) ++qp_of(qp).groups;
    return 0;
  });
}

GDR_EXPORT int ibv_detach_mcast(ibv_qp* qp, const ibv_gid* gid, std::uint16_t /*lid*/) {
  return or_errno([&] {
    gdr::rnic::GroupId group;
    if (!read_group(qp, gid, &group)) return EINVAL;
    gdr::Result<void> left = context_of(qp->context).adapter->leave(group, *qp_of(qp).queue);
    if (!left) return left.error().code;
    --qp_of(qp).groups;
    return 0;
  });
}
