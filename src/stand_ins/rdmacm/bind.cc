// Local addresses and ports. A port is this process's once it is bound, and this host's once
// somebody listens on it (the service identifier, which queue pair 1 keeps).
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/random.h"
#include "rdmacm/state.h"
#include "rdmacm/surface.h"

namespace gdr::rdmacm {
namespace {

constexpr unsigned kFirstEphemeral = 32768, kEphemeral = 28232;  // as ip_local_port_range

bool is_free(Library& l, const Id& id, std::uint64_t service) {
  const auto found = l.ports.find(service);
  if (found == l.ports.end()) return true;
  return std::all_of(found->second.begin(), found->second.end(), [&](const Id* other) {
    if (id.reuse_address && other->reuse_address) return true;
    return id.local && other->local && id.local->gid != other->local->gid;
  });
}

int take_port(Library& l, Id& id, std::uint16_t port) {
  const unsigned space = id.visible.ps;
  if (port == 0) {
    const auto start = static_cast<unsigned>(random_u64() % kEphemeral);
    for (unsigned i = 0; i < kEphemeral && port == 0; ++i) {
      const auto candidate = static_cast<std::uint16_t>(kFirstEphemeral + (start + i) % kEphemeral);
      if (!l.ports.contains(cm::service_id(space, candidate))) port = candidate;
    }
    if (port == 0) return EADDRNOTAVAIL;
  } else if (!is_free(l, id, cm::service_id(space, port))) {
    return EADDRINUSE;
  }
  l.ports[cm::service_id(space, port)].push_back(&id);
  id.port = port;
  set_port(&id.visible.route.addr.src_addr, port);
  return 0;
}

}  // namespace

void attach_device(Id& id, const LocalAddress& local) {
  id.local = local;
  id.visible.verbs = local.device->context;
  id.visible.port_num = local.port;
  rdma_ib_addr& names = id.visible.route.addr.addr.ibaddr;
  std::copy_n(local.gid.begin(), 16, names.sgid.raw);
  names.pkey = 0xffff;
  if (id.visible.pd == nullptr) id.visible.pd = local.device->pd;
}

void release_port(Library& l, Id& id) {
  const auto found = l.ports.find(cm::service_id(id.visible.ps, id.port));
  if (found == l.ports.end()) return;
  std::erase(found->second, &id);
  if (found->second.empty()) l.ports.erase(found);
}

int bind_id(Library& l, Id& id, const sockaddr* address) {
  if (id.phase != Phase::kIdle) return EINVAL;
  const socklen_t length = length_of(address);
  if (length == 0) return EAFNOSUPPORT;
  if (const int error = open_devices(l); error != 0) return error;
  std::optional<LocalAddress> chosen;
  if (!is_any(address)) {
    const cm::Gid wanted = gid_of(address);
    for (const LocalAddress& a : local_addresses(l)) {
      if (a.gid == wanted) chosen = a;
    }
    // The kernel takes loopback for any address (cma_any_addr): the id has no device yet, and
    // libfabric then asks for the interfaces' addresses.
    if (!chosen && !is_loopback(address)) return ENODEV;
    if (chosen) {
      if (const int error = prepare(*chosen->device); error != 0) return error;
    }
  }
  std::memcpy(&id.visible.route.addr.src_storage, address, length);
  id.local = chosen;
  if (const int error = take_port(l, id, port_of(address)); error != 0) {
    id.local.reset();
    id.visible.route.addr.src_storage = {};
    return error;
  }
  if (chosen) attach_device(id, *chosen);
  id.phase = Phase::kBound;
  return 0;
}

}  // namespace gdr::rdmacm

using namespace gdr::rdmacm;

GDR_EXPORT int rdma_bind_addr(rdma_cm_id* id, sockaddr* address) {
  if (address == nullptr) return fail(EINVAL);
  Library& l = library();
  const Guard guard(l.lock);
  return fail(bind_id(l, of(id), address));
}

GDR_EXPORT __be16 rdma_get_src_port(rdma_cm_id* id) {
  const sockaddr* a = &id->route.addr.src_addr;
  return a->sa_family == AF_INET || a->sa_family == AF_INET6 ? htons(port_of(a)) : 0;
}

GDR_EXPORT __be16 rdma_get_dst_port(rdma_cm_id* id) {
  const sockaddr* a = &id->route.addr.dst_addr;
  return a->sa_family == AF_INET || a->sa_family == AF_INET6 ? htons(port_of(a)) : 0;
}
