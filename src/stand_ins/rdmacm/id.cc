#include <algorithm>
#include <cerrno>
#include <new>

#include "base/random.h"
#include "rdmacm/state.h"
#include "rdmacm/surface.h"

using namespace gdr::rdmacm;

namespace {

ibv_qp_type type_for(rdma_port_space space) {
  return space == RDMA_PS_UDP || space == RDMA_PS_IPOIB ? IBV_QPT_UD : IBV_QPT_RC;
}

// Events that nobody took; requests among them are rejected with their ids.
void drop_events(Library& l, Id& id) {
  auto& events = of(id.visible.channel).events;
  for (auto at = events.begin(); at != events.end();) {
    QueuedEvent& event = **at;
    const bool request_to = event.event.listen_id == &id.visible;
    if (event.id != &id && !request_to) {
      ++at;
      continue;
    }
    if (request_to && event.id != &id) {
      event.link->owner = nullptr;
      event.link->connection.abandon(now());
      advance(l, event.link);
      l.ids.erase(event.id);
      delete event.id;
    }
    at = events.erase(at);
  }
}

}  // namespace

GDR_EXPORT int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context,
                              rdma_port_space ps) {
  if (id == nullptr) return fail(EINVAL);
  Library& l = library();
  {
    const Guard guard(l.lock);
    if (const int error = open_devices(l); error != 0) return fail(error);
  }
  auto* mine = new (std::nothrow) Id;
  if (mine == nullptr) return fail(ENOMEM);
  mine->visible.context = context;
  mine->visible.ps = ps;
  mine->visible.qp_type = type_for(ps);
  mine->synchronous = channel == nullptr;
  mine->qkey = kDatagramKey;
  mine->psn = static_cast<std::uint32_t>(gdr::random_u64()) & 0xffffff;
  mine->visible.channel = channel != nullptr ? channel : rdma_create_event_channel();
  if (mine->visible.channel == nullptr) {
    delete mine;
    return -1;
  }
  const Guard guard(l.lock);
  l.ids.insert(mine);
  *id = &mine->visible;
  return 0;
}

GDR_EXPORT int rdma_destroy_id(rdma_cm_id* id) {
  if (id == nullptr) return fail(EINVAL);
  Library& l = library();
  Id& mine = of(id);
  if (mine.synchronous && id->event != nullptr) {
    rdma_ack_cm_event(id->event);
    id->event = nullptr;
  }
  while (!mine.memberships.empty()) {
    sockaddr_storage address = mine.memberships.front().address;
    rdma_leave_multicast(id, reinterpret_cast<sockaddr*>(&address));
  }
  Guard guard(l.lock);
  if (!l.ids.contains(&mine)) return fail(EINVAL);
  for (Device* device : mine.listening_on) {
    gdr_gsi_unlisten(device->gsi, gdr::cm::service_id(id->ps, mine.port));
  }
  mine.listening_on.clear();
  mine.phase = Phase::kIdle;
  release_port(l, mine);
  if (mine.link) {
    mine.link->owner = nullptr;
    mine.link->connection.abandon(now());
    advance(l, mine.link);
  }
  drop_events(l, mine);
  l.acknowledged.wait(guard, [&] { return mine.unacknowledged == 0; });
  l.ids.erase(&mine);
  guard.unlock();
  if (mine.synchronous) rdma_destroy_event_channel(id->channel);
  delete &mine;
  return 0;
}
