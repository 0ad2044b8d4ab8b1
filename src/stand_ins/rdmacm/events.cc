// Events from where they happen to rdma_ack_cm_event. As in rdma-core, what an event asks of the
// queue pair is done while the program takes it.
#include <sys/eventfd.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rdmacm/state.h"
#include "rdmacm/surface.h"

namespace gdr::rdmacm {
namespace {

// The other side has accepted: our queue pair becomes ready, and the RTU says so.
void finish_connecting(QueuedEvent& event, Library& l) {
  Id& id = *event.id;
  if (id.visible.qp == nullptr) return;  // the program does it, and calls rdma_establish
  id.remote_ece = {event.message.offer.ece_vendor, event.message.offer.ece_options, 0};
  int error = to_ready_to_receive(id, RDMA_MAX_RESP_RES);
  if (error == 0) error = to_ready_to_send(id, RDMA_MAX_INIT_DEPTH);
  if (error == 0 && !(event.link && event.link->connection.ready({}, now()))) error = ENOTCONN;
  if (event.link) advance(l, event.link);
  if (error == 0) {
    event.event.event = RDMA_CM_EVENT_ESTABLISHED;
    return;
  }
  to_error(id);
  id.connect_error = true;
  event.event.event = RDMA_CM_EVENT_CONNECT_ERROR;
  event.event.status = -error;
}

void finish_joining(QueuedEvent& event) {
  Id& id = *event.id;
  if (!event.attach || id.visible.qp == nullptr) return;
  union ibv_gid group {};
  std::copy_n(event.group.begin(), 16, group.raw);
  const int error = ibv_attach_mcast(id.visible.qp, &group, 0);
  if (error != 0) {
    event.event.event = RDMA_CM_EVENT_MULTICAST_ERROR;
    event.event.status = -error;
    return;
  }
  for (Membership& m : id.memberships) {
    if (m.gid == event.group) m.attached = true;
  }
}

// False: the program does not get this event.
bool finish(QueuedEvent& event, Library& l) {
  switch (event.event.event) {
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
      finish_connecting(event, l);
      return true;
    case RDMA_CM_EVENT_REJECTED:
      if (event.id->connect_error) return false;
      to_error(*event.id);
      return true;
    case RDMA_CM_EVENT_DISCONNECTED:
      return !event.id->connect_error;
    case RDMA_CM_EVENT_MULTICAST_JOIN:
      finish_joining(event);
      return true;
    case RDMA_CM_EVENT_CONNECT_REQUEST:
      if (event.event.listen_id != nullptr) make_room(event);
      return true;
    default:
      return true;
  }
}

// One event less. A thread that has taken the count already finds the queue empty and waits again;
// so this one must not wait.
void uncount(int fd) {
  std::uint64_t one = 0;
  const iovec part{&one, sizeof one};
  [[maybe_unused]] const ssize_t got = preadv2(fd, &part, 1, -1, RWF_NOWAIT);
}

}  // namespace

void erase_events(rdma_event_channel* channel,
                  const std::function<bool(std::unique_ptr<QueuedEvent>&)>& is_erased) {
  for (std::size_t gone = of(channel).events.erase_if(is_erased); gone > 0; --gone) {
    uncount(channel->fd);
  }
}

void make_room(const QueuedEvent& request) {
  Id& listener = of(request.event.listen_id);
  ++listener.backlog;
  const auto found = listener.waiting.find(request.link->remote_gid);
  if (found != listener.waiting.end() && --found->second == 0) listener.waiting.erase(found);
}

std::unique_ptr<QueuedEvent> make_event(Id& id, rdma_cm_event_type type, int status) {
  auto event = std::make_unique<QueuedEvent>();
  event->id = &id;
  event->event.id = &id.visible;
  event->event.event = type;
  event->event.status = status;
  return event;
}

void queue(std::unique_ptr<QueuedEvent> event) {
  rdma_event_channel* visible = event->id->visible.channel;
  if (event->event.listen_id != nullptr) visible = event->event.listen_id->channel;
  if (visible == nullptr) return;  // the program has destroyed it
  of(visible).events.put(std::move(event));
  eventfd_write(visible->fd, 1);
}

int complete(rdma_cm_id* id) {
  Id& mine = of(id);
  if (!mine.synchronous) return 0;
  if (id->event != nullptr) {
    rdma_ack_cm_event(id->event);
    id->event = nullptr;
  }
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(id->channel, &event) != 0) return -1;
  id->event = event;
  if (event->status == 0) return 0;
  if (event->event == RDMA_CM_EVENT_REJECTED) return fail(ECONNREFUSED);
  return fail(std::abs(event->status));
}

}  // namespace gdr::rdmacm

using namespace gdr::rdmacm;

GDR_EXPORT int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  if (channel == nullptr || event == nullptr) return fail(EINVAL);
  Library& l = library();
  for (;;) {
    std::uint64_t one = 0;
    if (read(channel->fd, &one, sizeof one) != sizeof one) return -1;
    Guard guard(l.lock);
    EventQueue& events = of(channel).events;
    if (events.empty()) continue;  // it moved to another channel
    std::unique_ptr<QueuedEvent> taken = events.take();
    if (!finish(*taken, l)) continue;
    // A request's acknowledgement counts for the listener, as its new id may be destroyed first.
    if (taken->event.listen_id != nullptr) taken->id = &of(taken->event.listen_id);
    ++taken->id->unacknowledged;
    l.taken.insert(taken.get());
    *event = &taken.release()->event;
    guard.unlock();
    // A synchronous listener's requests are synchronous, each with a channel of its own.
    rdma_cm_id* listener = (*event)->listen_id;
    if (listener != nullptr && of(listener).synchronous &&
        rdma_migrate_id((*event)->id, nullptr) != 0) {
      const int error = errno;
      rdma_destroy_id((*event)->id);
      rdma_ack_cm_event(*event);
      errno = error;
      return -1;
    }
    return 0;
  }
}

GDR_EXPORT int rdma_ack_cm_event(rdma_cm_event* event) {
  Library& l = library();
  std::unique_ptr<QueuedEvent> mine;  // freed behind the lock
  const Guard guard(l.lock);
  if (l.taken.erase(reinterpret_cast<QueuedEvent*>(event)) == 0) return fail(EINVAL);
  mine.reset(reinterpret_cast<QueuedEvent*>(event));
  if (l.ids.contains(mine->id) && mine->id->unacknowledged > 0) --mine->id->unacknowledged;
  l.acknowledged.notify_all();
  return 0;
}

namespace {

void move_events(Id& id, rdma_event_channel* from, rdma_event_channel* to) {
  erase_events(from, [&](std::unique_ptr<QueuedEvent>& event) {
    const rdma_cm_id* listener = event->event.listen_id;
    if (listener != nullptr ? listener != &id.visible : event->id != &id) return false;
    if (listener != nullptr) event->id->visible.channel = to;
    of(to).events.put(std::move(event));
    eventfd_write(to->fd, 1);
    return true;
  });
}

}  // namespace

GDR_EXPORT int rdma_migrate_id(rdma_cm_id* id, rdma_event_channel* channel) {
  Library& l = library();
  {
    const Guard guard(l.lock);
    if (const int error = enter(l, id); error != 0) return fail(error);
    if (of(id).synchronous && channel == nullptr) return fail(EINVAL);
  }
  Id& mine = of(id);
  const bool synchronous = channel == nullptr;
  if (synchronous) channel = rdma_create_event_channel();
  if (channel == nullptr) return -1;
  rdma_event_channel* old = id->channel;
  if (mine.synchronous && id->event != nullptr) {
    rdma_ack_cm_event(id->event);
    id->event = nullptr;
  }
  if (channel == old) return 0;
  {
    Guard guard(l.lock);
    move_events(mine, old, channel);
    id->channel = channel;
    l.acknowledged.wait(guard, [&] { return mine.unacknowledged == 0; });
  }
  if (mine.synchronous) free_channel(old);
  mine.synchronous = synchronous;
  return 0;
}

GDR_EXPORT const char* rdma_event_str(rdma_cm_event_type event) {
  static constexpr const char* kNames[] = {"RDMA_CM_EVENT_ADDR_RESOLVED",
                                           "RDMA_CM_EVENT_ADDR_ERROR",
                                           "RDMA_CM_EVENT_ROUTE_RESOLVED",
                                           "RDMA_CM_EVENT_ROUTE_ERROR",
                                           "RDMA_CM_EVENT_CONNECT_REQUEST",
                                           "RDMA_CM_EVENT_CONNECT_RESPONSE",
                                           "RDMA_CM_EVENT_CONNECT_ERROR",
                                           "RDMA_CM_EVENT_UNREACHABLE",
                                           "RDMA_CM_EVENT_REJECTED",
                                           "RDMA_CM_EVENT_ESTABLISHED",
                                           "RDMA_CM_EVENT_DISCONNECTED",
                                           "RDMA_CM_EVENT_DEVICE_REMOVAL",
                                           "RDMA_CM_EVENT_MULTICAST_JOIN",
                                           "RDMA_CM_EVENT_MULTICAST_ERROR",
                                           "RDMA_CM_EVENT_ADDR_CHANGE",
                                           "RDMA_CM_EVENT_TIMEWAIT_EXIT",
                                           "RDMA_CM_EVENT_ADDRINFO_RESOLVED",
                                           "RDMA_CM_EVENT_ADDRINFO_ERROR",
                                           "RDMA_CM_EVENT_USER"};
  const auto index = static_cast<unsigned>(event);
  return index < std::size(kNames) ? kNames[index] : "UNKNOWN EVENT";
}
