// Flow rules of raw packet queue pairs.
#include "verbs/context.h"
#include "verbs/errors.h"
#include "verbs/objects.h"
#include "verbs/qp.h"

namespace gdr::verbs {
namespace {

struct Flow {
  ibv_flow base{};
  Qp* qp = nullptr;
  std::uint32_t rule = 0;
  std::uint64_t serial = 0;
};

void dispose(Flow* flow) {
  context_of(flow->base.context).adapter->destroy_flow(flow->rule);
  --flow->qp->flows;
  delete flow;
}

ibv_flow* create_flow(ibv_qp* qp, ibv_flow_attr* attributes) {
  return or_null([&]() -> ibv_flow* {
    if (attributes->port != kPort) return fail(EINVAL);
    Context& context = context_of(qp->context);
    auto flow = std::make_unique<Flow>();
    Result<std::uint32_t> rule = context.adapter->create_flow(*qp_of(qp).queue, *attributes);
    if (!rule) return fail(rule.error());
    flow->qp = &qp_of(qp);
    flow->rule = *rule;
    flow->base.context = qp->context;
    ++qp_of(qp).flows;
    flow->serial = context.adopt([raw = flow.get()] { dispose(raw); });
    flow->base.handle = static_cast<std::uint32_t>(flow->serial);
    return &flow.release()->base;
  });
}

int destroy_flow(ibv_flow* flow) {
  return or_errno([&] {
    auto* own = reinterpret_cast<Flow*>(flow);
    context_of(flow->context).forget(own->serial);
    dispose(own);
    return 0;
  });
}

}  // namespace

void set_flow_functions(verbs_context& table) {
  table.ibv_create_flow = create_flow;
  table.ibv_destroy_flow = destroy_flow;
  // Programs built with libibverbs 1.1.8 read the same two here.
  table.ABI_placeholder1 = reinterpret_cast<void (*)()>(create_flow);
  table.ABI_placeholder2 = reinterpret_cast<void (*)()>(destroy_flow);
}

}  // namespace gdr::verbs
