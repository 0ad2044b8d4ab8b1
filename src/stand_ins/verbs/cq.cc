// Completion queues: making, destroying, polling. Polling is hot.
#include "verbs/cq.h"

#include <algorithm>

#include "verbs/abi.h"
#include "verbs/acknowledgements.h"
#include "verbs/context.h"
#include "verbs/errors.h"
#include "verbs/objects.h"

namespace gdr::verbs {
namespace {

void convert(const rnic::SharedCompletion& from, ibv_wc& to) {
  to.wr_id = from.wr_id;
  to.status = static_cast<ibv_wc_status>(from.status);
  to.opcode = static_cast<ibv_wc_opcode>(from.opcode);
  to.vendor_err = 0;
  to.byte_len = from.bytes;
  to.imm_data = from.immediate;
  to.qp_num = from.qp_number;
  to.src_qp = from.source_qp;
  to.wc_flags = from.flags;
  to.pkey_index = 0;
  to.slid = 0;
  to.sl = static_cast<std::uint8_t>(from.service_level);
  to.dlid_path_bits = 0;
}

// For the line at the end of `gdr run`: a side that only receives has used the device, too.
int counted(const ibv_cq* cq, const ibv_wc* completions, int count) {
  const usage::Counted usage = count > 0 ? context_of(cq->context).usage : nullptr;
  if (usage == nullptr) return count;
  std::uint64_t bytes = 0;
  for (int i = 0; i < count; ++i) {
    const bool is_receive =
        completions[i].status == IBV_WC_SUCCESS && (completions[i].opcode & IBV_WC_RECV) != 0;
    if (is_receive) bytes += completions[i].byte_len;
  }
  usage::moved(usage, bytes);
  return count;
}

int poll_cq(ibv_cq* cq, int entries, ibv_wc* completions) {
  if (entries <= 0) return 0;
  const auto poll = [=] {
    return cq_of(cq).queue->poll(
        static_cast<std::uint32_t>(entries),
        [=](std::uint32_t i, const rnic::SharedCompletion& entry, const rnic::CompletionAnnex&) {
          convert(entry, completions[i]);
        });
  };
  const int count = poll();
  if (count != 0 || !context_of(cq->context).adapter->progress()) {
    return counted(cq, completions, count);
  }
  return counted(cq, completions, poll());
}

int request_notification(ibv_cq* cq, int solicited_only) {
  cq_of(cq).queue->request_notification(solicited_only != 0);
  context_of(cq->context).adapter->awaits_event();
  return 0;
}

int modify_cq(ibv_cq* cq, ibv_modify_cq_attr* attributes) {
  if ((attributes->attr_mask & ~std::uint32_t{IBV_CQ_ATTR_MODERATE}) != 0) return EOPNOTSUPP;
  if (attributes->attr_mask == 0) return 0;
  cq_of(cq).queue->moderate(attributes->moderate.cq_count,
                            attributes->moderate.cq_period * kMicrosecond);
  // Events that the old setting delays may be due under the new one.
  context_of(cq->context).adapter->neighbours().wake_service();
  return 0;
}

void count_channel_user(ibv_comp_channel* channel, int difference) {
  if (channel == nullptr) return;
  pthread_mutex_lock(&channel->context->mutex);
  channel->refcnt += difference;
  pthread_mutex_unlock(&channel->context->mutex);
}

// From here on nothing of the device knows the queue, and no event of it waits anywhere.
void detach(Cq& cq) {
  Context& context = context_of(cq.base.context);
  context.adapter->destroy_completion_queue(*cq.queue);
  if (context.session->is_inherited()) return;
  cq.signal->disconnect();
  if (cq.base.channel != nullptr) channel_of(cq.base.channel).drop(cq);
  context.drop_events(&cq);
}

void release(Cq* cq) {
  if (cq->domain != nullptr) --cq->domain->users;
  count_channel_user(cq->base.channel, -1);
  pthread_cond_destroy(&cq->base.cond);
  pthread_mutex_destroy(&cq->base.mutex);
  delete cq;
}

}  // namespace

Cq* create_cq(ibv_context* context, std::uint32_t entries, void* cq_context,
              ibv_comp_channel* channel, std::uint32_t vector, std::uint32_t traits) {
  Context& opened = context_of(context);
  if (vector >= static_cast<std::uint32_t>(context->num_comp_vectors)) return fail(EINVAL);
  auto cq = std::make_unique<Cq>();
  cq->signal =
      std::make_shared<CompletionSignal>(channel == nullptr ? nullptr : &channel_of(channel));
  rnic::CompletionQueueSettings settings{.limit = entries, .traits = traits};
  if (channel != nullptr) {
    settings.on_event = [signal = cq->signal](std::uint32_t queue) { return signal->raise(queue); };
    settings.on_unheard = [signal = cq->signal] { signal->mend(); };
    settings.pipe = channel_of(channel).pipe();
  }
  auto queue = opened.adapter->create_completion_queue(std::move(settings));
  if (!queue) return fail(queue.error());
  cq->queue = *std::move(queue);
  cq->base.context = context;
  cq->base.channel = channel;
  cq->base.cq_context = cq_context;
  cq->base.cqe = static_cast<int>(cq->queue->limit());
  pthread_mutex_init(&cq->base.mutex, nullptr);
  pthread_cond_init(&cq->base.cond, nullptr);
  count_channel_user(channel, 1);
  if (channel != nullptr) channel_of(channel).attach(*cq);
  opened.expect_events(cq.get());
  opened.adapter->watch_overrun(*cq->queue, opened.events, cq.get());
  cq->serial = opened.adopt([raw = cq.get()] {
    detach(*raw);
    release(raw);
  });
  cq->base.handle = static_cast<std::uint32_t>(cq->serial);
  return cq.release();
}

void set_cq_functions(verbs_context& table) {
  table.context.ops.poll_cq = poll_cq;
  table.context.ops.req_notify_cq = request_notification;
  table.create_cq_ex = create_cq_ex;
  table.modify_cq = modify_cq;
}

}  // namespace gdr::verbs

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

GDR_EXPORT ibv_cq* ibv_create_cq(ibv_context* context, int entries, void* cq_context,
                                 ibv_comp_channel* channel, int vector) {
  return or_null([&]() -> ibv_cq* {
    if (entries < 1 || vector < 0) return fail(EINVAL);
    Cq* cq = create_cq(context, static_cast<std::uint32_t>(entries), cq_context, channel,
                       static_cast<std::uint32_t>(vector));
    return cq == nullptr ? nullptr : &cq->base;
  });
}

GDR_EXPORT int ibv_destroy_cq(ibv_cq* cq) {
  return or_errno([&] {
    Cq& queue = cq_of(cq);
    if (queue.users.load() != 0) return EBUSY;
    context_of(cq->context).forget(queue.serial);
    detach(queue);
    wait_for_acknowledgements(queue.base, [&] {
      return queue.base.comp_events_completed == queue.events_taken &&
             queue.base.async_events_completed == queue.async_events_taken;
    });
    release(&queue);
    return 0;
  });
}

GDR_EXPORT int ibv_resize_cq(ibv_cq* cq, int entries) {
  return or_errno([&] {
    if (entries < 1) return EINVAL;
    gdr::Result<void> resized = cq_of(cq).queue->resize(static_cast<std::uint32_t>(entries));
    if (!resized) return resized.error().code;
    cq->cqe = entries;
    return 0;
  });
}
