// Shared receive queues: not offered.
#include "verbs/abi.h"
#include "verbs/context.h"
#include "verbs/errors.h"

namespace gdr::verbs {
namespace {

// Called without a check for null, so there has to be one.
int post_srq_receive(ibv_srq* /*srq*/, ibv_recv_wr* list, ibv_recv_wr** bad) {
  *bad = list;
  return EOPNOTSUPP;
}

}  // namespace

void set_srq_functions(verbs_context& table) { table.context.ops.post_srq_recv = post_srq_receive; }

}  // namespace gdr::verbs

GDR_EXPORT ibv_srq* ibv_create_srq(ibv_pd* /*pd*/, ibv_srq_init_attr* /*attributes*/) {
  return gdr::verbs::fail(EOPNOTSUPP);
}
GDR_EXPORT int ibv_modify_srq(ibv_srq* /*srq*/, ibv_srq_attr* /*attributes*/, int /*mask*/) {
  return EOPNOTSUPP;
}
GDR_EXPORT int ibv_query_srq(ibv_srq* /*srq*/, ibv_srq_attr* /*attributes*/) { return EOPNOTSUPP; }
GDR_EXPORT int ibv_destroy_srq(ibv_srq* /*srq*/) { return EOPNOTSUPP; }
