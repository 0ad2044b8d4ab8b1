#include <cerrno>

#include "rdmacm/state.h"
#include "rdmacm/surface.h"

using namespace gdr::rdmacm;

GDR_EXPORT int rdma_create_srq_ex(rdma_cm_id* id, ibv_srq_init_attr_ex* attr) {
  if (!is_id(id) || attr == nullptr || id->verbs == nullptr ||
      (attr->comp_mask & IBV_SRQ_INIT_ATTR_TYPE) == 0) {
    return fail(EINVAL);
  }
  if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_PD) == 0 || attr->pd == nullptr) {
    attr->pd = id->pd;
    attr->comp_mask |= IBV_SRQ_INIT_ATTR_PD;
  }
  if (attr->srq_type == IBV_SRQT_XRC) {
    if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_XRCD) == 0 || attr->xrcd == nullptr) {
      attr->xrcd = default_domain(of(id));
      if (attr->xrcd == nullptr) return -1;
      attr->comp_mask |= IBV_SRQ_INIT_ATTR_XRCD;
    }
    if ((attr->comp_mask & IBV_SRQ_INIT_ATTR_CQ) == 0 || attr->cq == nullptr) {
      if (!create_receive_queue(id, attr->attr.max_wr)) return -1;
      attr->cq = id->recv_cq;
      attr->comp_mask |= IBV_SRQ_INIT_ATTR_CQ;
    }
  }
  id->srq = ibv_create_srq_ex(id->verbs, attr);
  if (id->srq == nullptr) {
    const int error = errno;
    if (id->qp == nullptr) destroy_queues(id);
    return fail(error);
  }
  if (id->pd == nullptr) id->pd = attr->pd;
  return 0;
}

GDR_EXPORT int rdma_create_srq(rdma_cm_id* id, ibv_pd* pd, ibv_srq_init_attr* attr) {
  if (!is_id(id) || attr == nullptr) return fail(EINVAL);
  ibv_srq_init_attr_ex extended{};
  extended.srq_context = attr->srq_context;
  extended.attr = attr->attr;
  extended.comp_mask = IBV_SRQ_INIT_ATTR_TYPE | IBV_SRQ_INIT_ATTR_PD;
  extended.srq_type = id->qp_type == IBV_QPT_XRC_RECV ? IBV_SRQT_XRC : IBV_SRQT_BASIC;
  extended.pd = pd;
  const int result = rdma_create_srq_ex(id, &extended);
  attr->attr = extended.attr;
  return result;
}

GDR_EXPORT void rdma_destroy_srq(rdma_cm_id* id) {
  if (!is_id(id)) return;
  if (id->srq != nullptr) ibv_destroy_srq(id->srq);
  id->srq = nullptr;
  if (id->qp == nullptr) destroy_queues(id);
}
