// Names to addresses with the result as an event: rdma-core 58 and later (RDMACM_1.4), and events
// that a program writes for itself. As there, the name is looked up on the calling thread.
#include <cerrno>
#include <cstring>

#include "rdmacm/state.h"
#include "rdmacm/surface.h"

namespace gdr::rdmacm {
namespace {

// One look-up at a time, from the call until its result is taken.
int begin(rdma_cm_id* id) {
  Library& l = library();
  const Guard guard(l.lock);
  if (const int error = enter(l, id); error != 0) return error;
  if (of(id).resolving_addresses) return EBUSY;
  of(id).resolving_addresses = true;
  return 0;
}

void give_up(Id& id) {
  const Guard guard(library().lock);
  id.resolving_addresses = false;
}

// 0, errno, or an EAI_ code, which rdma-core leaves in errno, too.
int look_up(Id& id, const char* node, const char* service, const rdma_addrinfo* hints) {
  const int flags = hints != nullptr ? hints->ai_flags : 0;
  if ((flags & kFromSubnet) != 0 && ((flags & kFromNames) != 0 || node != nullptr)) return ENOTSUP;
  rdma_addrinfo* found = nullptr;
  if (const int error = rdma_getaddrinfo(node, service, hints, &found); error != 0) {
    return error == -1 ? errno : error;
  }
  const Guard guard(library().lock);
  id.addresses.reset(found);
  queue(make_event(id, kAddressesResolved));
  return 0;
}

}  // namespace
}  // namespace gdr::rdmacm

using namespace gdr::rdmacm;

GDR_EXPORT int rdma_resolve_addrinfo(rdma_cm_id* id, const char* node, const char* service,
                                     const rdma_addrinfo* hints) {
  if (const int error = begin(id); error != 0) return fail(error);
  if (const int error = look_up(of(id), node, service, hints); error != 0) {
    give_up(of(id));
    return fail(error);
  }
  return complete(id);
}

GDR_EXPORT int rdma_query_addrinfo(rdma_cm_id* id, rdma_addrinfo** info) {
  Library& l = library();
  const Guard guard(l.lock);
  if (const int error = enter(l, id); error != 0) return fail(error);
  if (info == nullptr) return fail(EINVAL);
  Id& mine = of(id);
  if (!mine.addresses) return fail(ENOENT);
  *info = mine.addresses.release();
  mine.resolving_addresses = false;
  return 0;
}

GDR_EXPORT int rdma_write_cm_event(rdma_cm_id* id, rdma_cm_event_type event, int status,
                                   std::uint64_t argument) {
  Library& l = library();
  const Guard guard(l.lock);
  if (const int error = enter(l, id); error != 0) return fail(error);
  if (event != kUserEvent) return fail(EINVAL);
  auto made = make_event(of(id), event, status);
  std::memcpy(&made->event.param, &argument, sizeof argument);
  queue(std::move(made));
  return 0;
}
