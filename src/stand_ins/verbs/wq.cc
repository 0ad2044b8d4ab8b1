#include "verbs/wq.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "rnic/receive_hash.h"
#include "verbs/acknowledgements.h"
#include "verbs/cq.h"
#include "verbs/errors.h"
#include "verbs/objects.h"

namespace gdr::verbs {
namespace {

int post_receive(ibv_wq* wq, ibv_recv_wr* list, ibv_recv_wr** bad) {
  return wq_of(wq).queue->post_receive(list, const_cast<const ibv_recv_wr**>(bad));
}

void detach(Wq& wq) {
  Context& context = context_of(wq.base.context);
  context.adapter->destroy_queue_pair(*wq.queue);
  context.drop_events(&wq);
}

void release(Wq* wq) {
  --cq_of(wq->base.cq).users;
  --pd_of(wq->base.pd).users;
  delete wq;
}

ibv_wq* create_wq(ibv_context* context, ibv_wq_init_attr* attributes) {
  return or_null([&]() -> ibv_wq* {
    if (attributes->comp_mask != 0) return fail(EOPNOTSUPP);  // its only bit: the create flags
    const bool complete = attributes->pd != nullptr && attributes->cq != nullptr &&
                          raw(attributes->wq_type) == IBV_WQT_RQ && attributes->max_wr > 0;
    if (!complete) return fail(EINVAL);
    Context& opened = context_of(context);
    auto wq = std::make_unique<Wq>();
    Cq& cq = cq_of(attributes->cq);
    rnic::QueuePairSettings settings;
    settings.type = IBV_QPT_RAW_PACKET;
    settings.device = opened.device->index;
    settings.context = opened.number;
    settings.protection_domain = pd_of(attributes->pd).domain;
    settings.send_completion_queue = settings.receive_completion_queue = cq.queue;
    settings.events = opened.events;
    settings.verbs_object = wq.get();
    settings.capabilities.max_recv_wr = attributes->max_wr;
    settings.capabilities.max_recv_sge = attributes->max_sge;
    settings.work_queue = true;
    auto queue = opened.adapter->create_queue_pair(settings);
    if (!queue) return fail(queue.error());
    wq->queue = *std::move(queue);
    wq->base.context = context;
    wq->base.pd = attributes->pd;
    wq->base.cq = attributes->cq;
    wq->base.wq_num = wq->base.handle = wq->queue->number();
    wq->base.state = IBV_WQS_RESET;
    wq->base.wq_type = IBV_WQT_RQ;
    wq->base.post_recv = post_receive;
    ++cq.users;
    ++pd_of(attributes->pd).users;
    opened.expect_events(wq.get());
    wq->serial = opened.adopt([own = wq.get()] {
      detach(*own);
      release(own);
    });
    attributes->max_wr = wq->queue->settings().capabilities.max_recv_wr;
    return &wq.release()->base;
  });
}

int destroy_wq(ibv_wq* wq) {
  return or_errno([&] {
    Wq& own = wq_of(wq);
    if (own.users.load() != 0) return EBUSY;
    context_of(wq->context).forget(own.serial);
    detach(own);
    // Its mutex and condition are the inline ibv_create_wq's to make, so they are there by now.
    wait_for_acknowledgements(own.base,
                              [&] { return own.base.events_completed == own.events_taken; });
    release(&own);
    return 0;
  });
}

ibv_wq_state state_of(const Wq& wq) {
  switch (wq.queue->state()) {
    case IBV_QPS_RTR:
      return IBV_WQS_RDY;
    case IBV_QPS_ERR:
      return IBV_WQS_ERR;
    default:
      return IBV_WQS_RESET;
  }
}

int move_to(Wq& wq, ibv_qp_state state, int mask = 0) {
  ibv_qp_attr attr{};
  attr.qp_state = state;
  attr.port_num = kPort;
  return wq.queue->modify(attr, IBV_QP_STATE | mask);
}

int make_ready(Wq& wq) {
  if (const int error = move_to(wq, IBV_QPS_INIT, IBV_QP_PORT)) return error;
  return move_to(wq, IBV_QPS_RTR);
}

int modify_wq(ibv_wq* wq, ibv_wq_attr* attributes) {
  return or_errno([&] {
    Wq& own = wq_of(wq);
    const std::uint32_t mask = attributes->attr_mask;
    if ((mask & ~std::uint32_t{IBV_WQ_ATTR_STATE | IBV_WQ_ATTR_CURR_STATE}) != 0) return EOPNOTSUPP;
    const ibv_wq_state from = state_of(own);
    if ((mask & IBV_WQ_ATTR_CURR_STATE) != 0 && raw(attributes->curr_wq_state) != from) {
      return EINVAL;
    }
    if ((mask & IBV_WQ_ATTR_STATE) == 0) return 0;
    int error = EINVAL;
    switch (raw(attributes->wq_state)) {
      case IBV_WQS_RESET:
        error = move_to(own, IBV_QPS_RESET);
        break;
      case IBV_WQS_RDY:
        if (from == IBV_WQS_RDY) return 0;
        if (from == IBV_WQS_RESET) error = make_ready(own);
        break;
      case IBV_WQS_ERR:
        if (from != IBV_WQS_RESET) error = move_to(own, IBV_QPS_ERR);
        break;
      default:
        break;
    }
    if (error == 0) wq->state = attributes->wq_state;
    return error;
  });
}

void release(RwqTable* table) {
  for (Wq* wq : table->queues) --wq->users;
  delete table;
}

ibv_rwq_ind_table* create_table(ibv_context* context, ibv_rwq_ind_table_init_attr* attributes) {
  return or_null([&]() -> ibv_rwq_ind_table* {
    constexpr std::uint32_t kMostEntriesLog = std::countr_zero(rnic::kMaxSpread);
    if (attributes->comp_mask != 0 || attributes->log_ind_tbl_size > kMostEntriesLog) {
      return fail(EINVAL);
    }
    auto table = std::make_unique<RwqTable>();
    for (std::uint32_t i = 0; i < 1u << attributes->log_ind_tbl_size; ++i) {
      ibv_wq* wq = attributes->ind_tbl[i];
      if (wq == nullptr || wq->context != context) return fail(EINVAL);
      table->queues.push_back(&wq_of(wq));
    }
    for (Wq* wq : table->queues) ++wq->users;
    table->base.context = context;
    table->serial = context_of(context).adopt([raw = table.get()] { release(raw); });
    table->base.ind_tbl_handle = table->base.ind_tbl_num = static_cast<int>(table->serial);
    return &table.release()->base;
  });
}

int destroy_table(ibv_rwq_ind_table* table) {
  return or_errno([&] {
    RwqTable& own = table_of(table);
    if (own.users.load() != 0) return EBUSY;
    context_of(table->context).forget(own.serial);
    release(&own);
    return 0;
  });
}

}  // namespace

Result<std::uint64_t> make_spread(ibv_context* context, const ibv_qp_init_attr_ex& attributes) {
  constexpr std::uint32_t kBoth = IBV_QP_INIT_ATTR_RX_HASH | IBV_QP_INIT_ATTR_IND_TABLE;
  const ibv_rx_hash_conf& hash = attributes.rx_hash_conf;
  if ((attributes.comp_mask & kBoth) != kBoth || attributes.rwq_ind_tbl == nullptr ||
      attributes.qp_type != IBV_QPT_RAW_PACKET) {
    return Error{EINVAL, "a hash and a table belong together, on a raw packet queue pair"};
  }
  if (hash.rx_hash_function != IBV_RX_HASH_FUNC_TOEPLITZ ||
      (hash.rx_hash_fields_mask & ~rnic::kHashFields) != 0) {
    return Error{EOPNOTSUPP, "another hash than Toeplitz's, or of other fields than served"};
  }
  rnic::SharedSpread spread{};
  if (hash.rx_hash_key_len != sizeof spread.key || hash.rx_hash_key == nullptr) {
    return Error{EINVAL, "a hash key that is not of 40 bytes"};
  }
  std::memcpy(spread.key, hash.rx_hash_key, sizeof spread.key);
  spread.fields = static_cast<std::uint32_t>(hash.rx_hash_fields_mask);
  const RwqTable& table = table_of(attributes.rwq_ind_tbl);
  spread.size = static_cast<std::uint32_t>(table.queues.size());
  std::transform(table.queues.begin(), table.queues.end(), std::begin(spread.queue_pair),
                 [](const Wq* wq) { return wq->queue->index(); });
  return rnic::make_spread(context_of(context).adapter->segment(), spread);
}

void set_wq_functions(verbs_context& table) {
  table.create_wq = create_wq;
  table.modify_wq = modify_wq;
  table.destroy_wq = destroy_wq;
  table.create_rwq_ind_table = create_table;
  table.destroy_rwq_ind_table = destroy_table;
}

}  // namespace gdr::verbs
