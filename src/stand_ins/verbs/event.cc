// Asynchronous events: handing out, and the acknowledgements that destruction waits for.
#include "verbs/abi.h"
#include "verbs/cq.h"
#include "verbs/errors.h"
#include "verbs/objects.h"
#include "verbs/qp.h"
#include "verbs/srq.h"
#include "verbs/wq.h"

namespace gdr::verbs {

void Context::expect_events(const void* object) {
  const std::lock_guard guard(events_mutex);
  event_objects.insert(object);
}

void Context::drop_events(const void* object) {
  if (session->is_inherited()) return;
  const std::lock_guard guard(events_mutex);
  event_objects.erase(object);
  events->drop(object);
}

namespace {

enum class Kind { kCompletionQueue, kQueuePair, kSrq, kWorkQueue, kPort };

Kind kind_of(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_CQ_ERR:
      return Kind::kCompletionQueue;
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return Kind::kQueuePair;
    case IBV_EVENT_WQ_FATAL:
      return Kind::kWorkQueue;
    case IBV_EVENT_SRQ_ERR:
    case IBV_EVENT_SRQ_LIMIT_REACHED:
      return Kind::kSrq;
    default:
      return Kind::kPort;
  }
}

// Under the lock that destroy takes before it drops an object's events: an event is either counted
// as handed out, and awaited, or dropped.
int take_event(Context& context, ibv_async_event& event) {
  for (;;) {
    if (const int error = wait_readable(context.events->descriptor())) return minus_one(error);
    const std::lock_guard guard(context.events_mutex);
    if (!is_readable(context.events->descriptor())) continue;  // another thread took it
    Result<rnic::Event> taken = context.events->take();
    if (!taken) return minus_one(taken.error().code);
    if (taken->object != nullptr && !context.expects_events(taken->object)) continue;
    event.event_type = taken->type;
    switch (kind_of(taken->type)) {
      case Kind::kCompletionQueue:
        event.element.cq = &static_cast<Cq*>(taken->object)->base;
        ++cq_of(event.element.cq).async_events_taken;
        break;
      case Kind::kQueuePair:
        event.element.qp = &static_cast<Qp*>(taken->object)->base;
        ++qp_of(event.element.qp).events_taken;
        break;
      case Kind::kWorkQueue:
        event.element.wq = &static_cast<Wq*>(taken->object)->base;
        ++wq_of(event.element.wq).events_taken;
        break;
      case Kind::kSrq:
        event.element.srq = &static_cast<Srq*>(taken->object)->base;
        ++srq_of(event.element.srq).events_taken;
        break;
      case Kind::kPort:
        event.element.port_num = kPort;
        break;
    }
    return 0;
  }
}

}  // namespace
}  // namespace gdr::verbs

using namespace gdr::verbs;  // NOLINT: this file is the C interface of the namespace

GDR_EXPORT int ibv_get_async_event(ibv_context* context, ibv_async_event* event) {
  return take_event(context_of(context), *event);
}

GDR_EXPORT void ibv_ack_async_event(ibv_async_event* event) {
  switch (kind_of(event->event_type)) {
    case Kind::kCompletionQueue: {
      ibv_cq* cq = event->element.cq;
      pthread_mutex_lock(&cq->mutex);
      ++cq->async_events_completed;
      pthread_cond_broadcast(&cq->cond);
      pthread_mutex_unlock(&cq->mutex);
      return;
    }
    case Kind::kQueuePair: {
      ibv_qp* qp = event->element.qp;
      pthread_mutex_lock(&qp->mutex);
      ++qp->events_completed;
      pthread_cond_broadcast(&qp->cond);
      pthread_mutex_unlock(&qp->mutex);
      return;
    }
    case Kind::kWorkQueue: {
      ibv_wq* wq = event->element.wq;
      pthread_mutex_lock(&wq->mutex);
      ++wq->events_completed;
      pthread_cond_broadcast(&wq->cond);
      pthread_mutex_unlock(&wq->mutex);
      return;
    }
    case Kind::kSrq: {
      ibv_srq* srq = event->element.srq;
      pthread_mutex_lock(&srq->mutex);
      ++srq->events_completed;
      pthread_cond_broadcast(&srq->cond);
      pthread_mutex_unlock(&srq->mutex);
      return;
    }
    case Kind::kPort:
      return;
  }
}
