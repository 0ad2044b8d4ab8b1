// Requests that arrive: each becomes an id of its listener's, or is refused, or waits outside until
// there is room.
#include <algorithm>

#include "base/fair_share.h"
#include "base/random.h"
#include "rdmacm/state.h"

namespace gdr::rdmacm {
namespace {

// A REQ or SIDR_REQ for which no id is made. Nobody listens, or who listens does not take it.
void refuse(Device& device, const gdr_gsi_mad& mad, const cm::Message& message, bool has_listener) {
  cm::Message refusal;
  refusal.transaction = message.transaction;
  refusal.remote_id = message.local_id;
  if (message.kind == cm::Kind::kReq) {
    refusal.kind = cm::Kind::kRej;
    refusal.reason = has_listener ? cm::kRejectConsumerDefined : cm::kRejectInvalidServiceId;
  } else {
    refusal.kind = cm::Kind::kSidrRep;
    refusal.status = has_listener ? cm::kSidrRejected : cm::kSidrUnsupported;
    refusal.service_id = message.service_id;
  }
  answer(device, mad, refusal);
}

Id* listener_for(Library& l, Device& device, const cm::Message& message, const cm::Gid& destination,
                 const std::optional<cm::IpHeader>& ip) {
  const auto found = l.ports.find(message.service_id);
  if (found == l.ports.end()) return nullptr;
  Id* best = nullptr;
  for (Id* id : found->second) {
    const bool listens_here =
        std::ranges::find(id->listening_on, &device) != id->listening_on.end();
    if (!listens_here) continue;
    const bool is_v6 = id->visible.route.addr.src_addr.sa_family == AF_INET6;
    if (id->family_only && ip && ip->v6 != is_v6) continue;
    if (id->local && id->local->gid == destination) return id;
    if (!id->local) best = id;
  }
  return best;
}

// The type of queue pair that a request is from. Nothing: none that there is.
std::optional<ibv_qp_type> type_of(const cm::Message& request) {
  if (request.kind == cm::Kind::kSidrReq) return IBV_QPT_UD;
  switch (request.offer.transport) {
    case 0:
      return IBV_QPT_RC;
    case 1:
      return IBV_QPT_UC;
    case 3:
      return IBV_QPT_XRC_RECV;
    default:
      return std::nullopt;
  }
}

// Who accepts a request makes a queue pair for it, of which a process has 16,382; whoever never
// confirms keeps it for a minute.
constexpr std::size_t kMostHalfOpen = 12'288, kMostHalfOpenOfOne = 4096;

// Among those that are half open, and in the listener's backlog: peers may fill neither.
bool has_room(const Library& l, const Id& listener, const cm::Gid& source) {
  const auto half_open = l.half_open.find(source);
  const std::size_t its_own = half_open != l.half_open.end() ? half_open->second : 0;
  if (its_own >= kMostHalfOpenOfOne ||
      !has_fair_share_left(its_own, l.half_open_together, kMostHalfOpen)) {
    return false;
  }
  if (!listener.shares_backlog) return listener.backlog > 0;
  const auto found = listener.waiting.find(source);
  const int waiting = found != listener.waiting.end() ? found->second : 0;
  return waiting < listener.backlog;  // what is left of it: a fair share
}

std::unique_ptr<Id> make_requested(const Id& listener, const LocalAddress& local,
                                   const cm::Message& message, const cm::IpHeader& ip,
                                   const cm::Gid& source) {
  auto id = std::make_unique<Id>();
  id->visible.channel = listener.visible.channel;
  id->visible.context = listener.visible.context;
  id->visible.ps = listener.visible.ps;
  id->visible.qp_type = listener.visible.qp_type;
  id->traffic_class = listener.traffic_class;
  id->accepted = false;
  id->qkey = kDatagramKey;
  id->psn = static_cast<std::uint32_t>(random_u64()) & 0xffffff;
  id->phase = Phase::kConnecting;
  attach_device(*id, local);
  id->remote_gid = source;
  std::copy_n(source.begin(), 16, id->visible.route.addr.addr.ibaddr.dgid.raw);
  id->port = cm::port_of(message.service_id);
  const auto from_header = [&](const std::array<std::uint8_t, 16>& bytes) {
    cm::Gid gid = bytes;
    if (!ip.v6) gid[10] = gid[11] = 0xff;
    return gid;
  };
  id->visible.route.addr.src_storage = address_of(from_header(ip.destination), id->port);
  id->visible.route.addr.dst_storage = address_of(from_header(ip.source), ip.source_port);
  id->responder_resources = message.offer.initiator_depth;
  id->initiator_depth = message.offer.responder_resources;
  id->remote_ece = {message.offer.ece_vendor, message.offer.ece_options, 0};
  return id;
}

void tell_of_request(Id& listener, Id& id, const std::shared_ptr<Link>& link,
                     const cm::Message& message) {
  auto event = make_event(id, RDMA_CM_EVENT_CONNECT_REQUEST);
  event->event.listen_id = &listener.visible;
  event->link = link;
  event->message = message;
  set_private_data(*event, message, cm::kIpHeaderBytes);
  if (is_datagram(id)) set_datagram(*event, *link, message);
  --listener.backlog;
  ++listener.waiting[link->remote_gid];
  queue(std::move(event));
}

}  // namespace

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
  const auto ip = cm::read_ip_header(std::span(message.private_data).first<cm::kIpHeaderBytes>());
  Id* listener = listener_for(l, device, message, destination, ip);
  // Some programs (perftest -R) listen, take a connection, and listen anew, and their clients do
  // not wait for that. On a network these are slower than their server; here they may be quicker,
  // as both share processors. A request that is not answered comes again.
  if (listener == nullptr && was_left(l, message.service_id)) return;
  if (listener == nullptr) return refuse(device, mad, message, false);
  if (!ip || type_of(message) != listener->visible.qp_type) {
    gdr_gsi_count(device.gsi, GDR_GSI_INVALID_REQUEST);
    return refuse(device, mad, message, true);
  }
  LocalAddress local{};
  for (const LocalAddress& a : local_addresses(l, &device)) {
    if (a.gid == destination) local = a;
  }
  if (local.device == nullptr) return;
  // A full backlog is silent: the request is repeated, and by then there may be room.
  const auto link = has_room(l, *listener, source) ? make_link(l, local, source) : nullptr;
  if (!link) return gdr_gsi_count(device.gsi, GDR_GSI_BACKLOG_FULL);
  Id* id = make_requested(*listener, local, message, *ip, source).release();
  id->link = link;
  link->owner = id;
  l.ids.insert(id);
  l.requests[{source, message.local_id}] = link->connection.local_id();
  link->connection.receive(message, now());
  note_half_open(l, *link);
  tell_of_request(*listener, *id, link, message);
  advance(l, link);
}

}  // namespace gdr::rdmacm
