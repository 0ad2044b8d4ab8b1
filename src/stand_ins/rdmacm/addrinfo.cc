// rdma_getaddrinfo: rdma-core's rules. Only what a name or a service says is looked up; everything
// else is the hints', whole socket addresses included (libfabric gives nothing but those).
#include <netdb.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "rdmacm/state.h"
#include "rdmacm/surface.h"

namespace gdr::rdmacm {
namespace {

addrinfo to_hints(const rdma_addrinfo& from) {
  addrinfo hints{};
  if ((from.ai_flags & RAI_PASSIVE) != 0) hints.ai_flags |= AI_PASSIVE;
  if ((from.ai_flags & RAI_NUMERICHOST) != 0) hints.ai_flags |= AI_NUMERICHOST;
  if (from.ai_family != AF_IB) hints.ai_family = from.ai_family;
  switch (from.ai_qp_type) {
    case IBV_QPT_RC:
    case IBV_QPT_UC:
    case IBV_QPT_XRC_SEND:
    case IBV_QPT_XRC_RECV:
      hints.ai_socktype = SOCK_STREAM;
      break;
    case IBV_QPT_UD:
      hints.ai_socktype = SOCK_DGRAM;
      break;
    default:
      break;
  }
  switch (from.ai_port_space) {
    case RDMA_PS_TCP:
      hints.ai_protocol = IPPROTO_TCP;
      break;
    case RDMA_PS_UDP:
    case RDMA_PS_IPOIB:
      hints.ai_protocol = IPPROTO_UDP;
      break;
    case RDMA_PS_IB:
      if (hints.ai_socktype != 0) {
        hints.ai_protocol = hints.ai_socktype == SOCK_STREAM ? IPPROTO_TCP : IPPROTO_UDP;
      }
      break;
    default:
      break;
  }
  return hints;
}

// An address that the caller frees; false when there is no memory.
bool set(socklen_t& length, sockaddr*& address, const sockaddr* from, socklen_t bytes) {
  address = static_cast<sockaddr*>(malloc(bytes));
  if (address == nullptr) return false;
  std::memcpy(address, from, bytes);
  length = bytes;
  return true;
}

bool set_from_lookup(rdma_addrinfo& to, const addrinfo& found, const rdma_addrinfo& hints) {
  to.ai_qp_type = hints.ai_qp_type;
  if (to.ai_qp_type == 0 && found.ai_socktype == SOCK_STREAM) to.ai_qp_type = IBV_QPT_RC;
  if (to.ai_qp_type == 0 && found.ai_socktype == SOCK_DGRAM) to.ai_qp_type = IBV_QPT_UD;
  to.ai_port_space = hints.ai_port_space;
  if (to.ai_port_space == 0 && found.ai_protocol == IPPROTO_TCP) to.ai_port_space = RDMA_PS_TCP;
  if (to.ai_port_space == 0 && found.ai_protocol == IPPROTO_UDP) to.ai_port_space = RDMA_PS_UDP;
  to.ai_family = found.ai_family;
  const bool passive = (hints.ai_flags & RAI_PASSIVE) != 0;
  if (passive) to.ai_flags = RAI_PASSIVE;
  if (found.ai_canonname != nullptr) {
    (passive ? to.ai_src_canonname : to.ai_dst_canonname) = strdup(found.ai_canonname);
  }
  return passive ? set(to.ai_src_len, to.ai_src_addr, found.ai_addr, found.ai_addrlen)
                 : set(to.ai_dst_len, to.ai_dst_addr, found.ai_addr, found.ai_addrlen);
}

bool set_from_hints(rdma_addrinfo& to, const rdma_addrinfo& hints) {
  to.ai_flags = hints.ai_flags;
  to.ai_family = hints.ai_family;
  to.ai_qp_type = hints.ai_qp_type;
  to.ai_port_space = hints.ai_port_space;
  return hints.ai_dst_len == 0 ||
         set(to.ai_dst_len, to.ai_dst_addr, hints.ai_dst_addr, hints.ai_dst_len);
}

bool fill(rdma_addrinfo& to, const addrinfo* found, const rdma_addrinfo& hints) {
  if (!(found != nullptr ? set_from_lookup(to, *found, hints) : set_from_hints(to, hints))) {
    return false;
  }
  return to.ai_src_len != 0 || hints.ai_src_len == 0 ||
         set(to.ai_src_len, to.ai_src_addr, hints.ai_src_addr, hints.ai_src_len);
}

}  // namespace
}  // namespace gdr::rdmacm

using namespace gdr::rdmacm;

GDR_EXPORT int rdma_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints,
                                rdma_addrinfo** res) {
  if ((service == nullptr && node == nullptr && hints == nullptr) || res == nullptr) {
    return fail(EINVAL);
  }
  if (hints != nullptr && ((hints->ai_src_len != 0 && hints->ai_src_addr == nullptr) ||
                           (hints->ai_dst_len != 0 && hints->ai_dst_addr == nullptr))) {
    return fail(EINVAL);
  }
  // Service records of a subnet administrator, which RoCE does not have.
  if (hints != nullptr && (hints->ai_flags & kFromSubnet) != 0) return fail(EOPNOTSUPP);
  const rdma_addrinfo none{};
  const rdma_addrinfo& wanted = hints != nullptr ? *hints : none;
  addrinfo* found = nullptr;
  if (node != nullptr || service != nullptr) {
    const addrinfo asked = to_hints(wanted);
    if (const int error = getaddrinfo(node, service, hints != nullptr ? &asked : nullptr, &found);
        error != 0) {
      return error;  // as rdma-core: an EAI_ code
    }
  }
  std::unique_ptr<rdma_addrinfo, decltype(&rdma_freeaddrinfo)> made(
      static_cast<rdma_addrinfo*>(calloc(1, sizeof(rdma_addrinfo))), rdma_freeaddrinfo);
  const bool filled = made != nullptr && fill(*made, found, wanted);
  if (found != nullptr) freeaddrinfo(found);
  if (!filled) return fail(ENOMEM);
  *res = made.release();
  return 0;
}

GDR_EXPORT void rdma_freeaddrinfo(rdma_addrinfo* res) {
  while (res != nullptr) {
    rdma_addrinfo* next = res->ai_next;
    free(res->ai_connect);
    free(res->ai_route);
    free(res->ai_src_addr);
    free(res->ai_dst_addr);
    free(res->ai_src_canonname);
    free(res->ai_dst_canonname);
    free(res);
    res = next;
  }
}
