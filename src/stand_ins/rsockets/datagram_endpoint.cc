#include "rsockets/datagram_endpoint.h"

#include <algorithm>
#include <cstring>

#include "rsockets/datagram_protocol.h"
#include "rsockets/errno_or.h"
#include "rsockets/settings.h"

namespace gdr::rsockets {
namespace {

constexpr std::size_t kGrhBytes = sizeof(ibv_grh);
constexpr std::size_t kReceiveStride = (kGrhBytes + kLargestPacket + 63) / 64 * 64;
constexpr std::uint64_t kReceived = std::uint64_t{1} << 32;  // in a work request's number
constexpr int kResolveMs = 2000;

// As the connection manager takes it: an IPv4 address is one, and any port will do.
sockaddr_storage plain(const Name& name) {
  sockaddr_storage address{};
  const Name portless{name.address, 0, name.scope};
  write_address(portless, is_v4(name.address) ? AF_INET : AF_INET6, address);
  return address;
}

// The way between two addresses: from then on the id has a device, also for a name on the loopback,
// where binding alone finds none.
int resolve(rdma_cm_id* id, const Name& from, const Name& to) {
  sockaddr_storage source = plain(from), destination = plain(to);
  errno = 0;
  if (rdma_resolve_addr(id, raw(source), raw(destination), kResolveMs) != 0 ||
      rdma_resolve_route(id, kResolveMs) != 0) {
    return errno_or(EHOSTUNREACH);
  }
  return id->route.num_paths > 0 && id->route.path_rec != nullptr ? 0 : EHOSTUNREACH;
}

int create_id(ConnectionId& made) {
  rdma_cm_id* id = nullptr;
  errno = 0;
  if (rdma_create_id(nullptr, &id, nullptr, RDMA_PS_UDP) != 0) return errno_or(ENODEV);
  made.reset(id);
  return 0;
}

// RoCE v2, where a port has both: a router and the other side's firewall know it as UDP.
std::optional<std::uint8_t> index_of(const rdma_cm_id& id, int entries, const ibv_gid& gid) {
  std::optional<std::uint8_t> found;
  for (int i = 0; i < std::min(entries, 256); ++i) {
    ibv_gid_entry entry{};
    const auto index = static_cast<std::uint32_t>(i);
    if (ibv_query_gid_ex(id.verbs, id.port_num, index, &entry, 0) != 0) continue;  // empty
    if (std::memcmp(entry.gid.raw, gid.raw, sizeof gid.raw) != 0) continue;
    if (entry.gid_type == IBV_GID_TYPE_ROCE_V2) return static_cast<std::uint8_t>(i);
    if (!found) found = static_cast<std::uint8_t>(i);
  }
  return found;
}

}  // namespace

int DatagramEndpoint::open(const Name& name, const DatagramSizes& wanted) {
  name_ = name;
  if (const int error = create_id(id_); error != 0) return error;
  if (const int error = resolve(id_.get(), name, name); error != 0) return error;
  if (id_->verbs == nullptr || id_->pd == nullptr) return ENODEV;
  ibv_port_attr port{};
  if (const int error = ibv_query_port(id_->verbs, id_->port_num, &port); error != 0) return error;
  const ibv_gid& gid = id_->route.path_rec->sgid;
  std::copy_n(gid.raw, device_.size(), device_.begin());
  const std::optional<std::uint8_t> index = index_of(*id_, port.gid_tbl_len, gid);
  if (!index) return ENODEV;
  gid_index_ = *index;
  ibv_device_attr device{};
  if (const int error = ibv_query_device(id_->verbs, &device); error != 0) return error;
  const auto most = static_cast<std::uint32_t>(std::max(device.max_qp_wr, 1));
  const DatagramSizes sizes{std::min(wanted.sends, most), std::min(wanted.receives, most),
                            wanted.inline_bytes};
  largest_ = std::min<std::size_t>(kLargestPacket, std::size_t{128} << (port.active_mtu & 7));
  if (const int error = open_queue_pair(sizes); error != 0) return error;
  const std::uint32_t receives = sizes.receives;
  sends_ = sizes.sends;
  if (int error = send_memory_.open(id_->pd, sends_ * kLargestPacket, IBV_ACCESS_LOCAL_WRITE)) {
    return error;
  }
  if (int error =
          receive_memory_.open(id_->pd, receives * kReceiveStride, IBV_ACCESS_LOCAL_WRITE)) {
    return error;
  }
  for (std::uint32_t slot = 0; slot < sends_; ++slot) free_sends_.push_back(slot);
  for (std::uint32_t slot = 0; slot < receives; ++slot) give_back(slot);
  return works_ ? 0 : EIO;
}

int DatagramEndpoint::open_queue_pair(const DatagramSizes& sizes) {
  const auto entries = static_cast<int>(sizes.sends + sizes.receives);
  if (const int error = completions_.open(id_->verbs, entries); error != 0) return error;
  ibv_qp_init_attr attributes{};
  attributes.send_cq = attributes.recv_cq = completions_.queue();
  attributes.qp_type = IBV_QPT_UD;
  attributes.sq_sig_all = 1;
  attributes.cap.max_send_wr = sizes.sends;
  attributes.cap.max_recv_wr = sizes.receives;
  attributes.cap.max_send_sge = attributes.cap.max_recv_sge = 1;
  attributes.cap.max_inline_data = sizes.inline_bytes;
  errno = 0;
  if (rdma_create_qp(id_.get(), nullptr, &attributes) != 0) return errno_or(EINVAL);
  has_queue_pair_ = true;
  inline_bytes_ = std::min(attributes.cap.max_inline_data, sizes.inline_bytes);
  return 0;
}

DatagramEndpoint::~DatagramEndpoint() {
  if (has_queue_pair_) rdma_destroy_qp(id_.get());
}

int DatagramEndpoint::reach(const Name& peer, const Address& device, AddressHandle& made) {
  ConnectionId way;
  if (const int error = create_id(way); error != 0) return error;
  const Name to{device, 0, peer.scope};
  if (const int error = resolve(way.get(), name_, to); error != 0) return error;
  const ibv_sa_path_rec& path = *way->route.path_rec;
  ibv_ah_attr attributes{};
  attributes.is_global = 1;
  attributes.grh.dgid = path.dgid;
  attributes.grh.sgid_index = gid_index_;
  attributes.grh.hop_limit = std::max<std::uint8_t>(path.hop_limit, 1);
  attributes.grh.traffic_class = path.traffic_class;
  attributes.sl = path.sl;
  attributes.port_num = id_->port_num;
  errno = 0;
  made.reset(ibv_create_ah(id_->pd, &attributes));
  return made ? 0 : errno_or(EHOSTUNREACH);
}

int DatagramEndpoint::send(ibv_ah* handle, std::uint32_t queue_pair,
                           std::span<const std::uint8_t> header, std::span<const iovec> pieces) {
  const std::uint32_t slot = free_sends_.back();
  std::uint8_t* const packet = &send_memory_.bytes()[slot * kLargestPacket];
  std::uint8_t* end = std::ranges::copy(header, packet).out;
  for (const iovec& piece : pieces) {
    end = std::copy_n(static_cast<const std::uint8_t*>(piece.iov_base), piece.iov_len, end);
  }
  const auto length = static_cast<std::uint32_t>(end - packet);
  ibv_sge segment{reinterpret_cast<std::uintptr_t>(packet), length, send_memory_.lkey()};
  ibv_send_wr request{};
  request.wr_id = slot;
  request.sg_list = &segment;
  request.num_sge = 1;
  request.opcode = IBV_WR_SEND;
  if (length <= inline_bytes_) request.send_flags = IBV_SEND_INLINE;
  request.wr.ud.ah = handle;
  request.wr.ud.remote_qpn = queue_pair;
  request.wr.ud.remote_qkey = RDMA_UDP_QKEY;
  ibv_send_wr* refused = nullptr;
  const int error = ibv_post_send(id_->qp, &request, &refused);
  if (error == 0) free_sends_.pop_back();
  return error;
}

std::optional<DatagramEndpoint::Message> DatagramEndpoint::poll() {
  ibv_wc done;
  int count = 0;
  while ((count = ibv_poll_cq(completions_.queue(), 1, &done)) > 0) {
    if ((done.wr_id & kReceived) == 0) {
      free_sends_.push_back(static_cast<std::uint32_t>(done.wr_id));
      works_ = works_ && done.status == IBV_WC_SUCCESS;
    } else if (std::optional<Message> message = received(done)) {
      return message;
    }
  }
  works_ = works_ && count == 0;
  return std::nullopt;
}

std::optional<DatagramEndpoint::Message> DatagramEndpoint::received(ibv_wc& done) {
  const auto slot = static_cast<std::uint32_t>(done.wr_id);
  if (done.status != IBV_WC_SUCCESS) {
    works_ = false;
    return std::nullopt;
  }
  const std::uint8_t* const packet = slot_bytes(slot);
  ibv_grh grh;
  std::memcpy(&grh, packet, sizeof grh);
  ibv_ah_attr from{};
  if (done.byte_len < kGrhBytes || (done.wc_flags & IBV_WC_GRH) == 0 ||
      ibv_init_ah_from_wc(id_->verbs, id_->port_num, &done, &grh, &from) != 0) {
    give_back(slot);
    return std::nullopt;
  }
  Message message;
  message.slot = slot;
  message.bytes = {packet + kGrhBytes, done.byte_len - kGrhBytes};
  std::copy_n(from.grh.dgid.raw, message.source.size(), message.source.begin());
  return message;
}

const std::uint8_t* DatagramEndpoint::slot_bytes(std::uint32_t slot) const {
  return &receive_memory_.bytes()[slot * kReceiveStride];
}

void DatagramEndpoint::give_back(std::uint32_t slot) {
  ibv_sge segment{reinterpret_cast<std::uintptr_t>(slot_bytes(slot)), kGrhBytes + kLargestPacket,
                  receive_memory_.lkey()};
  ibv_recv_wr request{};
  request.wr_id = kReceived | slot;
  request.sg_list = &segment;
  request.num_sge = 1;
  ibv_recv_wr* refused = nullptr;
  if (ibv_post_recv(id_->qp, &request, &refused) != 0) works_ = false;
}

}  // namespace gdr::rsockets
