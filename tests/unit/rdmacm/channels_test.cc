// Event channels: what is on them, what goes with them, and what their file descriptors say.
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "wire_fixture.h"

#ifdef __SANITIZE_THREAD__
// It ends a child that starts threads otherwise.
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_options() {
  return "die_after_fork=0";
}
#endif

namespace gdr::test {
namespace {

class Channels : public WireTest {
 protected:
  static bool is_readable(const rdma_event_channel* channel) {
    pollfd one{channel->fd, POLLIN, 0};
    return poll(&one, 1, 0) == 1 && (one.revents & POLLIN) != 0;
  }
  // Queues ADDR_RESOLVED.
  void resolve(rdma_cm_id* id) {
    sockaddr_in to = address("127.10.0.1", 7000);
    ASSERT_EQ(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&to), 1000), 0);
  }
};

TEST_F(Channels, AreReadableWhileAnEventIsThere) {
  EXPECT_FALSE(is_readable(channel_));
  rdma_cm_event* event = nullptr;
  EXPECT_EQ(rdma_get_cm_event(channel_, &event), -1);
  EXPECT_EQ(errno, EAGAIN);
  rdma_cm_id* id = make_id();
  resolve(id);
  EXPECT_TRUE(is_readable(channel_));
  ASSERT_EQ(rdma_get_cm_event(channel_, &event), 0);
  EXPECT_FALSE(is_readable(channel_));
  EXPECT_EQ(rdma_ack_cm_event(event), 0);
}

// Or a program that polls and then waits for the event would wait for ever.
TEST_F(Channels, AreNotReadableForEventsThatWentWithTheirId) {
  rdma_cm_id* id = make_id();
  resolve(id);
  ASSERT_TRUE(is_readable(channel_));
  destroy(id);
  EXPECT_FALSE(is_readable(channel_));
  rdma_cm_id* listener = listen();
  gsi_.deliver(request_to(service_of(listener)), peer_address(1));
  ASSERT_TRUE(is_readable(channel_));
  destroy(listener);
  EXPECT_FALSE(is_readable(channel_));
  EXPECT_EQ(sent(cm::Kind::kRej).size(), 1u) << "and the request is rejected";
  rdma_cm_id* member = make_id(RDMA_PS_UDP);
  sockaddr_in own = address("127.10.0.1"), group = address("239.1.2.3");
  ASSERT_EQ(rdma_bind_addr(member, reinterpret_cast<sockaddr*>(&own)), 0);
  ASSERT_EQ(rdma_join_multicast(member, reinterpret_cast<sockaddr*>(&group), nullptr), 0);
  ASSERT_TRUE(is_readable(channel_));
  ASSERT_EQ(rdma_leave_multicast(member, reinterpret_cast<sockaddr*>(&group)), 0);
  EXPECT_FALSE(is_readable(channel_));
}

TEST_F(Channels, TakeWhatWaitsAlongWhenAnIdMigrates) {
  rdma_cm_id* id = make_id();
  resolve(id);
  rdma_event_channel* other = rdma_create_event_channel();
  ASSERT_EQ(rdma_migrate_id(id, other), 0);
  EXPECT_EQ(id->channel, other);
  EXPECT_FALSE(is_readable(channel_));
  ASSERT_TRUE(is_readable(other));
  rdma_cm_event* event = nullptr;
  ASSERT_EQ(rdma_get_cm_event(other, &event), 0);
  EXPECT_EQ(event->event, RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_EQ(rdma_ack_cm_event(event), 0);
  EXPECT_EQ(rdma_migrate_id(id, other), 0) << "to where it is";
  // A listener's requests go with it, and their ids.
  rdma_cm_id* listener = listen();
  gsi_.deliver(request_to(service_of(listener)), peer_address(1));
  ASSERT_EQ(rdma_migrate_id(listener, other), 0);
  EXPECT_FALSE(is_readable(channel_));
  ASSERT_EQ(rdma_get_cm_event(other, &event), 0);
  EXPECT_EQ(event->id->channel, other);
  rdma_cm_id* requested = event->id;
  rdma_ack_cm_event(event);
  rdma_destroy_id(requested);
  destroy(listener);
  destroy(id);
  rdma_destroy_event_channel(other);
}

// Both wait for the program to acknowledge what it has taken.
TEST_F(Channels, KeepAnIdUntilItsEventsAreAcknowledged) {
  for (const bool migrates : {false, true}) {
    rdma_cm_id* id = make_id();
    resolve(id);
    rdma_cm_event* event = nullptr;
    ASSERT_EQ(rdma_get_cm_event(channel_, &event), 0);
    std::atomic<bool> done{false};
    rdma_event_channel* other = rdma_create_event_channel();
    std::thread thread([&] {
      EXPECT_EQ(migrates ? rdma_migrate_id(id, other) : rdma_destroy_id(id), 0);
      done = true;
    });
    usleep(50'000);
    EXPECT_FALSE(done) << (migrates ? "migrate" : "destroy");
    EXPECT_EQ(rdma_ack_cm_event(event), 0);
    thread.join();
    if (migrates) {
      destroy(id);
    } else {
      std::erase(ids_, id);
    }
    rdma_destroy_event_channel(other);
  }
}

TEST_F(Channels, RefuseAnAcknowledgementOfWhatIsNotTaken) {
  rdma_cm_id* id = make_id();
  resolve(id);
  rdma_cm_event* event = nullptr;
  ASSERT_EQ(rdma_get_cm_event(channel_, &event), 0);
  EXPECT_EQ(rdma_ack_cm_event(event), 0);
  EXPECT_EQ(rdma_ack_cm_event(event), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(rdma_ack_cm_event(nullptr), -1);
  EXPECT_EQ(errno, EINVAL);
}

// The kernel ends all ids of a file that is closed; the program still has to free them.
TEST_F(Channels, EndWhatIsOnThemWhenTheyAreDestroyed) {
  rdma_event_channel* other = rdma_create_event_channel();
  const auto on_other = [&](rdma_cm_id* id) {
    EXPECT_EQ(rdma_migrate_id(id, other), 0);
    return id;
  };
  rdma_cm_id* listener = on_other(listen());
  const std::uint64_t service = service_of(listener);
  gsi_.deliver(request_to(service, kPeersId), peer_address(1));
  rdma_cm_id* active = on_other(routed());
  rdma_conn_param param{};
  param.qp_num = 5;
  ASSERT_EQ(rdma_connect(active, &param), 0);
  (void)gsi_.take_sent();
  rdma_destroy_event_channel(other);
  EXPECT_FALSE(gsi_.listens_for(service));
  EXPECT_EQ(sent(cm::Kind::kRej).size(), 2u) << "the request that waited, and its own";
  // What comes for them harms nobody.
  gsi_.deliver(request_to(service, kPeersId + 1), peer_address(1));
  EXPECT_EQ(rdma_listen(listener, 1), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(rdma_connect(active, &param), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(rdma_disconnect(active), -1);
  EXPECT_EQ(errno, EBADF);
  EXPECT_EQ(rdma_migrate_id(active, channel_), -1);
  EXPECT_EQ(errno, EBADF);
  destroy(listener);
  destroy(active);
}

TEST_F(Channels, OfAForksParentLeaveTheChildWhatItCanDestroy) {
  rdma_cm_id* listener = listen();
  rdma_cm_id* id = routed();
  const pid_t child = fork();
  if (child == 0) {
    alarm(600);
    rdma_event_channel* own = rdma_create_event_channel();
    rdma_cm_id* made = nullptr;
    const bool right = rdma_destroy_id(id) == 0 && rdma_destroy_id(listener) == 0 &&
                       own != nullptr && rdma_create_id(own, &made, nullptr, RDMA_PS_TCP) == 0 &&
                       rdma_destroy_id(made) == 0;
    rdma_destroy_event_channel(own);
    _exit(right ? 0 : 1);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(gsi_.listens_for(service_of(listener))) << "the parent listens on";
  gsi_.deliver(request_to(service_of(listener)), peer_address(1));
  EXPECT_EQ(next_type(), RDMA_CM_EVENT_CONNECT_REQUEST);
}

}  // namespace
}  // namespace gdr::test
