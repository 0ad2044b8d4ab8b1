// Local addresses and ports. A port is this process's once it is bound, and this host's once
// somebody listens on it (the service identifier, which queue pair 1 keeps).
#include <linux/capability.h>
#include <netinet/in.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/random.h"
#include "rdmacm/state.h"
#include "rdmacm/surface.h"

namespace gdr::rdmacm {
namespace {

constexpr unsigned kFirstEphemeral = 32768, kEphemeral = 28232;  // as ip_local_port_range
constexpr std::uint16_t kFirstFree = 1024;

bool may_bind_below_1024() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3]{};
  return syscall(SYS_capget, &header, data) != 0 ||
         (data[0].effective & 1U << CAP_NET_BIND_SERVICE) != 0;
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
  } else if (port < kFirstFree && !may_bind_below_1024()) {
    return EACCES;
  } else if (const int error = check_port(l, id, port, id.reuse_address); error != 0) {
    return error;
  }
  l.ports[cm::service_id(space, port)].push_back(&id);
  id.port = port;
  set_port(&id.visible.route.addr.src_addr, port);
  return 0;
}

// The address that it is bound to; nothing: any.
std::optional<cm::Gid> bound_to(const Id& id) {
  if (id.local) return id.local->gid;
  return std::nullopt;
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

// The kernel's rules (cma_check_port), its errno for addresses that may be any included.
int check_port(Library& l, const Id& id, std::uint16_t port, bool reuse) {
  const auto found = l.ports.find(cm::service_id(id.visible.ps, port));
  if (found == l.ports.end()) return 0;
  for (const Id* other : found->second) {
    if (other == &id || (reuse && other->reuse_address)) continue;
    const bool families_differ =
        id.visible.route.addr.src_addr.sa_family != other->visible.route.addr.src_addr.sa_family;
    if (id.family_only && other->family_only && families_differ) continue;
    const auto own = bound_to(id), theirs = bound_to(*other);
    if (!own || !theirs) return EADDRNOTAVAIL;
    if (*own == *theirs) return EADDRINUSE;
  }
  return 0;
}

void release_port(Library& l, Id& id) {
  const auto found = l.ports.find(cm::service_id(id.visible.ps, id.port));
  if (found == l.ports.end()) return;
  std::erase(found->second, &id);
  if (found->second.empty()) l.ports.erase(found);
}

int bind_id(Library& l, Id& id, const sockaddr* address) {
  const socklen_t length = length_of(address);
  if (length == 0 || id.phase != Phase::kIdle) return EINVAL;
  if (is_link_local(address) && scope_of(address) == 0) return EINVAL;
  if (const int error = open_devices(l); error != 0) return error;
  std::optional<LocalAddress> chosen;
  if (!is_any(address)) {
    const cm::Gid wanted = gid_of(address);
    const std::vector<LocalAddress> all = local_addresses(l);
    for (const LocalAddress& a : all) {
      if (a.gid == wanted) chosen = a;
    }
    // The kernel takes loopback for any address (cma_any_addr): the id has no device yet, and
    // libfabric then asks for the interfaces' addresses.
    const bool needs_device = chosen ? is_link_local(address) : !is_loopback(address);
    if (needs_device && !is_own(address)) return EADDRNOTAVAIL;
    if (needs_device && !chosen) {
      const LocalAddress* const serving = serving_interface(all, address);
      if (serving == nullptr) return ENODEV;
      chosen = *serving;
    }
    if (chosen && id.visible.ps == RDMA_PS_IPOIB) return EINVAL;  // of InfiniBand only
    if (chosen) {
      if (const int error = prepare(*chosen->device); error != 0) return error;
    }
  }
  std::memcpy(&id.visible.route.addr.src_storage, address, length);
  id.local = chosen;
  id.family_only = id.family_only_option.value_or(address->sa_family == AF_INET);
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
  Library& l = library();
  const Guard guard(l.lock);
  if (const int error = enter(l, id); error != 0) return fail(error);
  if (address == nullptr) return fail(EINVAL);
  return fail(bind_id(l, of(id), address));
}

GDR_EXPORT __be16 rdma_get_src_port(rdma_cm_id* id) {
  if (id == nullptr) return 0;
  const sockaddr* a = &id->route.addr.src_addr;
  return a->sa_family == AF_INET || a->sa_family == AF_INET6 ? htons(port_of(a)) : 0;
}

GDR_EXPORT __be16 rdma_get_dst_port(rdma_cm_id* id) {
  if (id == nullptr) return 0;
  const sockaddr* a = &id->route.addr.dst_addr;
  return a->sa_family == AF_INET || a->sa_family == AF_INET6 ? htons(port_of(a)) : 0;
}
