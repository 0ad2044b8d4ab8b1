// Between connections and the network: arrivals find their connection, or make one of a listener;
// what a connection has to say becomes MADs and events.
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/random.h"
#include "rdmacm/state.h"

namespace gdr::rdmacm {
namespace {

// Those that time out and those whose program never answers count, too: of strangers' requests
// there are no more than take some 200 MB.
constexpr std::size_t kMostLinks = 65'536;

void send_all(Link& link) {
  while (const auto mad = link.connection.poll_send()) {
    int error = 0;
    transmit(link.local, link.remote_gid, *mad, &error);
    if (error == ECONNREFUSED) link.connection.fail(cm::kRejectInvalidServiceId);
  }
}

// Only these messages have private data for the program, as from the kernel.
bool brings_private_data(const Id& id, cm::Event::Kind kind) {
  return kind == cm::Event::kReply || kind == cm::Event::kRejected ||
         (is_datagram(id) && kind != cm::Event::kRequest);
}

void tell(const std::shared_ptr<Link>& link, const cm::Event& from) {
  Id& id = *link->owner;
  if (!id.accepted) return;
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
  const bool has_message = static_cast<std::uint16_t>(from.message.kind) != 0;
  if (has_message && brings_private_data(id, from.kind)) set_private_data(*event, from.message, 0);
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

// A DREQ's connection is gone, which is what it wants.
void on_stranger(Device& device, const gdr_gsi_mad& mad, const cm::Message& message) {
  gdr_gsi_count(device.gsi, GDR_GSI_UNEXPECTED);
  if (message.kind != cm::Kind::kDreq) return;
  cm::Message drep;
  drep.kind = cm::Kind::kDrep;
  drep.transaction = message.transaction;
  drep.remote_id = message.local_id;
  drep.local_id = message.remote_id;
  answer(device, mad, drep);
}

void forget_half_open(Library& l, Link& link) {
  const cm::State state = link.connection.state();
  if (!link.is_half_open || state == cm::State::kReqReceived || state == cm::State::kRepSent)
    return;
  link.is_half_open = false;
  --l.half_open_together;
  const auto count = l.half_open.find(link.remote_gid);
  if (--count->second == 0) l.half_open.erase(count);
}

}  // namespace

void transmit(const LocalAddress& local, const cm::Gid& to, const cm::Mad& bytes, int* error) {
  gdr_gsi_mad mad;
  std::copy_n(local.gid.begin(), 16, mad.source);
  std::copy_n(to.begin(), 16, mad.destination);
  std::copy_n(bytes.begin(), bytes.size(), mad.bytes);
  *error = gdr_gsi_send(local.device->gsi, &mad);
}

void answer(Device& device, const gdr_gsi_mad& mad, const cm::Message& message) {
  cm::Gid to;
  std::copy_n(mad.source, 16, to.begin());
  LocalAddress local{&device, 1, 0, {}};
  std::copy_n(mad.destination, 16, local.gid.begin());
  int ignored = 0;
  transmit(local, to, cm::write(message), &ignored);
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

std::shared_ptr<Link> make_link(Library& l, const LocalAddress& local, const cm::Gid& remote) {
  constexpr std::uint32_t kOwn = (1U << GDR_GSI_ID_BITS) - 1;
  if (l.links.size() >= kMostLinks) return nullptr;
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

void note_half_open(Library& l, Link& link) {
  link.is_half_open = true;
  ++l.half_open[link.remote_gid];
  ++l.half_open_together;
}

void advance(Library& l, const std::shared_ptr<Link>& link) {
  cm::Connection& connection = link->connection;
  forget_half_open(l, *link);
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
    return on_stranger(device, *mad, *message);
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
