// Between connections and the network: arrivals find their connection, or make one of a listener;
// what a connection has to say becomes MADs and events.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/random.h"
#include "rdmacm/state.h"

namespace gdr::rdmacm {
namespace {

void transmit(const LocalAddress& local, const cm::Gid& to, const cm::Mad& bytes, int* error) {
  gdr_gsi_mad mad;
  std::copy_n(local.gid.begin(), 16, mad.source);
  std::copy_n(to.begin(), 16, mad.destination);
  std::copy_n(bytes.begin(), bytes.size(), mad.bytes);
  *error = gdr_gsi_send(local.device->gsi, &mad);
}

void send_all(Link& link) {
  while (const auto mad = link.connection.poll_send()) {
    int error = 0;
    transmit(link.local, link.remote_gid, *mad, &error);
    if (error == ECONNREFUSED) link.connection.fail(cm::kRejectInvalidServiceId);
  }
}

void set_private_data(QueuedEvent& event, const cm::Message& message, std::size_t skip) {
  const std::size_t bytes = cm::private_data_bytes(message.kind) - skip;
  std::copy_n(message.private_data.begin() + static_cast<std::ptrdiff_t>(skip), bytes,
              event.private_data.begin());
  const bool datagram = is_datagram(*event.id);
  // ud and conn begin alike.
  rdma_conn_param& conn = event.event.param.conn;
  conn.private_data = bytes != 0 ? event.private_data.data() : nullptr;
  conn.private_data_len = static_cast<std::uint8_t>(bytes);
  if (datagram) return;
  // Who reads it is the other side: its depth is what we have to answer (12.7.29).
  conn.responder_resources = message.offer.initiator_depth;
  conn.initiator_depth = message.offer.responder_resources;
  conn.flow_control = message.offer.flow_control;
  conn.retry_count = message.offer.retry_count;
  conn.rnr_retry_count = message.offer.rnr_retry_count;
  conn.srq = message.offer.srq;
  conn.qp_num = message.offer.qp_number;
}

void set_datagram(QueuedEvent& event, const Link& link, const cm::Message& message) {
  rdma_ud_param& ud = event.event.param.ud;
  ud.qp_num = message.offer.qp_number;
  ud.qkey = message.offer.qkey;
  ud.ah_attr.is_global = 1;
  std::copy_n(link.remote_gid.begin(), 16, ud.ah_attr.grh.dgid.raw);
  ud.ah_attr.grh.sgid_index = link.local.index;
  ud.ah_attr.grh.hop_limit = 64;
  ud.ah_attr.grh.traffic_class = event.id->traffic_class;
  ud.ah_attr.port_num = link.local.port;
}

void tell(const std::shared_ptr<Link>& link, const cm::Event& from) {
  Id& id = *link->owner;
  rdma_cm_event_type type{};
  switch (from.kind) {
    case cm::Event::kRequest:
      return;  // the listener's event
    case cm::Event::kReply:
      type = RDMA_CM_EVENT_CONNECT_RESPONSE;
      break;
    case cm::Event::kEstablished:
      type = RDMA_CM_EVENT_ESTABLISHED;
      break;
    case cm::Event::kRejected:
      type = RDMA_CM_EVENT_REJECTED;
      break;
    case cm::Event::kUnreachable:
      type = RDMA_CM_EVENT_UNREACHABLE;
      break;
    case cm::Event::kDisconnected:
      type = RDMA_CM_EVENT_DISCONNECTED;
      break;
    case cm::Event::kTimeWaitExit:
      type = RDMA_CM_EVENT_TIMEWAIT_EXIT;
      break;
  }
  auto event = make_event(id, type, from.status);
  event->link = link;
  event->message = from.message;
  if (static_cast<std::uint16_t>(from.message.kind) != 0) set_private_data(*event, from.message, 0);
  if (from.kind == cm::Event::kReply) {
    const auto& most = link->local.device->attributes;
    id.responder_resources = static_cast<std::uint8_t>(
        std::min<int>(from.message.offer.initiator_depth, most.max_qp_rd_atom));
    id.initiator_depth = static_cast<std::uint8_t>(
        std::min<int>(from.message.offer.responder_resources, most.max_qp_init_rd_atom));
  }
  if (from.kind == cm::Event::kEstablished && is_datagram(id)) {
    set_datagram(*event, *link, from.message);
  }
  queue(std::move(event));
}

void answer_unknown(Device& device, const gdr_gsi_mad& mad, const cm::Message& message) {
  cm::Message answer;
  answer.transaction = message.transaction;
  answer.remote_id = message.local_id;
  switch (message.kind) {
    case cm::Kind::kReq:
      answer.kind = cm::Kind::kRej;
      answer.reason = cm::kRejectInvalidServiceId;
      break;
    case cm::Kind::kSidrReq:
      answer.kind = cm::Kind::kSidrRep;
      answer.status = 1;
      answer.service_id = message.service_id;
      break;
    case cm::Kind::kDreq:  // its connection is gone, which is what it wants
      answer.kind = cm::Kind::kDrep;
      answer.local_id = message.remote_id;
      break;
    default:
      return;
  }
  cm::Gid to;
  std::copy_n(mad.source, 16, to.begin());
  LocalAddress local{&device, 1, 0, {}};
  std::copy_n(mad.destination, 16, local.gid.begin());
  int ignored = 0;
  transmit(local, to, cm::write(answer), &ignored);
}

Id* listener_for(Library& l, Device& device, std::uint64_t service) {
  const auto found = l.ports.find(service);
  if (found == l.ports.end()) return nullptr;
  Id* best = nullptr;
  for (Id* id : found->second) {
    if (id->phase != Phase::kListening) continue;
    if (id->local && id->local->device == &device) return id;
    if (!id->local) best = id;
  }
  return best;
}

void on_request(Library& l, Device& device, const gdr_gsi_mad& mad, const cm::Message& message) {
  cm::Gid source, destination;
  std::copy_n(mad.source, 16, source.begin());
  std::copy_n(mad.destination, 16, destination.begin());
  const auto known = l.requests.find({source, message.local_id});
  if (known != l.requests.end() && l.links.contains(known->second)) {
    const auto link = l.links[known->second];
    link->connection.receive(message, now());
    return advance(l, link);
  }
  Id* listener = listener_for(l, device, message.service_id);
  const auto ip = cm::read_ip_header(std::span(message.private_data).first<cm::kIpHeaderBytes>());
  if (listener == nullptr || !ip || listener->backlog <= 0) {
    // A full backlog is silent: the request is repeated, and by then there may be room.
    if (listener == nullptr || !ip) answer_unknown(device, mad, message);
    return;
  }
  LocalAddress local{};
  for (const LocalAddress& a : local_addresses(l, &device)) {
    if (a.gid == destination) local = a;
  }
  if (local.device == nullptr) return;
  const auto link = make_link(l, local, source);
  if (!link) return;
  auto* id = new Id;
  id->visible.channel = listener->visible.channel;
  id->visible.context = listener->visible.context;
  id->visible.ps = listener->visible.ps;
  id->visible.qp_type = message.kind == cm::Kind::kSidrReq ? IBV_QPT_UD
                        : message.offer.transport == 3     ? IBV_QPT_XRC_RECV
                                                           : IBV_QPT_RC;
  id->traffic_class = listener->traffic_class;
  id->qkey = kDatagramKey;
  id->psn = static_cast<std::uint32_t>(random_u64()) & 0xffffff;
  id->phase = Phase::kConnecting;
  attach_device(*id, local);
  id->remote_gid = source;
  std::copy_n(source.begin(), 16, id->visible.route.addr.addr.ibaddr.dgid.raw);
  id->port = cm::port_of(message.service_id);
  const auto from_header = [&](const std::array<std::uint8_t, 16>& bytes) {
    cm::Gid gid = bytes;
    if (!ip->v6) gid[10] = gid[11] = 0xff;
    return gid;
  };
  id->visible.route.addr.src_storage = address_of(from_header(ip->destination), id->port);
  id->visible.route.addr.dst_storage = address_of(from_header(ip->source), ip->source_port);
  id->link = link;
  link->owner = id;
  l.ids.insert(id);
  l.requests[{source, message.local_id}] = link->connection.local_id();
  link->connection.receive(message, now());
  auto event = make_event(*id, RDMA_CM_EVENT_CONNECT_REQUEST);
  event->event.listen_id = &listener->visible;
  event->link = link;
  event->message = message;
  set_private_data(*event, message, cm::kIpHeaderBytes);
  if (is_datagram(*id)) set_datagram(*event, *link, message);
  id->responder_resources = message.offer.initiator_depth;
  id->initiator_depth = message.offer.responder_resources;
  id->remote_ece = {message.offer.ece_vendor, message.offer.ece_options, 0};
  --listener->backlog;
  queue(std::move(event));
  advance(l, link);
}

}  // namespace

std::shared_ptr<Link> make_link(Library& l, const LocalAddress& local, const cm::Gid& remote) {
  constexpr std::uint32_t kOwn = (1U << GDR_GSI_ID_BITS) - 1;
  if (l.links.size() > kOwn / 2) return nullptr;
  std::uint32_t id = 0;
  do {
    id = gdr_gsi_id_prefix(local.device->gsi) | (static_cast<std::uint32_t>(random_u64()) & kOwn);
  } while (id == 0 || l.links.contains(id));
  auto link = std::make_shared<Link>(id, random_u64());
  link->local = local;
  link->remote_gid = remote;
  l.links[id] = link;
  return link;
}

void advance(Library& l, const std::shared_ptr<Link>& link) {
  cm::Connection& connection = link->connection;
  send_all(*link);
  while (const auto event = connection.poll_event()) {
    if (link->owner != nullptr) tell(link, *event);
  }
  schedule(l, *link);
  if (connection.state() == cm::State::kClosed) {
    if (!connection.active()) l.requests.erase({link->remote_gid, connection.remote_id()});
    l.links.erase(connection.local_id());
  }
}

void on_mad(void* user, const gdr_gsi_mad* mad) {
  Library& l = library();
  const auto message = cm::read(std::span<const std::uint8_t, 256>(mad->bytes));
  if (!message) return;
  const Guard guard(l.lock);
  Device& device = *static_cast<Device*>(user);
  if (message->kind == cm::Kind::kReq || message->kind == cm::Kind::kSidrReq) {
    return on_request(l, device, *mad, *message);
  }
  const auto found = l.links.find(message->remote_id);
  if (found == l.links.end() ||
      !std::equal(mad->source, mad->source + 16, found->second->remote_gid.begin())) {
    return answer_unknown(device, *mad, *message);
  }
  const std::shared_ptr<Link> link = found->second;
  link->connection.receive(*message, now());
  advance(l, link);
}

void on_process_ended(void* user, const std::uint8_t* address, std::uint32_t id_prefix) {
  Library& l = library();
  const Guard guard(l.lock);
  const auto& device = *static_cast<Device*>(user);
  std::vector<std::shared_ptr<Link>> theirs;
  for (const auto& [id, link] : l.links) {
    const bool is_theirs =
        link->connection.remote_id() >> GDR_GSI_ID_BITS == id_prefix >> GDR_GSI_ID_BITS;
    if (is_theirs && link->local.device == &device &&
        std::equal(link->remote_gid.begin(), link->remote_gid.end(), address)) {
      theirs.push_back(link);
    }
  }
  for (const std::shared_ptr<Link>& link : theirs) {
    link->connection.peer_ended(now());
    advance(l, link);
  }
}

void abandon_all(Library& l) {
  for (const auto& [id, link] : l.links) {
    link->connection.abandon(now());
    send_all(*link);
  }
}

}  // namespace gdr::rdmacm
