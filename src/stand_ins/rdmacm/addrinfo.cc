#include <netdb.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "rdmacm/state.h"
#include "rdmacm/surface.h"

namespace gdr::rdmacm {
namespace {

addrinfo to_hints(const rdma_addrinfo& from) {
  addrinfo hints{};
  if ((from.ai_flags & RAI_PASSIVE) != 0) hints.ai_flags |= AI_PASSIVE;
  if ((from.ai_flags & RAI_NUMERICHOST) != 0) hints.ai_flags |= AI_NUMERICHOST;
  hints.ai_family = from.ai_family;
  switch (from.ai_port_space) {
    case RDMA_PS_UDP:
      hints.ai_socktype = SOCK_DGRAM;
      break;
    default:
      hints.ai_socktype = SOCK_STREAM;
  }
  return hints;
}

sockaddr* copy(const sockaddr* from, socklen_t bytes) {
  auto* to = static_cast<sockaddr*>(calloc(1, bytes));
  if (to != nullptr) std::memcpy(to, from, bytes);
  return to;
}

bool set(socklen_t& length, sockaddr*& address, const sockaddr* from, socklen_t bytes) {
  address = copy(from, bytes);
  length = address != nullptr ? bytes : 0;
  return address != nullptr;
}

bool fill(rdma_addrinfo& to, const addrinfo* found, const rdma_addrinfo& hints) {
  to.ai_flags = hints.ai_flags;
  to.ai_port_space = hints.ai_port_space != 0 ? hints.ai_port_space : RDMA_PS_TCP;
  const bool datagram = to.ai_port_space == RDMA_PS_UDP || to.ai_port_space == RDMA_PS_IPOIB;
  to.ai_qp_type = hints.ai_qp_type != 0 ? hints.ai_qp_type : datagram ? IBV_QPT_UD : IBV_QPT_RC;
  const bool passive = (hints.ai_flags & RAI_PASSIVE) != 0;
  to.ai_family = found != nullptr ? found->ai_family : hints.ai_family;
  if (found != nullptr &&
      !(passive ? set(to.ai_src_len, to.ai_src_addr, found->ai_addr, found->ai_addrlen)
                : set(to.ai_dst_len, to.ai_dst_addr, found->ai_addr, found->ai_addrlen))) {
    return false;
  }
  if (found != nullptr && found->ai_canonname != nullptr) {
    (passive ? to.ai_src_canonname : to.ai_dst_canonname) = strdup(found->ai_canonname);
  }
  if (!passive && hints.ai_src_len != 0) {
    return set(to.ai_src_len, to.ai_src_addr, hints.ai_src_addr, hints.ai_src_len);
  }
  return true;
}

}  // namespace
}  // namespace gdr::rdmacm

using namespace gdr::rdmacm;

GDR_EXPORT int rdma_getaddrinfo(const char* node, const char* service, const rdma_addrinfo* hints,
                                rdma_addrinfo** res) {
  if ((service == nullptr && node == nullptr && hints == nullptr) || res == nullptr) {
    return fail(EINVAL);
  }
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
  auto* made = static_cast<rdma_addrinfo*>(calloc(1, sizeof(rdma_addrinfo)));
  const bool filled = made != nullptr && fill(*made, found, wanted);
  if (found != nullptr) freeaddrinfo(found);
  if (!filled) {
    rdma_freeaddrinfo(made);
    return fail(ENOMEM);
  }
  *res = made;
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
