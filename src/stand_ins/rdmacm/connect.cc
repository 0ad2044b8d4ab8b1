// The active side: rdma_connect; both sides: accept, reject, disconnect.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "rdmacm/state.h"
#include "rdmacm/surface.h"

namespace gdr::rdmacm {
namespace {

constexpr std::uint8_t kAckTimeout = 17;  // 0.5 s

std::uint8_t depth(int wanted, int most) {
  return static_cast<std::uint8_t>(std::min({wanted, most, 255}));
}

int check(const Id& id, const rdma_conn_param* param) {
  if (id.visible.ps != RDMA_PS_TCP) return 0;
  if (param == nullptr) return id.visible.qp == nullptr ? EINVAL : 0;
  const auto& most = id.local->device->attributes;
  if (param->responder_resources != RDMA_MAX_RESP_RES &&
      param->responder_resources > most.max_qp_rd_atom) {
    return EINVAL;
  }
  return param->initiator_depth != RDMA_MAX_INIT_DEPTH &&
                 param->initiator_depth > most.max_qp_init_rd_atom
             ? EINVAL
             : 0;
}

int add_private_data(cm::Message& message, std::size_t offset, const void* data,
                     std::size_t bytes) {
  if (data == nullptr || bytes == 0) return 0;
  if (offset + bytes > cm::private_data_bytes(message.kind)) return EINVAL;
  std::memcpy(message.private_data.data() + offset, data, bytes);
  return 0;
}

void add_ip_header(const Id& id, cm::Message& message) {
  const auto plain = [](const sockaddr* a) {
    cm::Gid gid = gid_of(a);
    if (a->sa_family == AF_INET) gid[10] = gid[11] = 0;
    return gid;
  };
  const rdma_addr& a = id.visible.route.addr;
  cm::IpHeader header;
  header.v6 = a.dst_addr.sa_family == AF_INET6;
  header.source_port = id.port;
  header.source = plain(&a.src_addr);
  header.destination = plain(&a.dst_addr);
  cm::write_ip_header(header, std::span(message.private_data).first<cm::kIpHeaderBytes>());
}

void fill_offer(const Id& id, const rdma_conn_param* param, cm::Offer& offer) {
  const ibv_qp* qp = id.visible.qp;
  offer.qp_number = qp != nullptr ? qp->qp_num : param != nullptr ? param->qp_num : 0;
  offer.srq = qp != nullptr ? qp->srq != nullptr : param != nullptr && param->srq != 0;
  offer.starting_psn = id.psn;
  offer.ca_guid = id.local->device->guid;
  offer.responder_resources = id.responder_resources;
  offer.initiator_depth = id.initiator_depth;
  offer.flow_control = param != nullptr && param->flow_control != 0;
  offer.retry_count = param != nullptr ? std::min<std::uint8_t>(7, param->retry_count) : 7;
  offer.rnr_retry_count = param != nullptr ? std::min<std::uint8_t>(7, param->rnr_retry_count) : 7;
  offer.ece_vendor = id.local_ece.vendor_id;
  offer.ece_options = id.local_ece.options;
}

void fill_path(const Id& id, cm::Offer& offer) {
  ibv_port_attr port{};
  ibv_query_port(id.visible.verbs, id.visible.port_num, &port);
  offer.path_mtu = static_cast<std::uint8_t>(port.active_mtu);
  offer.local_ack_timeout = id.ack_timeout.value_or(kAckTimeout);
  offer.local_response_timeout = offer.remote_response_timeout = 20;
  offer.max_cm_retries = 15;
  offer.hop_limit = 64;
  offer.traffic_class = id.traffic_class;
  offer.local_gid = id.local->gid;
  offer.remote_gid = id.remote_gid;
  if (id.visible.qp_type == IBV_QPT_XRC_SEND) {
    offer.transport = 3;
    offer.extended_transport = 1;
  } else if (id.visible.qp_type == IBV_QPT_UC) {
    offer.transport = 1;
  }
}

int start(Library& l, Id& id, const rdma_conn_param* param) {
  if (id.phase != Phase::kRouted) return EINVAL;
  if (const int error = check(id, param); error != 0) return error;
  const auto& most = id.local->device->attributes;
  id.responder_resources =
      depth(param != nullptr ? param->responder_resources : 255, most.max_qp_rd_atom);
  id.initiator_depth =
      depth(param != nullptr ? param->initiator_depth : 255, most.max_qp_init_rd_atom);
  cm::Message request;
  request.kind = is_datagram(id) ? cm::Kind::kSidrReq : cm::Kind::kReq;
  request.service_id = cm::service_id(id.visible.ps, port_of(&id.visible.route.addr.dst_addr));
  add_ip_header(id, request);
  std::size_t offset = cm::kIpHeaderBytes;
  int error = add_private_data(request, offset, id.connect_data.data(), id.connect_data.size());
  offset += id.connect_data.size();
  if (error == 0 && param != nullptr) {
    error = add_private_data(request, offset, param->private_data, param->private_data_len);
  }
  if (error != 0) return error;
  if (!is_datagram(id)) {
    fill_offer(id, param, request.offer);
    fill_path(id, request.offer);
  }
  id.link = make_link(l, *id.local, id.remote_gid);
  if (!id.link) return ENOMEM;
  id.link->owner = &id;
  id.phase = Phase::kConnecting;
  id.connect_data.clear();
  id.link->connection.request(request, now());
  advance(l, id.link);
  return 0;
}

int answer(Library& l, Id& id, const rdma_conn_param* param) {
  if (!id.link || id.link->connection.state() != cm::State::kReqReceived) return EINVAL;
  if (const int error = check(id, param); error != 0) return error;
  if (id.visible.qp == nullptr && param == nullptr) return EINVAL;
  const auto& most = id.local->device->attributes;
  const bool own_depth = param != nullptr && param->initiator_depth != RDMA_MAX_INIT_DEPTH;
  const bool own_resources = param != nullptr && param->responder_resources != RDMA_MAX_RESP_RES;
  id.initiator_depth =
      depth(own_depth ? param->initiator_depth : id.initiator_depth, most.max_qp_init_rd_atom);
  id.responder_resources = depth(
      own_resources ? param->responder_resources : id.responder_resources, most.max_qp_rd_atom);
  cm::Message reply;
  reply.kind = is_datagram(id) ? cm::Kind::kSidrRep : cm::Kind::kRep;
  if (param != nullptr) {
    if (const int error = add_private_data(reply, 0, param->private_data, param->private_data_len);
        error != 0) {
      return error;
    }
  }
  fill_offer(id, param, reply.offer);
  if (is_datagram(id)) {
    reply.service_id = id.link->connection.remote().service_id;
    reply.offer.qkey = id.qkey;
  } else {
    int error = to_ready_to_receive(id, id.responder_resources);
    if (error == 0) error = to_ready_to_send(id, id.initiator_depth);
    if (error != 0) return error;
    reply.offer.target_ack_delay = 15;
  }
  id.accepted = true;
  id.link->connection.reply(reply, now());
  advance(l, id.link);
  return 0;
}

// A request, or the reply to one.
int refuse(rdma_cm_id* id, const void* data, std::uint8_t bytes, cm::RejectReason reason) {
  Library& l = library();
  const Guard guard(l.lock);
  if (const int error = enter(l, id); error != 0) return fail(error);
  Id& mine = of(id);
  if (!mine.link) return fail(EINVAL);
  cm::Connection& connection = mine.link->connection;
  cm::Message message;
  message.kind = is_datagram(mine) ? cm::Kind::kSidrRep : cm::Kind::kRej;
  if (const int error = add_private_data(message, 0, data, bytes); error != 0) return fail(error);
  bool done = false;
  if (is_datagram(mine)) {
    message.service_id = connection.remote().service_id;
    message.status = cm::kSidrRejected;
    done = connection.reply(message, now());
  } else {
    message.reason = reason;
    done = connection.reject(message, now());
  }
  if (!done) return fail(EINVAL);
  advance(l, mine.link);
  return 0;
}

// A synchronous id waits for what comes of it, where something can come.
bool has_more_to_tell(const Id& id) {
  return id.link->connection.deadline().has_value() || !of(id.visible.channel).events.empty();
}

}  // namespace
}  // namespace gdr::rdmacm

using namespace gdr::rdmacm;

GDR_EXPORT int rdma_connect(rdma_cm_id* id, rdma_conn_param* param) {
  {
    Library& l = library();
    const Guard guard(l.lock);
    if (const int error = enter(l, id); error != 0) return fail(error);
    if (const int error = start(l, of(id), param); error != 0) return fail(error);
  }
  return complete(id);
}

GDR_EXPORT int rdma_accept(rdma_cm_id* id, rdma_conn_param* param) {
  {
    Library& l = library();
    const Guard guard(l.lock);
    if (const int error = enter(l, id); error != 0) return fail(error);
    if (const int error = answer(l, of(id), param); error != 0) return fail(error);
  }
  if (!is_datagram(of(id))) return complete(id);
  if (of(id).synchronous && id->event != nullptr) {
    rdma_ack_cm_event(id->event);
    id->event = nullptr;
  }
  return 0;
}

GDR_EXPORT int rdma_reject(rdma_cm_id* id, const void* data, std::uint8_t bytes) {
  return refuse(id, data, bytes, gdr::cm::kRejectConsumerDefined);
}

GDR_EXPORT int rdma_reject_ece(rdma_cm_id* id, const void* data, std::uint8_t bytes) {
  return refuse(id, data, bytes, gdr::cm::kRejectVendorOption);
}

GDR_EXPORT int rdma_establish(rdma_cm_id* id) {
  Library& l = library();
  const Guard guard(l.lock);
  if (const int error = enter(l, id); error != 0) return fail(error);
  Id& mine = of(id);
  if (id->qp != nullptr || !mine.link || !mine.link->connection.ready({}, now())) {
    return fail(EINVAL);
  }
  advance(l, mine.link);
  return 0;
}

GDR_EXPORT int rdma_notify(rdma_cm_id* id, ibv_event_type event) {
  Library& l = library();
  const Guard guard(l.lock);
  if (const int error = enter(l, id); error != 0) return fail(error);
  Id& mine = of(id);
  if (!mine.link || event != IBV_EVENT_COMM_EST) return fail(EINVAL);
  if (mine.link->connection.state() == gdr::cm::State::kEstablished) return fail(EISCONN);
  if (!mine.link->connection.establish(now())) return fail(EINVAL);
  advance(l, mine.link);
  return 0;
}

// A connection that has ended already is no error, as of the kernel.
GDR_EXPORT int rdma_disconnect(rdma_cm_id* id) {
  {
    Library& l = library();
    const Guard guard(l.lock);
    if (const int error = enter(l, id); error != 0) return fail(error);
    Id& mine = of(id);
    if (!mine.link) return fail(EINVAL);
    to_error(mine);
    mine.link->connection.disconnect(now());
    advance(l, mine.link);
    if (!has_more_to_tell(mine)) return 0;
  }
  return complete(id);
}
