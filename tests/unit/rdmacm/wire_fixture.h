// Ids of librdmacm on a network that the test plays (fake_general_services.h).
#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <rdma/rdma_cma.h>

#include <cerrno>
#include <cstring>
#include <optional>

#include "cm/service.h"
#include "fake_general_services.h"

namespace gdr::test {

// Peers' ids: with a prefix that is not this process's.
constexpr std::uint32_t kPeersId = 0x00900001;

struct Told {
  rdma_cm_event_type type{};
  int status = 0;
  rdma_cm_id* id = nullptr;
  std::size_t private_bytes = 0;
};

class WireTest : public testing::Test {
 protected:
  void SetUp() override {
    gsi_.forget();
    channel_ = rdma_create_event_channel();
    ASSERT_NE(channel_, nullptr);
    fcntl(channel_->fd, F_SETFL, O_NONBLOCK);
  }
  void TearDown() override {
    while (const auto told = next()) {
      if (told->type == RDMA_CM_EVENT_CONNECT_REQUEST) rdma_destroy_id(told->id);
    }
    for (rdma_cm_id* id : ids_) rdma_destroy_id(id);
    rdma_destroy_event_channel(channel_);
  }

  rdma_cm_id* make_id(rdma_port_space space = RDMA_PS_TCP) {
    rdma_cm_id* id = nullptr;
    EXPECT_EQ(rdma_create_id(channel_, &id, nullptr, space), 0) << std::strerror(errno);
    if (id != nullptr) ids_.push_back(id);
    return id;
  }
  void destroy(rdma_cm_id* id) {
    std::erase(ids_, id);
    EXPECT_EQ(rdma_destroy_id(id), 0);
  }
  static sockaddr_in address(const char* text, std::uint16_t port = 0) {
    sockaddr_in made{};
    made.sin_family = AF_INET;
    made.sin_port = htons(port);
    EXPECT_EQ(inet_pton(AF_INET, text, &made.sin_addr), 1);
    return made;
  }
  rdma_cm_id* listen(int backlog = 0, rdma_port_space space = RDMA_PS_TCP) {
    rdma_cm_id* id = make_id(space);
    sockaddr_in own = address("127.10.0.1");
    EXPECT_EQ(rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&own)), 0) << std::strerror(errno);
    EXPECT_EQ(rdma_listen(id, backlog), 0) << std::strerror(errno);
    return id;
  }
  static std::uint64_t service_of(const rdma_cm_id* id) {
    return cm::service_id(id->ps, ntohs(rdma_get_src_port(const_cast<rdma_cm_id*>(id))));
  }
  // From a peer's id to the listener.
  static cm::Message request_to(std::uint64_t service, std::uint32_t id = kPeersId,
                                cm::Kind kind = cm::Kind::kReq) {
    cm::Message request{.kind = kind, .local_id = id, .service_id = service};
    request.offer = {.qp_number = 77, .responder_resources = 3, .initiator_depth = 2};
    cm::IpHeader ip;
    ip.source_port = 4000;
    ip.source[12] = 10;
    ip.destination[12] = 127, ip.destination[13] = 10, ip.destination[15] = 1;
    cm::write_ip_header(ip, std::span(request.private_data).first<cm::kIpHeaderBytes>());
    return request;
  }
  // The next event, acknowledged; nothing: there is none.
  std::optional<Told> next() {
    rdma_cm_event* event = nullptr;
    if (rdma_get_cm_event(channel_, &event) != 0) return std::nullopt;
    const bool datagram = event->id->qp_type == IBV_QPT_UD;
    const Told told{
        event->event, event->status, event->id,
        datagram ? event->param.ud.private_data_len : event->param.conn.private_data_len};
    rdma_ack_cm_event(event);
    return told;
  }
  rdma_cm_event_type next_type() {
    const auto told = next();
    return told ? told->type : static_cast<rdma_cm_event_type>(-1);
  }
  // The id of a request that the program has been told of; the test destroys it.
  rdma_cm_id* requested(const rdma_cm_id* listener, std::uint32_t peer = 1,
                        cm::Kind kind = cm::Kind::kReq) {
    gsi_.deliver(request_to(service_of(listener), kPeersId + peer, kind), peer_address(peer));
    const auto told = next();
    EXPECT_TRUE(told && told->type == RDMA_CM_EVENT_CONNECT_REQUEST);
    if (!told) return nullptr;
    ids_.push_back(told->id);
    return told->id;
  }
  // An id whose route is known.
  rdma_cm_id* routed(rdma_port_space space = RDMA_PS_TCP) {
    rdma_cm_id* id = make_id(space);
    sockaddr_in to = address("127.10.0.1", 7000);
    EXPECT_EQ(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&to), 1000), 0);
    EXPECT_EQ(next_type(), RDMA_CM_EVENT_ADDR_RESOLVED);
    EXPECT_EQ(rdma_resolve_route(id, 1000), 0);
    EXPECT_EQ(next_type(), RDMA_CM_EVENT_ROUTE_RESOLVED);
    return id;
  }
  // Messages of one kind, among what has been sent since.
  std::vector<Sent> sent(cm::Kind kind) {
    std::vector<Sent> of_kind;
    for (const Sent& one : gsi_.take_sent()) {
      if (one.message.kind == kind) of_kind.push_back(one);
    }
    return of_kind;
  }

  FakeGeneralServices& gsi_ = FakeGeneralServices::instance();
  rdma_event_channel* channel_ = nullptr;
  std::vector<rdma_cm_id*> ids_;
};

}  // namespace gdr::test
