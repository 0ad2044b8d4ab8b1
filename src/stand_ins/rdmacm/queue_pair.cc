// Queue pairs of an id: made, brought from state to state, and destroyed.
#include <fcntl.h>

#include <algorithm>
#include <cerrno>

#include "rdmacm/state.h"
#include "rdmacm/surface.h"

namespace gdr::rdmacm {
namespace {

void fill_init(const Id& id, ibv_qp_attr& attr, int& mask) {
  attr.pkey_index = 0;
  attr.port_num = id.visible.port_num;
  mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT;
  if (is_datagram(id)) {
    attr.qkey = id.qkey;
    mask |= IBV_QP_QKEY;
    return;
  }
  attr.qp_access_flags = 0;
  if (id.link) attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  if (id.link && id.responder_resources != 0) {
    attr.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  }
  mask |= IBV_QP_ACCESS_FLAGS;
}

const cm::Offer& request_of(const Link& link) {
  return link.connection.active() ? link.connection.local().offer : link.connection.remote().offer;
}

int fill_ready_to_receive(const Id& id, ibv_qp_attr& attr, int& mask) {
  mask = IBV_QP_STATE;
  if (is_datagram(id)) return 0;
  if (!id.link) return EINVAL;
  const cm::Offer& theirs = id.link->connection.remote().offer;
  attr.ah_attr = {};
  attr.ah_attr.is_global = 1;
  std::copy_n(id.link->remote_gid.begin(), 16, attr.ah_attr.grh.dgid.raw);
  attr.ah_attr.grh.sgid_index = id.link->local.index;
  attr.ah_attr.grh.hop_limit = 64;
  attr.ah_attr.grh.traffic_class = id.traffic_class;
  attr.ah_attr.port_num = id.link->local.port;
  ibv_port_attr port{};
  ibv_query_port(id.visible.verbs, id.visible.port_num, &port);
  const int wanted = std::clamp<int>(request_of(*id.link).path_mtu, IBV_MTU_256, IBV_MTU_4096);
  attr.path_mtu = static_cast<ibv_mtu>(std::min<int>(wanted, port.active_mtu));
  attr.dest_qp_num = theirs.qp_number;
  attr.rq_psn = id.psn;  // a starting PSN is what the other side is to begin with (12.7.31)
  attr.max_dest_rd_atomic = id.responder_resources;
  attr.min_rnr_timer = 0;
  mask |= IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
          IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  return 0;
}

int fill_ready_to_send(const Id& id, ibv_qp_attr& attr, int& mask) {
  mask = IBV_QP_STATE | IBV_QP_SQ_PSN;
  attr.sq_psn = 0;
  if (is_datagram(id)) return 0;
  if (!id.link) return EINVAL;
  const cm::Connection& c = id.link->connection;
  attr.sq_psn = c.remote().offer.starting_psn;
  attr.retry_cnt = request_of(*id.link).retry_count;
  attr.rnr_retry = c.remote().offer.rnr_retry_count;
  attr.timeout = request_of(*id.link).local_ack_timeout;
  if (id.ack_timeout) attr.timeout = *id.ack_timeout;
  attr.max_rd_atomic = id.initiator_depth;
  mask |= IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_TIMEOUT | IBV_QP_MAX_QP_RD_ATOMIC;
  return 0;
}

int fill(const Id& id, ibv_qp_attr& attr, int& mask) {
  switch (attr.qp_state) {
    case IBV_QPS_INIT:
      fill_init(id, attr, mask);
      return 0;
    case IBV_QPS_RTR:
      return fill_ready_to_receive(id, attr, mask);
    case IBV_QPS_RTS:
      return fill_ready_to_send(id, attr, mask);
    default:
      return EINVAL;
  }
}

int move_to(const Id& id, ibv_qp* qp, ibv_qp_state state, int resources = -1, int depth = -1) {
  ibv_qp_attr attr{};
  attr.qp_state = state;
  int mask = 0;
  if (const int error = fill(id, attr, mask); error != 0) return error;
  if (resources >= 0) attr.max_dest_rd_atomic = static_cast<std::uint8_t>(resources);
  if (depth >= 0) attr.max_rd_atomic = static_cast<std::uint8_t>(depth);
  return ibv_modify_qp(qp, &attr, mask);
}

bool create_queue(rdma_cm_id* id, std::uint32_t size, ibv_cq** cq, ibv_comp_channel** channel) {
  if (size == 0) return true;
  *channel = ibv_create_comp_channel(id->verbs);
  if (*channel != nullptr) *cq = ibv_create_cq(id->verbs, static_cast<int>(size), id, *channel, 0);
  return *cq != nullptr;
}

}  // namespace

bool create_receive_queue(rdma_cm_id* id, std::uint32_t size) {
  if (id->recv_cq == nullptr) return create_queue(id, size, &id->recv_cq, &id->recv_cq_channel);
  // The queue pair of XRC brought one along, on which nothing of its own completes.
  const auto entries = static_cast<int>(size);
  return id->recv_cq->cqe >= entries || ibv_resize_cq(id->recv_cq, entries) == 0;
}

void destroy_queues(rdma_cm_id* id) {
  // With XRC, receives complete where the shared receive queue says, and that may outlive the queue
  // pair.
  if (id->qp_type == IBV_QPT_XRC_RECV && id->srq != nullptr) return;
  // A program may have given the id one queue for both.
  if (id->send_cq != nullptr && id->send_cq != id->recv_cq) ibv_destroy_cq(id->send_cq);
  if (id->recv_cq != nullptr) ibv_destroy_cq(id->recv_cq);
  ibv_comp_channel*& sends = id->send_cq_channel;
  ibv_comp_channel*& receives = id->recv_cq_channel;
  if (sends != nullptr && sends != receives) ibv_destroy_comp_channel(sends);
  if (receives != nullptr) ibv_destroy_comp_channel(receives);
  id->recv_cq = id->send_cq = nullptr;
  sends = receives = nullptr;
}

ibv_xrcd* default_domain(Id& id) {
  const Guard guard(library().lock);
  Device& device = *id.local->device;
  if (device.xrcd == nullptr) {
    ibv_xrcd_init_attr attr{};
    attr.comp_mask = IBV_XRCD_INIT_ATTR_FD | IBV_XRCD_INIT_ATTR_OFLAGS;
    attr.fd = -1;
    attr.oflags = O_CREAT;
    device.xrcd = ibv_open_xrcd(device.context, &attr);
  }
  return device.xrcd;
}

int to_ready_to_receive(Id& id, std::uint8_t resources) {
  ibv_qp* qp = id.visible.qp;
  if (qp == nullptr) return 0;
  // Which accesses the other side may have is known only now.
  if (const int error = move_to(id, qp, IBV_QPS_INIT); error != 0) return error;
  return move_to(id, qp, IBV_QPS_RTR, resources == RDMA_MAX_RESP_RES ? -1 : resources);
}

int to_ready_to_send(Id& id, std::uint8_t depth) {
  if (id.visible.qp == nullptr) return 0;
  return move_to(id, id.visible.qp, IBV_QPS_RTS, -1, depth == RDMA_MAX_INIT_DEPTH ? -1 : depth);
}

void to_error(Id& id) {
  if (id.visible.qp == nullptr) return;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  ibv_modify_qp(id.visible.qp, &attr, IBV_QP_STATE);
}

}  // namespace gdr::rdmacm

using namespace gdr::rdmacm;

GDR_EXPORT int rdma_init_qp_attr(rdma_cm_id* id, ibv_qp_attr* attr, int* mask) {
  Library& l = library();
  const Guard guard(l.lock);
  if (const int error = enter(l, id); error != 0) return fail(error);
  if (attr == nullptr || mask == nullptr) return fail(EINVAL);
  if (!of(id).local) return fail(EINVAL);
  return fail(fill(of(id), *attr, *mask));
}

GDR_EXPORT int rdma_create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* attr) {
  if (!is_id(id) || attr == nullptr || id->qp != nullptr || id->verbs == nullptr) {
    return fail(EINVAL);
  }
  if ((attr->comp_mask & IBV_QP_INIT_ATTR_PD) == 0 || attr->pd == nullptr) {
    attr->comp_mask |= IBV_QP_INIT_ATTR_PD;
    attr->pd = id->pd;
  } else if (attr->pd->context != id->verbs) {
    return fail(EINVAL);
  }
  if ((id->recv_cq != nullptr && attr->recv_cq != nullptr && id->recv_cq != attr->recv_cq) ||
      (id->send_cq != nullptr && attr->send_cq != nullptr && id->send_cq != attr->send_cq)) {
    return fail(EINVAL);
  }
  const bool shared = id->qp_type == IBV_QPT_XRC_RECV;
  if (shared && ((attr->comp_mask & IBV_QP_INIT_ATTR_XRCD) == 0 || attr->xrcd == nullptr)) {
    attr->xrcd = default_domain(of(id));
    if (attr->xrcd == nullptr) return -1;
    attr->comp_mask |= IBV_QP_INIT_ATTR_XRCD;
  }
  const bool receives = attr->recv_cq != nullptr || id->recv_cq != nullptr;
  const bool sends = attr->send_cq != nullptr || id->send_cq != nullptr;
  if (!create_queue(id, receives ? 0 : attr->cap.max_recv_wr, &id->recv_cq, &id->recv_cq_channel) ||
      !create_queue(id, sends ? 0 : attr->cap.max_send_wr, &id->send_cq, &id->send_cq_channel)) {
    const int error = errno;
    destroy_queues(id);
    return fail(error);
  }
  if (attr->send_cq == nullptr) attr->send_cq = id->send_cq;
  if (attr->recv_cq == nullptr) attr->recv_cq = id->recv_cq;
  if (id->srq != nullptr && attr->srq == nullptr) attr->srq = id->srq;
  ibv_qp* qp = ibv_create_qp_ex(id->verbs, attr);
  int error = qp == nullptr ? errno : 0;
  if (qp != nullptr) {
    const Guard guard(library().lock);
    Id& mine = of(id);
    error = move_to(mine, qp, IBV_QPS_INIT);
    if (is_datagram(mine)) {
      if (error == 0) error = move_to(mine, qp, IBV_QPS_RTR);
      if (error == 0) error = move_to(mine, qp, IBV_QPS_RTS);
    }
  }
  if (error != 0) {
    if (qp != nullptr) ibv_destroy_qp(qp);
    destroy_queues(id);
    return fail(error);
  }
  // A queue pair that only receives for XRC has none, and the id's is still wanted for memory.
  if (attr->pd != nullptr) id->pd = attr->pd;
  id->qp = qp;
  return 0;
}

GDR_EXPORT int rdma_create_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* attr) {
  if (id == nullptr || attr == nullptr) return fail(EINVAL);
  ibv_qp_init_attr_ex extended{};
  extended.qp_context = attr->qp_context;
  extended.send_cq = attr->send_cq;
  extended.recv_cq = attr->recv_cq;
  extended.srq = attr->srq;
  extended.cap = attr->cap;
  extended.qp_type = attr->qp_type;
  extended.sq_sig_all = attr->sq_sig_all;
  extended.comp_mask = pd != nullptr ? IBV_QP_INIT_ATTR_PD : 0;
  extended.pd = pd;
  const int result = rdma_create_qp_ex(id, &extended);
  attr->cap = extended.cap;
  attr->send_cq = extended.send_cq;
  attr->recv_cq = extended.recv_cq;
  attr->srq = extended.srq;
  return result;
}

GDR_EXPORT void rdma_destroy_qp(rdma_cm_id* id) {
  if (!is_id(id)) return;
  {
    const Guard guard(library().lock);
    if (id->qp != nullptr) ibv_destroy_qp(id->qp);
    id->qp = nullptr;
  }
  destroy_queues(id);
}
