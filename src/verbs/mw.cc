// Memory windows: not offered. These three entries are called without a check for null.
#include "verbs/context.h"
#include "verbs/errors.h"

namespace gdr::verbs {
namespace {

ibv_mw* alloc_mw(ibv_pd* /*pd*/, ibv_mw_type /*type*/) { return fail(EOPNOTSUPP); }
int bind_mw(ibv_qp* /*qp*/, ibv_mw* /*mw*/, ibv_mw_bind* /*bind*/) { return EOPNOTSUPP; }
int dealloc_mw(ibv_mw* /*mw*/) { return EOPNOTSUPP; }

}  // namespace

void set_mw_functions(verbs_context& table) {
  table.context.ops.alloc_mw = alloc_mw;
  table.context.ops.bind_mw = bind_mw;
  table.context.ops.dealloc_mw = dealloc_mw;
}

}  // namespace gdr::verbs
