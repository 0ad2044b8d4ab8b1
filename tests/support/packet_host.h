// PacketHost: the path between hosts of one process, on real sockets, without the path within a
// host: a test sends to it from sockets of its own and looks at queue pairs and memory directly.
//
//   PacketHost& host = *new PacketHost("soft0/ip=127.44.1.1");   // its thread never ends
//   auto qp = host.connect(host.queue_pair(IBV_QPT_RC), peer_address, peer_number);
//
// Throws std::runtime_error when the machine does not allow it.
#pragma once

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>

#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

#include "idle_path.h"
#include "net/packet_path.h"
#include "net/socket_address.h"
#include "queue_pair_steps.h"

namespace gdr::test {

class PacketHost {
 public:
  static constexpr rnic::Token kToken = rnic::make_token(3, 77);
  static constexpr std::size_t kBytes = 1 << 16;
  static constexpr std::uint32_t kQkey = 0x11111;

  explicit PacketHost(const char* devices) {
    auto parsed = rnic::parse_devices(devices);
    check(static_cast<bool>(parsed), "devices");
    auto adapter = rnic::Adapter::create(kToken, *std::move(parsed), idle_, liveness_);
    check(static_cast<bool>(adapter), "an adapter");
    adapter_ = *std::move(adapter);
    auto beyond = net::PacketPath::make(*adapter_);
    check(static_cast<bool>(beyond), "a path");
    beyond_ = *std::move(beyond);
    adapter_->carry_by(idle_, beyond_.get());
    domain_ = adapter_->allocate_protection_domain();
    events_ = *rnic::EventQueue::create();
    queue_ = *adapter_->create_completion_queue(
        {.limit = 1024, .on_event = [](std::uint32_t) { return true; }});
    rnic::RegionAttributes attributes{};
    attributes.iova = reinterpret_cast<std::uint64_t>(memory_.data());
    attributes.length = kBytes;
    attributes.protection_domain = domain_;
    attributes.access = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_READ |
                        IBV_ACCESS_REMOTE_ATOMIC | IBV_ACCESS_MW_BIND;
    auto key = adapter_->register_memory(attributes.iova, attributes);
    check(static_cast<bool>(key), "a region");
    key_ = *key;
  }

  rnic::Adapter& adapter() { return *adapter_; }
  net::PacketPath& path() { return static_cast<net::PacketPath&>(*beyond_); }
  std::vector<std::byte>& memory() { return memory_; }
  // As a program that polls its memory: arrivals write to it from another thread, with no lock.
  __attribute__((no_sanitize("thread"))) std::byte byte_at(std::size_t offset) const {
    return *(memory_.data() + offset);
  }
  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(memory_.data()); }
  std::uint32_t key() const { return key_; }
  std::uint32_t domain() const { return domain_; }
  // What the service thread would do.
  void serve() { adapter_->serve(); }

  std::shared_ptr<rnic::QueuePair> queue_pair(ibv_qp_type type) {
    auto made = adapter_->create_queue_pair({.type = type,
                                             .protection_domain = domain_,
                                             .send_completion_queue = queue_,
                                             .receive_completion_queue = queue_,
                                             .events = events_,
                                             .verbs_object = this,
                                             .capabilities = {.max_send_wr = 64,
                                                              .max_recv_wr = 64,
                                                              .max_send_sge = 2,
                                                              .max_recv_sge = 2,
                                                              .max_inline_data = 64}});
    check(static_cast<bool>(made), "a queue pair");
    return *made;
  }

  // Reset to ready-to-send; both first PSNs are 0.
  void connect(rnic::QueuePair& qp, const wire::Address& peer, std::uint32_t peer_number) {
    ibv_gid gid;
    std::memcpy(gid.raw, peer.data(), peer.size());
    ibv_qp_attr attr = attributes_towards(peer_number, gid);
    attr.path_mtu = IBV_MTU_1024;
    attr.qkey = kQkey;
    attr.max_dest_rd_atomic = attr.max_rd_atomic = 4;
    attr.min_rnr_timer = 0;
    attr.qp_state = IBV_QPS_RESET;
    qp.modify(attr, IBV_QP_STATE);
    for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
      attr.qp_state = state;
      check(qp.modify(attr, required_for(state, qp.type())) == 0, "a state");
    }
  }

  // Takes what has completed off.
  std::vector<rnic::SharedCompletion> completions() {
    std::vector<rnic::SharedCompletion> found(256);
    const int count = queue_->poll(found);
    found.resize(count > 0 ? static_cast<std::size_t>(count) : 0);
    return found;
  }

  // The UDP sockets of this process that are bound to that port; 0: to any but 4791, on an address.
  static std::vector<int> sockets(std::uint16_t port) {
    std::vector<int> found;
    for (int descriptor = 3; descriptor < 256; ++descriptor) {
      net::SocketAddress own;
      own.length = sizeof own.storage;
      int type = 0;
      socklen_t length = sizeof type;
      if (getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &length) != 0 || type != SOCK_DGRAM ||
          getsockname(descriptor, own.get(), &own.length) != 0 ||
          (own.get()->sa_family != AF_INET && own.get()->sa_family != AF_INET6)) {
        continue;
      }
      const std::uint16_t bound = net::port_of(*own.get());
      const wire::Address address = net::address_of(*own.get());
      const bool nowhere =
          address == wire::Address{} || (wire::is_ipv4(address) && address[12] == 0);
      if (port != 0 ? bound == port : bound != 0 && bound != wire::kRocePort && !nowhere) {
        found.push_back(descriptor);
      }
    }
    return found;
  }

 private:
  static void check(bool right, const char* what) {
    if (!right) throw std::runtime_error(std::string("not to be had: ") + what);
  }

  IdlePath idle_;  // nothing stays within the host, and nobody else is there
  EveryoneLives liveness_;
  std::unique_ptr<rnic::Adapter> adapter_;
  std::unique_ptr<rnic::BeyondCarrier> beyond_;
  std::shared_ptr<rnic::EventQueue> events_;
  std::shared_ptr<rnic::CompletionQueue> queue_;
  std::uint32_t domain_ = 0, key_ = 0;
  std::vector<std::byte> memory_ = std::vector<std::byte>(kBytes);
};

}  // namespace gdr::test
