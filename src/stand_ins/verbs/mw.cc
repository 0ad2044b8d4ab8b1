// Memory windows. Who may bind what is decided below, when the request is carried out; here are the
// C structs. These three entries are called without a check for null.
#include "verbs/context.h"
#include "verbs/errors.h"
#include "verbs/objects.h"
#include "verbs/post.h"

namespace gdr::verbs {
namespace {

struct Mw {
  ibv_mw base{};
  std::uint64_t serial = 0;
};
Mw& mw_of(ibv_mw* mw) { return *reinterpret_cast<Mw*>(mw); }

void dispose(Mw* mw) {
  context_of(mw->base.context).adapter->destroy_window(mw->base.handle);
  --pd_of(mw->base.pd).users;
  delete mw;
}

ibv_mw* alloc_mw(ibv_pd* pd, ibv_mw_type type) {
  return or_null([&]() -> ibv_mw* {
    if (raw(type) != IBV_MW_TYPE_1 && raw(type) != IBV_MW_TYPE_2) return fail(EINVAL);
    Context& context = context_of(pd->context);
    auto mw = std::make_unique<Mw>();
    const Result<std::uint32_t> window =
        context.adapter->create_window(type == IBV_MW_TYPE_2, pd_of(pd).domain);
    if (!window) return fail(window.error());
    mw->base = {.context = pd->context, .pd = pd, .rkey = *window, .handle = *window, .type = type};
    ++pd_of(pd).users;
    mw->serial = context.adopt([own = mw.get()] { dispose(own); });
    return &mw.release()->base;
  });
}

// For windows of type 1; verbs.h has checked the type.
int bind_mw(ibv_qp* qp, ibv_mw* mw, ibv_mw_bind* bind) {
  ibv_send_wr request{};
  request.wr_id = bind->wr_id;
  request.opcode = IBV_WR_BIND_MW;
  request.send_flags = bind->send_flags | rnic::kBoundByVerb;
  request.bind_mw.mw = mw;
  request.bind_mw.rkey = ibv_inc_rkey(mw->rkey);
  request.bind_mw.bind_info = bind->bind_info;
  ibv_send_wr* bad = nullptr;
  return post_send(qp, &request, &bad);
}

int dealloc_mw(ibv_mw* mw) {
  return or_errno([&] {
    Mw& window = mw_of(mw);
    context_of(mw->context).forget(window.serial);
    dispose(&window);
    return 0;
  });
}

}  // namespace

void set_mw_functions(verbs_context& table) {
  table.context.ops.alloc_mw = alloc_mw;
  table.context.ops.bind_mw = bind_mw;
  table.context.ops.dealloc_mw = dealloc_mw;
}

}  // namespace gdr::verbs
