// Queue pairs: making, changing, destroying. Posting is in post.cc and send_batch.cc.
#include "verbs/qp.h"

#include <cstddef>

#include "verbs/abi.h"
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

void detach(Qp& qp) {
  Context& context = context_of(qp.base.context);
  context.adapter->destroy_queue_pair(*qp.queue);
  if (qp.table != nullptr) context.adapter->segment().free(qp.queue->settings().spread);
  context.drop_events(&qp);
}

void release(Qp* qp) {
  --cq_of(qp->base.send_cq).users;
  --cq_of(qp->base.recv_cq).users;
  if (qp->base.srq != nullptr) --srq_of(qp->base.srq).users;
  --pd_of(qp->base.pd).users;
  if (qp->table != nullptr) --qp->table->users;
  pthread_cond_destroy(&qp->base.cond);
  pthread_mutex_destroy(&qp->base.mutex);
  delete qp;
}

void wait_for_acknowledgements(Qp& qp) {
  pthread_mutex_lock(&qp.base.mutex);
  while (qp.base.events_completed != qp.events_taken) {
    pthread_cond_wait(&qp.base.cond, &qp.base.mutex);
  }
  pthread_mutex_unlock(&qp.base.mutex);
}

int check_attributes(const ibv_pd* pd, const ibv_qp_init_attr& attributes) {
  switch (raw(attributes.qp_type)) {
    case IBV_QPT_RC:
    case IBV_QPT_UC:
    case IBV_QPT_UD:
      break;
    case IBV_QPT_RAW_PACKET:
      if (attributes.srq != nullptr) return EINVAL;
      break;
    default:
      return EOPNOTSUPP;
  }
  const bool complete =
      pd != nullptr && attributes.send_cq != nullptr && attributes.recv_cq != nullptr;
  return complete ? 0 : EINVAL;
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

std::shared_ptr<rnic::Srq> shared_receives(ibv_srq* srq) {
  return srq == nullptr ? nullptr : srq_of(srq).queue;
}

// Null and errno. What was granted goes back into attributes.cap.
Qp* create_qp(ibv_pd* pd, ibv_qp_init_attr& attributes, bool blocks_loopback = false,
              std::uint64_t spread = 0) {
  if (const int error = check_attributes(pd, attributes)) return fail(error);
  Context& context = context_of(pd->context);
  auto qp = std::make_unique<Qp>();
  Cq& send_cq = cq_of(attributes.send_cq);
  Cq& receive_cq = cq_of(attributes.recv_cq);
  auto queue = context.adapter->create_queue_pair({.type = attributes.qp_type,
                                                   .device = context.device->index,
                                                   .context = context.number,
                                                   .protection_domain = pd_of(pd).domain,
                                                   .send_completion_queue = send_cq.queue,
                                                   .receive_completion_queue = receive_cq.queue,
                                                   .srq = shared_receives(attributes.srq),
                                                   .events = context.events,
                                                   .verbs_object = qp.get(),
                                                   .capabilities = attributes.cap,
                                                   .signal_all = attributes.sq_sig_all != 0,
                                                   .send_memory = ring_allocator(pd_of(pd)),
                                                   .block_multicast_loopback = blocks_loopback,
                                                   .spread = spread});
  if (!queue) return fail(queue.error());
  qp->queue = *std::move(queue);
  ibv_qp& base = qp->base;
  base.context = pd->context;
  base.qp_context = attributes.qp_context;
  base.pd = pd;
  base.send_cq = attributes.send_cq;
  base.recv_cq = attributes.recv_cq;
  base.srq = attributes.srq;
  base.handle = base.qp_num = qp->queue->number();
  base.state = IBV_QPS_RESET;
  base.qp_type = attributes.qp_type;
  pthread_mutex_init(&base.mutex, nullptr);
  pthread_cond_init(&base.cond, nullptr);
  ++send_cq.users;
  ++receive_cq.users;
  if (base.srq != nullptr) ++srq_of(base.srq).users;
  ++pd_of(pd).users;
  context.expect_events(qp.get());
  qp->serial = context.adopt([raw = qp.get()] {
    detach(*raw);
    release(raw);
  });
  attributes.cap = qp->queue->settings().capabilities;
  return qp.release();
}

void destroy(Qp& qp) {
  context_of(qp.base.context).forget(qp.serial);
  detach(qp);
  wait_for_acknowledgements(qp);
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
  Qp* qp = create_qp(attributes.pd, plain, false, *spread);
  if (qp == nullptr) {
    context_of(context).adapter->segment().free(*spread);
    return nullptr;
  }
  qp->table = &table;
  ++table.users;
  return &qp->base;
}

ibv_qp* create_qp_ex(ibv_context* context, ibv_qp_init_attr_ex* attributes) {
  constexpr std::uint32_t kKnown =
      IBV_QP_INIT_ATTR_PD | IBV_QP_INIT_ATTR_CREATE_FLAGS | IBV_QP_INIT_ATTR_SEND_OPS_FLAGS;
  return or_null([&]() -> ibv_qp* {
    const std::uint32_t mask = attributes->comp_mask;
    if ((mask & (IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE)) != 0) {
      return create_spreading_qp(context, *attributes);
    }
    if ((mask & ~kKnown) != 0) return fail(EOPNOTSUPP);
    const std::uint32_t flags =
        (mask & IBV_QP_INIT_ATTR_CREATE_FLAGS) != 0 ? attributes->create_flags : 0;
    if ((flags & ~std::uint32_t{IBV_QP_CREATE_BLOCK_SELF_MCAST_LB}) != 0) return fail(EOPNOTSUPP);
    if ((mask & IBV_QP_INIT_ATTR_PD) == 0) return fail(EINVAL);
    ibv_qp_init_attr plain{.qp_context = attributes->qp_context,
                           .send_cq = attributes->send_cq,
                           .recv_cq = attributes->recv_cq,
                           .srq = attributes->srq,
                           .cap = attributes->cap,
                           .qp_type = attributes->qp_type,
                           .sq_sig_all = attributes->sq_sig_all};
    Qp* qp = create_qp(attributes->pd, plain, flags != 0);
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

}  // namespace

void set_qp_functions(verbs_context& table) {
  static_assert(offsetof(Qp, comp_mask) == sizeof(ibv_qp_ex));
  table.create_qp_ex = create_qp_ex;
  table.context.ops.post_send = post_send;
  table.context.ops.post_recv = post_receive;
}

}  // namespace gdr::verbs

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

GDR_EXPORT ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* attributes) {
  return or_null([&]() -> ibv_qp* {
    Qp* qp = create_qp(pd, *attributes);
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
    const int error = qp_of(qp).queue->modify(*attributes, mask);
    if (error == 0 && (mask & IBV_QP_STATE) != 0) qp->state = attributes->qp_state;
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

// Enhanced connection establishment is a matter between NICs of one vendor: this one has no options
// of its own, and of what another asks for it accepts none.
GDR_EXPORT int ibv_query_ece(ibv_qp* /*qp*/, ibv_ece* ece) {
  *ece = {};
  return 0;
}
GDR_EXPORT int ibv_set_ece(ibv_qp* /*qp*/, ibv_ece* ece) {
  if (ece->comp_mask != 0) return EINVAL;
  *ece = {};
  return 0;
}
