// Addresses to devices, as the kernel's routing table says. Nothing here waits for the network, so
// the event is there when the call returns.
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "base/system_calls.h"
#include "base/unique_fd.h"
#include "rdmacm/state.h"
#include "rdmacm/surface.h"

namespace gdr::rdmacm {
namespace {

// Which address of this host the kernel would send from.
int source_towards(const sockaddr* destination, sockaddr_storage& source) {
  const UniqueFd fd(system_socket(destination->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (fd.get() < 0) return errno;
  sockaddr_storage with_port{};
  std::memcpy(&with_port, destination, length_of(destination));
  auto* to = reinterpret_cast<sockaddr*>(&with_port);
  if (rdmacm::port_of(to) == 0) set_port(to, 9);
  if (connect(fd.get(), to, length_of(destination)) != 0) return errno;
  socklen_t length = sizeof source;
  return getsockname(fd.get(), reinterpret_cast<sockaddr*>(&source), &length) == 0 ? 0 : errno;
}

const LocalAddress* with_gid(const std::vector<LocalAddress>& all, const cm::Gid& gid) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const auto& a) { return a.gid == gid; });
  return found == all.end() ? nullptr : &*found;
}

// Sets the device, the source address (if it is open) and the remote GID.
int resolve(Library& l, Id& id, const sockaddr* destination) {
  const auto all = local_addresses(l);
  if (all.empty()) return ENODEV;
  if (id.visible.ps == RDMA_PS_IPOIB) return EINVAL;  // of InfiniBand only
  std::optional<LocalAddress> local = id.local;
  const bool own_destination = is_own(destination);
  sockaddr_storage source{};
  const int no_route = source_towards(destination, source);
  // Groups are reached from the address that was bound.
  if (no_route != 0 && !(local && is_multicast(destination))) return no_route;
  if (!local) {
    const LocalAddress* found = with_gid(all, gid_of(reinterpret_cast<sockaddr*>(&source)));
    if (found == nullptr && (is_loopback(destination) || own_destination)) found = &all.front();
    if (found == nullptr) return ENODEV;
    local = *found;
  }
  if (const int error = prepare(*local->device); error != 0) return error;
  id.remote_gid = gid_of(destination);
  const bool foreign = with_gid(all, id.remote_gid) == nullptr;
  // The kernel maps loopback to a device: that device's own address is the other side, too.
  if (foreign && own_destination && !is_multicast(destination)) id.remote_gid = local->gid;
  attach_device(id, *local);
  std::copy_n(id.remote_gid.begin(), 16, id.visible.route.addr.addr.ibaddr.dgid.raw);
  sockaddr* own = &id.visible.route.addr.src_addr;
  if (own->sa_family == 0 || is_any(own)) {
    id.visible.route.addr.src_storage = address_of(local->gid, id.port);
    if (is_link_local(own)) set_scope(own, scope_of(destination));
  }
  return 0;
}

int set_path(Id& id) {
  auto* path = static_cast<ibv_sa_path_rec*>(calloc(1, sizeof(ibv_sa_path_rec)));
  if (path == nullptr) return ENOMEM;
  ibv_port_attr port{};
  ibv_query_port(id.visible.verbs, id.visible.port_num, &port);
  std::copy_n(id.local->gid.begin(), 16, path->sgid.raw);
  std::copy_n(id.remote_gid.begin(), 16, path->dgid.raw);
  path->hop_limit = 64;
  path->traffic_class = id.traffic_class;
  path->reversible = 1;
  path->numb_path = 1;
  path->pkey = 0xffff;
  path->mtu_selector = 2;
  path->mtu = static_cast<std::uint8_t>(port.active_mtu);
  path->rate_selector = 2;
  path->packet_life_time_selector = 2;
  path->packet_life_time = 18;
  free(id.visible.route.path_rec);
  id.visible.route.path_rec = path;
  id.visible.route.num_paths = 1;
  return 0;
}

}  // namespace
}  // namespace gdr::rdmacm

using namespace gdr::rdmacm;

namespace {

int begin_resolving(Library& l, Id& id, const sockaddr* source, const sockaddr* destination) {
  if (destination == nullptr || length_of(destination) == 0) return EINVAL;
  if (source != nullptr && length_of(source) == 0) return EINVAL;
  if (id.phase == Phase::kIdle) {
    sockaddr_storage any{};
    any.ss_family = destination->sa_family;
    if (source == nullptr) source = reinterpret_cast<const sockaddr*>(&any);
    if (const int error = bind_id(l, id, source); error != 0) return error;
  }
  const bool same_family = id.visible.route.addr.src_addr.sa_family == destination->sa_family;
  return id.phase == Phase::kBound && same_family ? 0 : EINVAL;
}

}  // namespace

// Whatever the time limit, what there is to find out is known at once.
GDR_EXPORT int rdma_resolve_addr(rdma_cm_id* id, sockaddr* source, sockaddr* destination, int) {
  {
    Library& l = library();
    const Guard guard(l.lock);
    if (const int error = enter(l, id); error != 0) return fail(error);
    Id& mine = of(id);
    if (const int error = begin_resolving(l, mine, source, destination); error != 0) {
      return fail(error);
    }
    std::memcpy(&id->route.addr.dst_storage, destination, length_of(destination));
    const int error = resolve(l, mine, destination);
    if (error == 0) mine.phase = Phase::kResolved;
    queue(make_event(mine, error == 0 ? RDMA_CM_EVENT_ADDR_RESOLVED : RDMA_CM_EVENT_ADDR_ERROR,
                     -error));
  }
  return complete(id);
}

// No time at all is none (rdma_resolve_route of the kernel).
GDR_EXPORT int rdma_resolve_route(rdma_cm_id* id, int milliseconds) {
  {
    Library& l = library();
    const Guard guard(l.lock);
    if (const int error = enter(l, id); error != 0) return fail(error);
    Id& mine = of(id);
    if (milliseconds == 0 || mine.phase != Phase::kResolved) return fail(EINVAL);
    if (const int error = set_path(mine); error != 0) return fail(error);
    mine.phase = Phase::kRouted;
    queue(make_event(mine, RDMA_CM_EVENT_ROUTE_RESOLVED));
  }
  return complete(id);
}
