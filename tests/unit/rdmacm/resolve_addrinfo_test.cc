// Names resolved by event, and events that a program writes: what librdmacm got after release 44,
// as programs built with later headers call it.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <rdma/rdma_cma.h>

#include <cerrno>
#include <cstring>
#include <memory>

extern "C" {
int rdma_resolve_addrinfo(rdma_cm_id*, const char*, const char*, const rdma_addrinfo*);
int rdma_query_addrinfo(rdma_cm_id*, rdma_addrinfo**);
int rdma_write_cm_event(rdma_cm_id*, rdma_cm_event_type, int, std::uint64_t);
}

namespace gdr::test {
namespace {

constexpr auto kResolved = static_cast<rdma_cm_event_type>(16);
constexpr auto kUser = static_cast<rdma_cm_event_type>(18);
constexpr int kFromSubnet = 0x10, kFromNames = 0x20;

class ResolveAddrinfo : public testing::Test {
 protected:
  ResolveAddrinfo() {
    channel_ = rdma_create_event_channel();
    EXPECT_EQ(rdma_create_id(channel_, &id_, nullptr, RDMA_PS_TCP), 0) << std::strerror(errno);
  }
  ~ResolveAddrinfo() override {
    if (id_ != nullptr) rdma_destroy_id(id_);
    rdma_destroy_event_channel(channel_);
  }
  // The type of the next event, which is acknowledged. Each test's events are there already.
  rdma_cm_event_type next_event(rdma_cm_event* copy = nullptr) {
    rdma_cm_event* event = nullptr;
    EXPECT_EQ(rdma_get_cm_event(channel_, &event), 0);
    const rdma_cm_event_type type = event->event;
    if (copy != nullptr) *copy = *event;
    rdma_ack_cm_event(event);
    return type;
  }
  int error_of(int status) { return status == -1 ? errno : status; }

  rdma_event_channel* channel_ = nullptr;
  rdma_cm_id* id_ = nullptr;
};

TEST_F(ResolveAddrinfo, TellsOfItsResultWhichIsTakenOnce) {
  rdma_addrinfo* found = nullptr;
  EXPECT_EQ(error_of(rdma_query_addrinfo(id_, &found)), ENOENT);
  ASSERT_EQ(rdma_resolve_addrinfo(id_, "127.10.0.1", "7471", nullptr), 0) << std::strerror(errno);
  EXPECT_EQ(next_event(), kResolved);
  ASSERT_EQ(rdma_query_addrinfo(id_, &found), 0) << std::strerror(errno);
  ASSERT_EQ(found->ai_dst_len, sizeof(sockaddr_in));
  const auto* address = reinterpret_cast<const sockaddr_in*>(found->ai_dst_addr);
  EXPECT_EQ(ntohl(address->sin_addr.s_addr), 0x7f0a0001u);
  EXPECT_EQ(ntohs(address->sin_port), 7471);
  rdma_freeaddrinfo(found);
  EXPECT_EQ(error_of(rdma_query_addrinfo(id_, &found)), ENOENT);
}

TEST_F(ResolveAddrinfo, IsBusyUntilItsResultIsTaken) {
  ASSERT_EQ(rdma_resolve_addrinfo(id_, "127.10.0.1", "7471", nullptr), 0);
  EXPECT_EQ(error_of(rdma_resolve_addrinfo(id_, "127.10.0.2", "7471", nullptr)), EBUSY);
  rdma_addrinfo* found = nullptr;
  ASSERT_EQ(rdma_query_addrinfo(id_, &found), 0);
  rdma_freeaddrinfo(found);
  EXPECT_EQ(rdma_resolve_addrinfo(id_, "127.10.0.2", "7471", nullptr), 0);
  EXPECT_EQ(next_event(), kResolved);  // and the second, untaken, goes with the id
}

TEST_F(ResolveAddrinfo, RefusesWhatOnlyASubnetAdministratorKnows) {
  rdma_addrinfo hints{};
  hints.ai_flags = kFromSubnet;
  EXPECT_EQ(error_of(rdma_resolve_addrinfo(id_, nullptr, "service", &hints)), EOPNOTSUPP);
  EXPECT_EQ(error_of(rdma_resolve_addrinfo(id_, "node", "service", &hints)), ENOTSUP);
  hints.ai_flags = kFromSubnet | kFromNames;
  EXPECT_EQ(error_of(rdma_resolve_addrinfo(id_, nullptr, "service", &hints)), ENOTSUP);
  rdma_addrinfo* found = nullptr;
  EXPECT_EQ(error_of(rdma_getaddrinfo(nullptr, "service", &hints, &found)), EOPNOTSUPP);
  // A refusal leaves no request behind.
  EXPECT_EQ(rdma_resolve_addrinfo(id_, "127.10.0.1", "7471", nullptr), 0);
}

TEST_F(ResolveAddrinfo, OfASynchronousIdWaitsForTheEvent) {
  rdma_cm_id* synchronous = nullptr;
  ASSERT_EQ(rdma_create_id(nullptr, &synchronous, nullptr, RDMA_PS_TCP), 0);
  ASSERT_EQ(rdma_resolve_addrinfo(synchronous, "127.10.0.1", "7471", nullptr), 0);
  ASSERT_NE(synchronous->event, nullptr);
  EXPECT_EQ(synchronous->event->event, kResolved);
  EXPECT_EQ(rdma_destroy_id(synchronous), 0);
}

TEST_F(ResolveAddrinfo, WrittenEventsComeBackWithTheirArgument) {
  ASSERT_EQ(rdma_write_cm_event(id_, kUser, 5, 0x123456789abcdef0), 0);
  rdma_cm_event event{};
  EXPECT_EQ(next_event(&event), kUser);
  EXPECT_EQ(event.id, id_);
  EXPECT_EQ(event.status, 5);
  std::uint64_t argument = 0;
  std::memcpy(&argument, &event.param, sizeof argument);
  EXPECT_EQ(argument, 0x123456789abcdef0u);
  EXPECT_EQ(error_of(rdma_write_cm_event(id_, RDMA_CM_EVENT_ESTABLISHED, 0, 0)), EINVAL);
}

TEST_F(ResolveAddrinfo, EventsOfLaterReleasesHaveNames) {
  EXPECT_STREQ(rdma_event_str(kResolved), "RDMA_CM_EVENT_ADDRINFO_RESOLVED");
  EXPECT_STREQ(rdma_event_str(kUser), "RDMA_CM_EVENT_USER");
  EXPECT_STREQ(rdma_event_str(static_cast<rdma_cm_event_type>(99)), "UNKNOWN EVENT");
}

}  // namespace
}  // namespace gdr::test
