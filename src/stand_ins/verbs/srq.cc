// Shared receive queues: making, changing, destroying, posting.
#include "verbs/srq.h"

#include "verbs/abi.h"
#include "verbs/acknowledgements.h"
#include "verbs/context.h"
#include "verbs/cq.h"
#include "verbs/errors.h"
#include "verbs/objects.h"

namespace gdr::verbs {
namespace {

int post_srq_receive(ibv_srq* srq, ibv_recv_wr* list, ibv_recv_wr** bad) {
  return srq_of(srq).queue->post(list, const_cast<const ibv_recv_wr**>(bad));
}

void detach(Srq& srq) {
  Context& context = context_of(srq.base.context);
  context.adapter->destroy_srq(*srq.queue);
  context.drop_events(&srq);
}

void release(Srq* srq) {
  --pd_of(srq->base.pd).users;
  if (srq->cq != nullptr) --cq_of(srq->cq).users;
  if (srq->xrcd != nullptr) --srq->xrcd->users;
  pthread_cond_destroy(&srq->base.cond);
  pthread_mutex_destroy(&srq->base.mutex);
  delete srq;
}

// Parts of only some queues.
struct Parts {
  ibv_cq* cq = nullptr;
  Xrcd* xrcd = nullptr;
  std::uint32_t max_tags = 0;
};

// Null and errno. What was granted goes back into `attributes`; what it says of a limit is not
// looked at (ibv_create_srq(3)).
Srq* create_srq(ibv_pd* pd, void* srq_context, ibv_srq_attr& attributes, const Parts& parts = {}) {
  if (pd == nullptr) return fail(EINVAL);
  Context& context = context_of(pd->context);
  auto srq = std::make_unique<Srq>();
  ibv_cq* cq = parts.cq;
  Xrcd* xrcd = parts.xrcd;
  auto queue =
      context.adapter->create_srq({.protection_domain = pd_of(pd).domain,
                                   .max_requests = attributes.max_wr,
                                   .max_segments = attributes.max_sge,
                                   .completion_queue = cq == nullptr ? nullptr : cq_of(cq).queue,
                                   .xrc_domain = xrcd == nullptr ? rnic::XrcDomain{} : xrcd->domain,
                                   .max_tags = parts.max_tags,
                                   .events = context.events,
                                   .verbs_object = srq.get()});
  if (!queue) return fail(queue.error());
  srq->queue = *std::move(queue);
  srq->base.context = pd->context;
  srq->base.srq_context = srq_context;
  srq->base.pd = pd;
  srq->base.handle = srq->queue->index();
  pthread_mutex_init(&srq->base.mutex, nullptr);
  pthread_cond_init(&srq->base.cond, nullptr);
  srq->cq = cq;
  srq->xrcd = xrcd;
  ++pd_of(pd).users;
  if (cq != nullptr) ++cq_of(cq).users;
  if (xrcd != nullptr) ++xrcd->users;
  context.expect_events(srq.get());
  srq->serial = context.adopt([raw = srq.get()] {
    detach(*raw);
    release(raw);
  });
  const ibv_srq_attr granted = srq->queue->query();
  attributes.max_wr = granted.max_wr;
  attributes.max_sge = granted.max_sge;
  return srq.release();
}

// Its receives complete where their queue pairs say. A completion queue may be named all the same,
// as on ConnectX, and takes no part.
ibv_srq* create_basic(ibv_context* context, ibv_srq_init_attr_ex& attributes) {
  constexpr std::uint32_t kKnown =
      IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ;
  if ((attributes.comp_mask & ~kKnown) != 0) return fail(EOPNOTSUPP);
  if ((attributes.comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0 || attributes.pd == nullptr ||
      attributes.pd->context != context) {
    return fail(EINVAL);
  }
  Srq* srq = create_srq(attributes.pd, attributes.srq_context, attributes.attr);
  return srq == nullptr ? nullptr : &srq->base;
}

// XRC, tag matching, and what of the basic type verbs.h does not give to ibv_create_srq.
ibv_srq* create_srq_ex(ibv_context* context, ibv_srq_init_attr_ex* attributes) {
  return or_null([&]() -> ibv_srq* {
    constexpr std::uint32_t kBoth =
        IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD | IBV_SRQ_INIT_ATTR_CQ;
    const std::uint32_t mask = attributes->comp_mask;
    const std::uint32_t type = (mask & IBV_SRQ_INIT_ATTR_TYPE) != 0 ? raw(attributes->srq_type)
                                                                    : std::uint32_t{IBV_SRQT_BASIC};
    if (type == IBV_SRQT_BASIC) return create_basic(context, *attributes);
    if (type != IBV_SRQT_XRC && type != IBV_SRQT_TM) return fail(EOPNOTSUPP);
    const bool xrc = type == IBV_SRQT_XRC;
    const std::uint32_t needed = kBoth | (xrc ? IBV_SRQ_INIT_ATTR_XRCD : IBV_SRQ_INIT_ATTR_TM);
    if ((mask & ~needed) != 0) return fail(EOPNOTSUPP);
    if (mask != needed || attributes->pd == nullptr || attributes->pd->context != context ||
        attributes->cq == nullptr || (xrc && attributes->xrcd == nullptr)) {
      return fail(EINVAL);
    }
    const ibv_tm_cap& tags = attributes->tm_cap;
    if (!xrc && (tags.max_num_tags == 0 || tags.max_ops > kMaxTagOperations)) return fail(EINVAL);
    Srq* srq = create_srq(attributes->pd, attributes->srq_context, attributes->attr,
                          {.cq = attributes->cq,
                           .xrcd = xrc ? &xrcd_of(attributes->xrcd) : nullptr,
                           .max_tags = xrc ? 0 : tags.max_num_tags});
    return srq == nullptr ? nullptr : &srq->base;
  });
}

int post_srq_ops(ibv_srq* srq, ibv_ops_wr* operations, ibv_ops_wr** bad) {
  return srq_of(srq).queue->operate(operations, bad);
}

int get_srq_num(ibv_srq* srq, std::uint32_t* number) {
  if (srq_of(srq).xrcd == nullptr) return EOPNOTSUPP;
  *number = srq_of(srq).queue->number();
  return 0;
}

}  // namespace

void set_srq_functions(verbs_context& table) {
  table.context.ops.post_srq_recv = post_srq_receive;
  table.create_srq_ex = create_srq_ex;
  table.get_srq_num = get_srq_num;
  table.post_srq_ops = post_srq_ops;
}

}  // namespace gdr::verbs

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

GDR_EXPORT ibv_srq* ibv_create_srq(ibv_pd* pd, ibv_srq_init_attr* attributes) {
  return or_null([&]() -> ibv_srq* {
    Srq* srq = create_srq(pd, attributes->srq_context, attributes->attr);
    return srq == nullptr ? nullptr : &srq->base;
  });
}

GDR_EXPORT int ibv_modify_srq(ibv_srq* srq, ibv_srq_attr* attributes, int mask) {
  return or_errno([&] {
    if ((mask & ~(IBV_SRQ_MAX_WR | IBV_SRQ_LIMIT)) != 0) return EINVAL;
    gdr::rnic::Srq& queue = *srq_of(srq).queue;
    // Both or none: a limit that the new size would not take is found first.
    const std::uint32_t size =
        (mask & IBV_SRQ_MAX_WR) != 0 ? attributes->max_wr : queue.query().max_wr;
    if ((mask & IBV_SRQ_LIMIT) != 0 && attributes->srq_limit > size) return EINVAL;
    if ((mask & IBV_SRQ_MAX_WR) != 0) {
      if (const int error = queue.resize(attributes->max_wr)) return error;
    }
    return (mask & IBV_SRQ_LIMIT) != 0 ? queue.set_limit(attributes->srq_limit) : 0;
  });
}

GDR_EXPORT int ibv_query_srq(ibv_srq* srq, ibv_srq_attr* attributes) {
  *attributes = srq_of(srq).queue->query();
  return 0;
}

GDR_EXPORT int ibv_destroy_srq(ibv_srq* srq) {
  return or_errno([&] {
    Srq& own = srq_of(srq);
    if (own.users.load() != 0) return EBUSY;
    context_of(srq->context).forget(own.serial);
    detach(own);
    wait_for_acknowledgements(own.base,
                              [&] { return own.base.events_completed == own.events_taken; });
    release(&own);
    return 0;
  });
}
