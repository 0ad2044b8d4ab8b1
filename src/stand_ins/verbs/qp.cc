// Queue pairs: making, changing, destroying. Posting is in post.cc and send_batch.cc.
#include "verbs/qp.h"

#include <cstddef>

#include "verbs/abi.h"
#include "verbs/acknowledgements.h"
#include "verbs/context.h"
#include "verbs/cq.h"
#include "verbs/errors.h"
#include "verbs/objects.h"
#include "verbs/parent_domain.h"
#include "verbs/post.h"
#include "verbs/srq.h"
#include "verbs/wq.h"

namespace gdr::verbs {
namespace {

static_assert(offsetof(ibv_qp_ex, qp_base) == 0);
constexpr std::uint32_t kExtended = 1;  // VERBS_QP_EX of rdma-core's private header

// The counts of users of everything that must outlive it.
template <typename Change>
void change_users(Qp& qp, Change change) {
  if (qp.base.send_cq != nullptr) change(cq_of(qp.base.send_cq).users);
  if (qp.base.recv_cq != nullptr) change(cq_of(qp.base.recv_cq).users);
  if (qp.base.srq != nullptr) change(srq_of(qp.base.srq).users);
  if (qp.base.pd != nullptr) change(pd_of(qp.base.pd).users);
  if (qp.xrcd != nullptr) change(qp.xrcd->users);
  if (qp.table != nullptr) change(qp.table->users);
}

// The last handle of a queue pair takes it away: there are several of one that ibv_open_qp opened.
void detach(Qp& qp) {
  Context& context = context_of(qp.base.context);
  if (qp.queue->close(&qp)) context.adapter->destroy_queue_pair(*qp.queue);
  if (qp.table != nullptr) context.adapter->segment().free(qp.queue->settings().spread);
  context.drop_events(&qp);
}

void release(Qp* qp) {
  change_users(*qp, [](auto& users) { --users; });
  pthread_cond_destroy(&qp->base.cond);
  pthread_mutex_destroy(&qp->base.mutex);
  delete qp;
}

// The parts that a queue pair of this type has; the other `attributes` are ignored.
int check_attributes(const ibv_pd* pd, const Xrcd* xrcd, const ibv_qp_init_attr& attributes) {
  const bool sends = pd != nullptr && attributes.send_cq != nullptr;
  switch (raw(attributes.qp_type)) {
    case IBV_QPT_RC:
    case IBV_QPT_UC:
    case IBV_QPT_UD:
      // An XRC queue is for requests that name it.
      if (attributes.srq != nullptr && srq_of(attributes.srq).xrcd != nullptr) return EINVAL;
      if (attributes.srq != nullptr && srq_of(attributes.srq).queue->matches_tags() &&
          attributes.qp_type != IBV_QPT_RC) {
        return EINVAL;
      }
      return sends && attributes.recv_cq != nullptr ? 0 : EINVAL;
    case IBV_QPT_RAW_PACKET:
      return sends && attributes.recv_cq != nullptr && attributes.srq == nullptr ? 0 : EINVAL;
    case IBV_QPT_XRC_SEND:
      return sends && attributes.srq == nullptr ? 0 : EINVAL;
    case IBV_QPT_XRC_RECV:
      return xrcd != nullptr ? 0 : EINVAL;
    default:
      return EOPNOTSUPP;
  }
}

// Enumerations with numbers of their own go no further.
bool has_enumerators(const ibv_qp_attr& attributes, int mask) {
  const auto beyond = [&](int bit, std::uint32_t number, int last) {
    return (mask & bit) != 0 && number > static_cast<std::uint32_t>(last);
  };
  return !beyond(IBV_QP_STATE, raw(attributes.qp_state), IBV_QPS_UNKNOWN) &&
         !beyond(IBV_QP_CUR_STATE, raw(attributes.cur_qp_state), IBV_QPS_UNKNOWN) &&
         !beyond(IBV_QP_PATH_MTU, raw(attributes.path_mtu), IBV_MTU_4096) &&
         !beyond(IBV_QP_PATH_MIG_STATE, raw(attributes.path_mig_state), IBV_MIG_ARMED);
}

std::shared_ptr<rnic::CompletionQueue> completions(ibv_cq* cq) {
  return cq == nullptr ? nullptr : cq_of(cq).queue;
}

// Parts of only some queue pairs.
struct Parts {
  Xrcd* xrcd = nullptr;
  bool blocks_loopback = false;
  RwqTable* table = nullptr;
  std::uint64_t spread = 0;
};

rnic::QueuePairSettings settings_of(Qp& qp, const ibv_qp_init_attr& attributes,
                                    const Parts& parts) {
  Context& context = context_of(qp.base.context);
  Pd* pd = qp.base.pd == nullptr ? nullptr : &pd_of(qp.base.pd);
  return {.type = attributes.qp_type,
          .device = context.device->index,
          .context = context.number,
          .protection_domain = pd == nullptr ? 0 : pd->domain,
          .send_completion_queue = completions(qp.base.send_cq),
          .receive_completion_queue = completions(qp.base.recv_cq),
          .srq = qp.base.srq == nullptr ? nullptr : srq_of(qp.base.srq).queue,
          .xrc_domain = qp.xrcd == nullptr ? rnic::XrcDomain{} : qp.xrcd->domain,
          .events = context.events,
          .verbs_object = &qp,
          .capabilities = attributes.cap,
          .signal_all = attributes.sq_sig_all != 0,
          .send_memory = pd == nullptr ? rnic::RingAllocator{} : ring_allocator(*pd),
          .block_multicast_loopback = parts.blocks_loopback,
          .spread = parts.spread};
}

// From here on programs know it.
Qp* hand_out(std::unique_ptr<Qp> qp) {
  ibv_qp& base = qp->base;
  base.handle = base.qp_num = qp->queue->number();
  base.qp_type = qp->queue->type();
  pthread_mutex_init(&base.mutex, nullptr);
  pthread_cond_init(&base.cond, nullptr);
  change_users(*qp, [](auto& users) { ++users; });
  Context& context = context_of(base.context);
  context.expect_events(qp.get());
  qp->record = usage::made_queue_pair(context.usage);
  qp->serial = context.adopt([raw = qp.get()] {
    detach(*raw);
    release(raw);
  });
  return qp.release();
}

// One end of an XRC connection is given the other's attributes too, and passes them over.
int mask_of(ibv_qp_type type, int mask) {
  if (type == IBV_QPT_XRC_SEND) return mask & ~(IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER);
  if (type != IBV_QPT_XRC_RECV) return mask;
  return mask & ~(IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY);
}

// Null and errno. What was granted goes back into attributes.cap.
Qp* create_qp(ibv_context* context, ibv_pd* pd, ibv_qp_init_attr& attributes,
              const Parts& parts = {}) {
  if (const int error = check_attributes(pd, parts.xrcd, attributes)) return fail(error);
  auto qp = std::make_unique<Qp>();
  ibv_qp& base = qp->base;
  base.context = context;
  base.qp_context = attributes.qp_context;
  base.state = IBV_QPS_RESET;
  if (attributes.qp_type == IBV_QPT_XRC_RECV) {
    qp->xrcd = parts.xrcd;
  } else {
    base.pd = pd;
    base.send_cq = attributes.send_cq;
    if (attributes.qp_type != IBV_QPT_XRC_SEND) base.recv_cq = attributes.recv_cq;
    base.srq = attributes.srq;
  }
  qp->table = parts.table;
  auto queue = context_of(context).adapter->create_queue_pair(settings_of(*qp, attributes, parts));
  if (!queue) return fail(queue.error());
  qp->queue = *std::move(queue);
  attributes.cap = qp->queue->settings().capabilities;
  return hand_out(std::move(qp));
}

void destroy(Qp& qp) {
  context_of(qp.base.context).forget(qp.serial);
  detach(qp);
  wait_for_acknowledgements(qp.base, [&] { return qp.base.events_completed == qp.events_taken; });
  release(&qp);
}

// One that only gives its flow rules' frames to the work queues of a table. Null and errno.
ibv_qp* create_spreading_qp(ibv_context* context, const ibv_qp_init_attr_ex& attributes) {
  constexpr std::uint32_t kKnown = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS |
                                   IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE;
  if ((attributes.comp_mask & ~kKnown) != 0) return fail(EOPNOTSUPP);
  if ((attributes.comp_mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 && attributes.create_flags != 0) {
    return fail(EOPNOTSUPP);
  }
  if ((attributes.comp_mask & IBV_QP_INIT_ATTR_PD) == 0) return fail(EINVAL);
  const Result<std::uint64_t> spread = make_spread(context, attributes);
  if (!spread) return fail(spread.error());
  RwqTable& table = table_of(attributes.rwq_ind_tbl);
  ibv_qp_init_attr plain{};
  plain.qp_context = attributes.qp_context;
  plain.qp_type = IBV_QPT_RAW_PACKET;
  plain.send_cq = plain.recv_cq = table.queues.front()->base.cq;  // nothing is ever completed on it
  Qp* qp = create_qp(context, attributes.pd, plain, {.table = &table, .spread = *spread});
  if (qp != nullptr) return &qp->base;
  context_of(context).adapter->segment().free(*spread);
  return nullptr;
}

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attributes) {
  constexpr std::uint32_t kKnown = IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_XRCD |
                                   IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  return or_null([&]() -> ibv_qp* {
    const std::uint32_t mask = attributes->comp_mask;
    if ((mask & (IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE)) != 0) {
      return create_spreading_qp(context, *attributes);
    }
    if ((mask & ~kKnown) != 0) return fail(EOPNOTSUPP);
    const std::uint32_t flags =
        (mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 ? attributes->create_flags : 0;
    if ((flags & ~std::uint32_t{IBV_QP_CREATE_BLOCK_SELF_MCAST_LB}) != 0) return fail(EOPNOTSUPP);
    ibv_pd* pd = (mask & IBV_QP_INIT_ATTR_PD) != 0 ? attributes->pd : nullptr;
    const bool in_domain = (mask & IBV_QP_INIT_ATTR_XRCD) != 0 && attributes->xrcd != nullptr;
    Xrcd* xrcd = in_domain ? &xrcd_of(attributes->xrcd) : nullptr;
    ibv_qp_init_attr plain{.qp_context = attributes->qp_context,
                           .send_cq = attributes->send_cq,
                           .recv_cq = attributes->recv_cq,
                           .srq = attributes->srq,
                           .cap = attributes->cap,
                           .qp_type = attributes->qp_type,
                           .sq_sig_all = attributes->sq_sig_all};
    Qp* qp = create_qp(context, pd, plain, {.xrcd = xrcd, .blocks_loopback = flags != 0});
    if (qp == nullptr) return nullptr;
    if ((mask & IBV_QP_INIT_ATTR_SEND_OPS_FLAGS) != 0) {
      if (const int error = offer_extended_posting(*qp, attributes->send_ops_flags)) {
        destroy(*qp);
        return fail(error);
      }
      qp->comp_mask |= kExtended;
    }
    attributes->cap = plain.cap;
    return &qp->base;
  });
}

// Another handle of an XRC receive queue pair of this process, which lives until the last handle is
// destroyed.
ibv_qp* open_qp(ibv_context* context, ibv_qp_open_attr* attributes) {
  return or_null([&]() -> ibv_qp* {
    constexpr std::uint32_t kNeeded =
        IBV_QP_OPEN_ATTR_NUM | IBV_QP_OPEN_ATTR_XRCD | IBV_QP_OPEN_ATTR_TYPE;
    const std::uint32_t mask = attributes->comp_mask;
    if ((mask & ~(kNeeded | IBV_QP_OPEN_ATTR_CONTEXT)) != 0) return fail(EOPNOTSUPP);
    if ((mask & kNeeded) != kNeeded || attributes->xrcd == nullptr) return fail(EINVAL);
    if (raw(attributes->qp_type) != IBV_QPT_XRC_RECV) return fail(EINVAL);
    Xrcd& xrcd = xrcd_of(attributes->xrcd);
    auto queue = context_of(context).adapter->queue_pair(attributes->qp_num);
    if (queue == nullptr || queue->type() != IBV_QPT_XRC_RECV ||
        !(queue->settings().xrc_domain == xrcd.domain)) {
      return fail(EINVAL);
    }
    auto qp = std::make_unique<Qp>();
    qp->base.context = context;
    if ((mask & IBV_QP_OPEN_ATTR_CONTEXT) != 0) qp->base.qp_context = attributes->qp_context;
    qp->base.state = queue->state();
    qp->xrcd = &xrcd;
    if (!queue->open(context_of(context).events, qp.get())) return fail(EINVAL);
    qp->queue = std::move(queue);
    return &hand_out(std::move(qp))->base;
  });
}

}  // namespace

void set_qp_functions(verbs_context& table) {
  static_assert(offsetof(Qp, comp_mask) == sizeof(ibv_qp_ex));
  table.create_qp_ex = create_qp_ex;
  table.open_qp = open_qp;
  table.context.ops.post_send = post_send;
  table.context.ops.post_recv = post_receive;
}

}  // namespace gdr::verbs

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

GDR_EXPORT ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) {
  return or_null([&]() -> ibv_qp* {
    if (pd == nullptr) return fail(EINVAL);
    Qp* qp = create_qp(pd->context, pd, *attributes);
    return qp == nullptr ? nullptr : &qp->base;
  });
}

GDR_EXPORT ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp* qp) {
  return (qp_of(qp).comp_mask & kExtended) != 0 ? &qp_of(qp).extended : nullptr;
}

GDR_EXPORT int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attributes, int mask) {
  return or_errno([&] {
    if (qp_of(qp).table != nullptr) return EOPNOTSUPP;  // its work queues have the states
    if (!has_enumerators(*attributes, mask)) return EINVAL;
    const int error = qp_of(qp).queue->modify(*attributes, mask_of(qp->qp_type, mask));
    if (error == 0 && (mask & IBV_QP_STATE) != 0) {
      qp->state = attributes->qp_state;
      usage::moved_to(qp_of(qp).record, qp->state);
    }
    return error;
  });
}

GDR_EXPORT int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attributes, int /*mask*/,
                            ibv_qp_init_attr* init) {
  return or_errno([&] {
    *attributes = {};
    *init = {};
    qp_of(qp).queue->query(attributes, init);
    init->qp_context = qp->qp_context;
    init->send_cq = qp->send_cq;
    init->recv_cq = qp->recv_cq;
    init->srq = qp->srq;
    qp->state = attributes->qp_state;
    return 0;
  });
}

GDR_EXPORT int ibv_destroy_qp(ibv_qp* qp) {
  return or_errno([&] {
    if (qp_of(qp).flows.load() != 0 || qp_of(qp).groups.load() != 0) return EBUSY;
    destroy(qp_of(qp));
    return 0;
  });
}

// No promise: memcpy may place the end of a message before its middle.
GDR_EXPORT int ibv_query_qp_data_in_order(ibv_qp* /*qp*/, ibv_wr_opcode /*opcode*/,
                                          std::uint32_t /*flags*/) {
  return 0;
}

// Enhanced connection establishment is a matter between NICs of one vendor. As a device without it
// answers: programs then say nothing of it to their peers, where options of no vendor are an error
// (rdma_set_local_ece).
GDR_EXPORT int ibv_query_ece(ibv_qp* /*qp*/, ibv_ece* /*ece*/) { return EOPNOTSUPP; }
GDR_EXPORT int ibv_set_ece(ibv_qp* /*qp*/, ibv_ece* /*ece*/) { return EOPNOTSUPP; }
