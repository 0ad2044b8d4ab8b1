// rdma_create_ep and rdma_destroy_ep: a synchronous id from an rdma_addrinfo, queue pair included.
#include <cerrno>

#include "rdmacm/state.h"
#include "rdmacm/surface.h"

using namespace gdr::rdmacm;

namespace {

int make_passive(rdma_cm_id* id, rdma_addrinfo* res, ibv_pd* pd, ibv_qp_init_attr* attributes) {
  if (rdma_bind_addr(id, res->ai_src_addr) != 0) return -1;
  if (pd != nullptr) id->pd = pd;
  if (attributes == nullptr) return 0;
  of(id).request_attributes = std::make_unique<ibv_qp_init_attr>(*attributes);
  of(id).request_attributes->qp_type = static_cast<ibv_qp_type>(res->ai_qp_type);
  return 0;
}

int make_active(rdma_cm_id* id, rdma_addrinfo* res, ibv_pd* pd, ibv_qp_init_attr* attributes) {
  if (rdma_resolve_addr(id, res->ai_src_addr, res->ai_dst_addr, 2000) != 0 ||
      rdma_resolve_route(id, 2000) != 0) {
    return -1;
  }
  if (attributes != nullptr) {
    attributes->qp_type = static_cast<ibv_qp_type>(res->ai_qp_type);
    if (rdma_create_qp(id, pd, attributes) != 0) return -1;
  }
  if (res->ai_connect_len != 0 && res->ai_connect != nullptr) {
    const auto* bytes = static_cast<const std::uint8_t*>(res->ai_connect);
    of(id).connect_data.assign(bytes, bytes + res->ai_connect_len);
  }
  return 0;
}

}  // namespace

GDR_EXPORT int rdma_create_ep(rdma_cm_id** id, rdma_addrinfo* res, ibv_pd* pd,
                              ibv_qp_init_attr* attributes) {
  if (id == nullptr || res == nullptr) return fail(EINVAL);
  rdma_cm_id* made = nullptr;
  if (rdma_create_id(nullptr, &made, nullptr, static_cast<rdma_port_space>(res->ai_port_space)) !=
      0) {
    return -1;
  }
  made->qp_type = static_cast<ibv_qp_type>(res->ai_qp_type);
  const int result = (res->ai_flags & RAI_PASSIVE) != 0 ? make_passive(made, res, pd, attributes)
                                                        : make_active(made, res, pd, attributes);
  if (result != 0) {
    const int error = errno;
    rdma_destroy_ep(made);
    return fail(error);
  }
  *id = made;
  return 0;
}

GDR_EXPORT void rdma_destroy_ep(rdma_cm_id* id) {
  if (!is_id(id)) return;
  if (id->qp != nullptr) rdma_destroy_qp(id);
  if (id->srq != nullptr) rdma_destroy_srq(id);
  rdma_destroy_id(id);
}
