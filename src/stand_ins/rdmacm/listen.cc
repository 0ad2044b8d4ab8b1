#include <algorithm>
#include <cerrno>
#include <cstdlib>

#include "rdmacm/state.h"
#include "rdmacm/surface.h"

namespace gdr::rdmacm {
namespace {

constexpr int kShareFrom = 64;
constexpr cm::Time kLeftFor = 2'000'000'000;

// Another id of this process listens there on the same port, at another address.
bool is_shared(Library& l, const Id& id, const Device* device) {
  const auto found = l.ports.find(cm::service_id(id.visible.ps, id.port));
  return found != l.ports.end() && std::ranges::any_of(found->second, [&](const Id* other) {
           return other != &id &&
                  std::ranges::find(other->listening_on, device) != other->listening_on.end();
         });
}

int listen_on(Library& l, Device& device, Id& id) {
  if (const int error = prepare(device); error != 0) return error;
  const int error = is_shared(l, id, &device)
                        ? 0
                        : gdr_gsi_listen(device.gsi, cm::service_id(id.visible.ps, id.port));
  if (error == 0) id.listening_on.push_back(&device);
  return error;
}

int listen_everywhere(Library& l, Id& id) {
  int error = ENODEV;
  for (const auto& device : l.devices) {
    if (id.local && id.local->device != device.get()) continue;
    const int one = listen_on(l, *device, id);
    if (one == EADDRINUSE) return one;
    if (one == 0 || error == ENODEV) error = one;
  }
  // A device whose address this process cannot open takes nothing away from the others.
  return id.listening_on.empty() ? error : 0;
}

}  // namespace

void stop_listening(Library& l, Id& id) {
  if (!id.listening_on.empty()) {
    std::erase_if(l.left, [](const auto& one) { return now() - one.second > kLeftFor; });
    l.left[cm::service_id(id.visible.ps, id.port)] = now();
  }
  for (Device* device : id.listening_on) {
    if (!is_shared(l, id, device)) {
      gdr_gsi_unlisten(device->gsi, cm::service_id(id.visible.ps, id.port));
    }
  }
  id.listening_on.clear();
}

bool was_left(Library& l, std::uint64_t service_id) {
  const auto found = l.left.find(service_id);
  return found != l.left.end() && now() - found->second <= kLeftFor;
}

}  // namespace gdr::rdmacm

using namespace gdr::rdmacm;

GDR_EXPORT int rdma_listen(rdma_cm_id* id, int backlog) {
  Library& l = library();
  const Guard guard(l.lock);
  if (const int error = enter(l, id); error != 0) return fail(error);
  Id& mine = of(id);
  if (mine.phase == Phase::kIdle) {
    sockaddr_storage any{};
    any.ss_family = AF_INET;
    if (const int error = bind_id(l, mine, reinterpret_cast<sockaddr*>(&any)); error != 0) {
      return fail(error);
    }
  }
  if (mine.phase != Phase::kBound) return fail(EINVAL);
  // A listener shares its port with nobody.
  int error = mine.reuse_address ? check_port(l, mine, mine.port, false) : 0;
  if (error == 0) error = listen_everywhere(l, mine);
  if (error != 0) {
    stop_listening(l, mine);
    return fail(error);
  }
  mine.reuse_address = false;
  mine.backlog = backlog > 0 && backlog < kDefaultBacklog ? backlog : kDefaultBacklog;
  mine.shares_backlog = mine.backlog >= kShareFrom;  // a shorter one is for few anyway
  mine.phase = Phase::kListening;
  return 0;
}

namespace {

// What the event says of a request, as rdma-core's errno.
int error_of(const rdma_cm_event& event) {
  if (event.event == RDMA_CM_EVENT_REJECTED) return ECONNREFUSED;
  if (event.status != 0) return std::abs(event.status);
  return event.event == RDMA_CM_EVENT_CONNECT_REQUEST ? 0 : EINVAL;
}

}  // namespace

GDR_EXPORT int rdma_get_request(rdma_cm_id* listener, rdma_cm_id** id) {
  Library& l = library();
  {
    const Guard guard(l.lock);
    if (const int error = enter(l, listener); error != 0) return fail(error);
  }
  Id& mine = of(listener);
  if (!mine.synchronous || id == nullptr) return fail(EINVAL);
  if (listener->event != nullptr) {
    rdma_ack_cm_event(listener->event);
    listener->event = nullptr;
  }
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(listener->channel, &event) != 0) return -1;
  int error = error_of(*event);
  if (error == 0 && mine.request_attributes) {
    ibv_qp_init_attr attributes = *mine.request_attributes;
    if (rdma_create_qp(event->id, listener->pd, &attributes) != 0) error = errno;
  }
  if (error != 0) {
    listener->event = event;
    return fail(error);
  }
  *id = event->id;
  (*id)->event = event;
  return 0;
}
