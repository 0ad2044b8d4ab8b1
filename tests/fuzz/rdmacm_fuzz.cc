// A program that uses librdmacm in any order, and any management datagrams from any peer meanwhile:
// nothing crashes, no more requests wait than the listener's backlog has room for, and when the
// program has destroyed what it made nothing listens any more.
//
// Queue pair 1 and the device are this file's: what librdmacm would get from libibverbs. It has no
// rsockets, whose end librdmacm waits for.
#include <fcntl.h>
#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <vector>

#include "base/bytes.h"
#include "cm/general_services.h"
#include "cm/service.h"
#include "input.h"
#include "rsockets/descriptor_table.h"

void gdr::rsockets::close_all(std::chrono::steady_clock::duration) {}

namespace {

using gdr::test::Input;
using gdr::test::require;
using namespace gdr;

constexpr std::uint32_t kPrefix = 0x00500000;
constexpr int kBacklog = 4;
constexpr std::size_t kMostIds = 16;

gdr_gsi_user gsi_user{};
std::set<std::uint64_t> listening;
std::uint32_t last_own_id = kPrefix | 1;
int send_error = 0;

ibv_device device{};
ibv_context context{};
ibv_pd domain{&context, 0};

cm::Gid own_gid() {
  cm::Gid gid{};
  gid[10] = gid[11] = 0xff;
  gid[12] = 127, gid[13] = 10, gid[15] = 1;
  return gid;
}

sockaddr_in own_address(std::uint16_t port) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(0x7f0a0001);
  return at;
}

class World {
 public:
  World() {
    channel_ = rdma_create_event_channel();
    fcntl(channel_->fd, F_SETFL, O_NONBLOCK);
  }
  ~World() {
    for (rdma_cm_event* event : events_) rdma_ack_cm_event(event);
    events_.clear();
    take_events(true);
    for (rdma_cm_id* id : ids_) require(rdma_destroy_id(id) == 0);
    take_events(true);
    rdma_destroy_event_channel(channel_);
    require(listening.empty());
  }

  void run(Input& input) {
    while (!input.empty()) step(input);
  }

 private:
  rdma_cm_id* some(Input& input) {
    return ids_.empty() ? nullptr : ids_[input.byte() % ids_.size()];
  }

  void step(Input& input) {
    const std::uint8_t choice = input.byte();
    switch (choice & 15) {
      case 0: {
        static constexpr rdma_port_space kSpaces[] = {RDMA_PS_TCP, RDMA_PS_UDP, RDMA_PS_IB,
                                                      RDMA_PS_IPOIB};
        rdma_cm_id* id = nullptr;
        if (ids_.size() < kMostIds &&
            rdma_create_id(channel_, &id, nullptr, kSpaces[choice >> 4 & 3]) == 0) {
          ids_.push_back(id);
        }
        break;
      }
      case 1: {
        sockaddr_in at = own_address(static_cast<std::uint16_t>(7000 + (input.byte() & 3)));
        rdma_bind_addr(some(input), reinterpret_cast<sockaddr*>(&at));
        break;
      }
      case 2:
        rdma_listen(some(input), kBacklog);
        break;
      case 3: {
        rdma_cm_id* id = some(input);
        sockaddr_in at = own_address(static_cast<std::uint16_t>(7000 + (input.byte() & 3)));
        rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&at), 1);
        rdma_resolve_route(id, 1);
        break;
      }
      case 4:
      case 5: {
        rdma_cm_id* id = some(input);
        const auto data = input.bytes<std::uint8_t>(input.byte());
        rdma_conn_param param{};
        param.private_data = data.data();
        param.private_data_len = static_cast<std::uint8_t>(data.size());
        param.responder_resources = param.initiator_depth = input.byte();
        ((choice & 1) != 0 ? rdma_accept : rdma_connect)(id, &param);
        break;
      }
      case 6:
        rdma_reject(some(input), nullptr, 0);
        break;
      case 7:
        rdma_disconnect(some(input));
        break;
      case 8:
        rdma_establish(some(input));
        break;
      case 9:
        rdma_notify(some(input), IBV_EVENT_COMM_EST);
        break;
      case 10:
        destroy(some(input));
        break;
      case 11:
        take_events(false);
        break;
      case 12: {
        sockaddr_in group = own_address(0);
        group.sin_addr.s_addr = htonl(0xef000001 + (input.byte() & 1));
        auto* to = reinterpret_cast<sockaddr*>(&group);
        rdma_cm_id* id = some(input);
        if ((choice & 16) != 0) {
          rdma_join_multicast(id, to, nullptr);
        } else {
          rdma_leave_multicast(id, to);
        }
        break;
      }
      case 13:
        send_error = (choice & 16) != 0 ? ECONNREFUSED : 0;
        break;
      case 14:
        if (gsi_user.ended != nullptr) {
          gsi_user.ended(gsi_user.state, own_gid().data(), 0x00900000);
        }
        break;
      default:
        arrive(input);
    }
  }

  void arrive(Input& input) {
    if (gsi_user.receive == nullptr) return;
    gdr_gsi_mad mad{};
    const auto bytes = input.bytes<std::uint8_t>(input.byte());
    std::copy_n(bytes.begin(), std::min<std::size_t>(bytes.size(), GDR_GSI_MAD_BYTES), mad.bytes);
    const std::uint8_t choice = input.byte();
    if ((choice & 1) == 0) {
      mad.bytes[0] = 1, mad.bytes[1] = 7, mad.bytes[2] = 2, mad.bytes[3] = 3, mad.bytes[16] = 0;
      mad.bytes[17] = static_cast<std::uint8_t>(0x10 + input.byte() % 9);
      if ((choice & 2) == 0) store_be32(&mad.bytes[28], last_own_id);
      if ((choice & 4) == 0) {
        const unsigned space = (choice & 8) == 0 ? RDMA_PS_TCP : RDMA_PS_UDP;
        store_be64(&mad.bytes[32],
                   cm::service_id(space, static_cast<std::uint16_t>(7000 + (input.byte() & 3))));
        mad.bytes[24 + 140] = mad.bytes[24 + 16] = 0;
        mad.bytes[24 + 141] = mad.bytes[24 + 17] = 0x40;
      }
    }
    const cm::Gid own = own_gid();
    std::copy(own.begin(), own.end(), mad.source);
    if ((choice & 16) != 0) mad.source[15] = input.byte();
    std::copy(own.begin(), own.end(), mad.destination);
    gsi_user.receive(gsi_user.state, &mad);
  }

  void destroy(rdma_cm_id* id) {
    if (id == nullptr) return;
    // It would wait for what the program has not acknowledged.
    std::erase_if(events_, [&](rdma_cm_event* event) {
      if (event->id != id && event->listen_id != id) return false;
      rdma_ack_cm_event(event);
      return true;
    });
    require(rdma_destroy_id(id) == 0);
    std::erase(ids_, id);
  }

  void take_events(bool acknowledge) {
    int requests = 0;
    rdma_cm_event* event = nullptr;
    while (rdma_get_cm_event(channel_, &event) == 0) {
      if (event->event == RDMA_CM_EVENT_CONNECT_REQUEST) {
        ++requests;
        ids_.push_back(event->id);
      }
      const std::size_t bytes = event->id->qp_type == IBV_QPT_UD
                                    ? event->param.ud.private_data_len
                                    : event->param.conn.private_data_len;
      require(bytes <= cm::kMaxPrivateData);
      if (acknowledge || events_.size() > 8) {
        rdma_ack_cm_event(event);
      } else {
        events_.push_back(event);
      }
    }
    require(requests <= kBacklog * static_cast<int>(kMostIds));
    // More ids than the program has names for are destroyed as they come.
    while (ids_.size() > 4 * kMostIds) destroy(ids_.back());
  }

  rdma_event_channel* channel_ = nullptr;
  std::vector<rdma_cm_id*> ids_;
  std::vector<rdma_cm_event*> events_;  // not acknowledged
};

}  // namespace

// --- What libibverbs has.
extern "C" {

struct gdr_gsi {
  int unused;
};
static gdr_gsi the_gsi;

gdr_gsi* gdr_gsi_open(ibv_context*, const gdr_gsi_user* user) {
  gsi_user = *user;
  return &the_gsi;
}
void gdr_gsi_close(gdr_gsi*) {}
int gdr_gsi_send(gdr_gsi*, const gdr_gsi_mad* mad) {
  require(cm::read(std::span<const std::uint8_t, 256>(mad->bytes)).has_value());
  const std::uint32_t local = load_be32(&mad->bytes[24]);
  if ((local & ~0xfffffu) == kPrefix) last_own_id = local;
  return send_error;
}
int gdr_gsi_listen(gdr_gsi*, std::uint64_t id) {
  return listening.insert(id).second ? 0 : EADDRINUSE;
}
int gdr_gsi_unlisten(gdr_gsi*, std::uint64_t id) { return listening.erase(id) != 0 ? 0 : EINVAL; }
std::uint32_t gdr_gsi_id_prefix(gdr_gsi*) { return kPrefix; }
void gdr_gsi_count(gdr_gsi*, gdr_gsi_drop) {}

static ibv_device* the_list[] = {&device, nullptr};
ibv_device** ibv_get_device_list(int* count) {
  *count = 1;
  return the_list;
}
void ibv_free_device_list(ibv_device**) {}
ibv_context* ibv_open_device(ibv_device*) {
  context.device = &device;
  return &context;
}
__be64 ibv_get_device_guid(ibv_device*) { return 0x0102030405060708; }
int ibv_query_device(ibv_context*, ibv_device_attr* attr) {
  *attr = {};
  attr->phys_port_cnt = 1;
  attr->max_qp_rd_atom = attr->max_qp_init_rd_atom = 16;
  return 0;
}
#undef ibv_query_port
int ibv_query_port(ibv_context*, std::uint8_t, _compat_ibv_port_attr* attr) {
  ibv_port_attr whole{};
  whole.gid_tbl_len = 1;
  whole.active_mtu = IBV_MTU_4096;
  std::memcpy(attr, &whole, offsetof(ibv_port_attr, port_cap_flags2));
  return 0;
}
int _ibv_query_gid_ex(ibv_context*, std::uint32_t, std::uint32_t, ibv_gid_entry* entry,
                      std::uint32_t, std::size_t) {
  *entry = {};
  const cm::Gid own = own_gid();
  std::copy(own.begin(), own.end(), entry->gid.raw);
  entry->gid_type = IBV_GID_TYPE_ROCE_V2;
  return 0;
}
ibv_pd* ibv_alloc_pd(ibv_context*) { return &domain; }
// No queue pair is made: the program has its own, and names its number.
ibv_comp_channel* ibv_create_comp_channel(ibv_context*) { return nullptr; }
int ibv_destroy_comp_channel(ibv_comp_channel*) { return 0; }
ibv_cq* ibv_create_cq(ibv_context*, int, void*, ibv_comp_channel*, int) { return nullptr; }
int ibv_resize_cq(ibv_cq*, int) { return EINVAL; }
int ibv_destroy_cq(ibv_cq*) { return 0; }
ibv_srq* ibv_create_srq(ibv_pd*, ibv_srq_init_attr*) { return nullptr; }
int ibv_destroy_srq(ibv_srq*) { return 0; }
ibv_qp* ibv_create_qp(ibv_pd*, ibv_qp_init_attr*) { return nullptr; }
int ibv_modify_qp(ibv_qp*, ibv_qp_attr*, int) { return 0; }
int ibv_destroy_qp(ibv_qp*) { return 0; }
int ibv_attach_mcast(ibv_qp*, const ibv_gid*, std::uint16_t) { return 0; }
int ibv_detach_mcast(ibv_qp*, const ibv_gid*, std::uint16_t) { return 0; }

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Input input(data, size);
  World().run(input);
  send_error = 0;
  return 0;
}

}  // extern "C"
