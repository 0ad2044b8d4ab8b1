#include <cerrno>

#include "rdmacm/state.h"
#include "rdmacm/surface.h"

namespace gdr::rdmacm {
namespace {

int listen_on(Device& device, Id& id) {
  if (const int error = prepare(device); error != 0) return error;
  const int error = gdr_gsi_listen(device.gsi, cm::service_id(id.visible.ps, id.port));
  if (error == 0) id.listening_on.push_back(&device);
  return error;
}

int listen_everywhere(Library& l, Id& id) {
  int error = ENODEV;
  for (const auto& device : l.devices) {
    if (id.local && id.local->device != device.get()) continue;
    const int one = listen_on(*device, id);
    if (one == EADDRINUSE) return one;
    if (one == 0 || error == ENODEV) error = one;
  }
  // A device whose address this process cannot open takes nothing away from the others.
  return id.listening_on.empty() ? error : 0;
}

}  // namespace
}  // namespace gdr::rdmacm

using namespace gdr::rdmacm;

GDR_EXPORT int rdma_listen(rdma_cm_id* id, int backlog) {
  Library& l = library();
  const Guard guard(l.lock);
  Id& mine = of(id);
  if (mine.phase == Phase::kIdle) {
    sockaddr_storage any{};
    any.ss_family = AF_INET;
    if (const int error = bind_id(l, mine, reinterpret_cast<sockaddr*>(&any)); error != 0) {
      return fail(error);
    }
  }
  if (mine.phase != Phase::kBound) return fail(EINVAL);
  const int error = listen_everywhere(l, mine);
  if (error != 0) {
    for (Device* device : mine.listening_on) {
      gdr_gsi_unlisten(device->gsi, gdr::cm::service_id(id->ps, mine.port));
    }
    mine.listening_on.clear();
    return fail(error);
  }
  mine.backlog = backlog > 0 && backlog < kDefaultBacklog ? backlog : kDefaultBacklog;
  mine.phase = Phase::kListening;
  return 0;
}

GDR_EXPORT int rdma_get_request(rdma_cm_id* listener, rdma_cm_id** id) {
  Id& mine = of(listener);
  if (!mine.synchronous) return fail(EINVAL);
  if (listener->event != nullptr) {
    rdma_ack_cm_event(listener->event);
    listener->event = nullptr;
  }
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(listener->channel, &event) != 0) return -1;
  int error = event->status != 0 ? -event->status : 0;
  if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST && error == 0) error = EINVAL;
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
