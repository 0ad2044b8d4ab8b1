#include <algorithm>
#include <cerrno>
#include <new>
#include <optional>

#include "base/random.h"
#include "rdmacm/state.h"
#include "rdmacm/surface.h"

namespace gdr::rdmacm {
namespace {

// As the kernel's: the queue pairs of RDMA_PS_IB are whatever the program makes of them.
std::optional<ibv_qp_type> type_for(rdma_port_space space) {
  switch (space) {
    case RDMA_PS_UDP:
    case RDMA_PS_IPOIB:
      return IBV_QPT_UD;
    case RDMA_PS_TCP:
    case RDMA_PS_IB:
      return IBV_QPT_RC;
    default:
      return std::nullopt;
  }
}

// Events that nobody took; requests among them are rejected with their ids.
void drop_events(Library& l, Id& id) {
  if (id.visible.channel == nullptr) return;
  erase_events(id.visible.channel, [&](std::unique_ptr<QueuedEvent>& event) {
    const bool request_to = event->event.listen_id == &id.visible;
    if (request_to && event->id != &id) drop_request(l, *event);
    return event->id == &id || request_to;
  });
}

}  // namespace

void drop_request(Library& l, QueuedEvent& request) {
  Id* id = request.id;
  retire(l, *id);
  l.ids.erase(id);
  delete id;
}

void retire(Library& l, Id& id) {
  stop_listening(l, id);
  id.phase = Phase::kIdle;
  release_port(l, id);
  if (!id.link) return;
  id.link->owner = nullptr;
  id.link->connection.abandon(now());
  advance(l, id.link);
  id.link.reset();
}

}  // namespace gdr::rdmacm

using namespace gdr::rdmacm;

GDR_EXPORT int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context,
                              rdma_port_space ps) {
  const auto type = type_for(ps);
  if (id == nullptr || !type) return fail(EINVAL);
  Library& l = library();
  {
    const Guard guard(l.lock);
    if (const int error = open_devices(l); error != 0) return fail(error);
  }
  auto* mine = new (std::nothrow) Id;
  if (mine == nullptr) return fail(ENOMEM);
  mine->visible.context = context;
  mine->visible.ps = ps;
  mine->visible.qp_type = *type;
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
  Library& l = library();
  {
    const Guard guard(l.lock);
    if (enter(l, id) == EINVAL) return fail(EINVAL);
  }
  Id& mine = of(id);
  if (mine.synchronous && id->event != nullptr) {
    rdma_ack_cm_event(id->event);
    id->event = nullptr;
  }
  while (id->channel != nullptr && !mine.memberships.empty()) {
    sockaddr_storage address = mine.memberships.front().address;
    rdma_leave_multicast(id, reinterpret_cast<sockaddr*>(&address));
  }
  Guard guard(l.lock);
  retire(l, mine);
  drop_events(l, mine);
  l.acknowledged.wait(guard, [&] { return mine.unacknowledged == 0; });
  l.ids.erase(&mine);
  guard.unlock();
  if (mine.synchronous) free_channel(id->channel);
  delete &mine;
  return 0;
}
