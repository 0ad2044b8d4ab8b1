// Who may have a port: the kernel's rules (cma_check_port), within one process. And groups, which
// are joined by address.
#include <linux/capability.h>
#include <netinet/in.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "wire_fixture.h"

namespace gdr::test {
namespace {

class Ports : public WireTest {
 protected:
  rdma_cm_id* reusing(bool reuse) {
    rdma_cm_id* id = make_id();
    int number = reuse ? 1 : 0;
    EXPECT_EQ(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_REUSEADDR, &number, sizeof number),
              0);
    return id;
  }
  // 0 or errno.
  static int bind(rdma_cm_id* id, const char* text, std::uint16_t port) {
    sockaddr_in at = address(text, port);
    return rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&at)) == 0 ? 0 : errno;
  }
  static int bind_any6(rdma_cm_id* id, std::uint16_t port) {
    sockaddr_in6 any{};
    any.sin6_family = AF_INET6;
    any.sin6_port = htons(port);
    return rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&any)) == 0 ? 0 : errno;
  }
  static int listen_on(rdma_cm_id* id) { return rdma_listen(id, 1) == 0 ? 0 : errno; }
  static void set_only(rdma_cm_id* id, int only) {
    EXPECT_EQ(rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &only, sizeof only), 0);
  }
};

TEST_F(Ports, AreChosenWhereNoneIsNamed) {
  rdma_cm_id* id = make_id();
  EXPECT_EQ(rdma_get_src_port(id), 0);
  EXPECT_EQ(rdma_get_dst_port(id), 0);
  ASSERT_EQ(bind(id, "127.10.0.1", 0), 0);
  EXPECT_GE(ntohs(rdma_get_src_port(id)), 32768);
  rdma_cm_id* same = make_id();
  EXPECT_EQ(bind(same, "127.10.0.1", ntohs(rdma_get_src_port(id))), EADDRINUSE);
  EXPECT_EQ(bind(same, "127.10.0.1", 7001), 0) << "and it is not used up by that";
}

TEST_F(Ports, BelongToAnAddressAPortSpaceAndAFamily) {
  ASSERT_EQ(bind(make_id(), "127.10.0.1", 7001), 0);
  EXPECT_EQ(bind(make_id(), "127.10.0.1", 7001), EADDRINUSE);
  EXPECT_EQ(bind(make_id(), "127.10.0.2", 7001), 0) << "another device's";
  EXPECT_EQ(bind(make_id(RDMA_PS_UDP), "127.10.0.1", 7001), 0) << "another port space's";
  EXPECT_EQ(bind(make_id(), "0.0.0.0", 7001), EADDRNOTAVAIL) << "any is also that one";
  EXPECT_EQ(bind_any6(make_id(), 7001), EADDRNOTAVAIL) << "any of IPv6 is any of IPv4, too";
  rdma_cm_id* six = make_id();
  set_only(six, 1);
  EXPECT_EQ(bind_any6(six, 7001), 0) << "unless it is only that";
  rdma_cm_id* four = make_id();
  set_only(four, 0);
  EXPECT_EQ(bind(four, "0.0.0.0", 7001), EADDRNOTAVAIL);
}

TEST_F(Ports, AreSharedByThoseWhoAllSaySoUntilOneListens) {
  rdma_cm_id *first = reusing(true), *second = reusing(true);
  ASSERT_EQ(bind(first, "127.10.0.1", 7001), 0);
  EXPECT_EQ(bind(make_id(), "127.10.0.1", 7001), EADDRINUSE) << "who does not say so";
  EXPECT_EQ(bind(reusing(false), "127.10.0.1", 7001), EADDRINUSE);
  ASSERT_EQ(bind(second, "127.10.0.1", 7001), 0);
  EXPECT_EQ(listen_on(first), EADDRINUSE) << "a listener shares with nobody";
  EXPECT_FALSE(gsi_.listens_for(service_of(first)));
  destroy(second);
  EXPECT_EQ(listen_on(first), 0);
  EXPECT_EQ(bind(reusing(true), "127.10.0.1", 7001), EADDRINUSE) << "nor afterwards";
}

TEST_F(Ports, AreFreeAgainWithTheirId) {
  rdma_cm_id* id = make_id();
  ASSERT_EQ(bind(id, "127.10.0.1", 7001), 0);
  ASSERT_EQ(listen_on(id), 0);
  const std::uint64_t service = service_of(id);
  EXPECT_TRUE(gsi_.listens_for(service));
  destroy(id);
  EXPECT_FALSE(gsi_.listens_for(service));
  EXPECT_EQ(bind(make_id(), "127.10.0.1", 7001), 0);
}

// In a child, which gives the right away.
TEST_F(Ports, Below1024NeedThePrivilege) {
  const pid_t child = fork();
  if (child == 0) {
    alarm(600);
    __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
    __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3]{};
    if (syscall(SYS_capset, &header, none) != 0) _exit(9);
    rdma_cm_id* id = nullptr;
    if (rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP) != 0) _exit(8);
    if (bind(id, "127.10.0.1", 1023) != EACCES) _exit(7);
    _exit(bind(id, "127.10.0.1", 1024) == 0 ? 0 : 6);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0) << WEXITSTATUS(status);
}

TEST_F(Ports, OfInfiniBandsOwnSpaceHaveNoDeviceHere) {
  rdma_cm_id* id = make_id(RDMA_PS_IPOIB);
  EXPECT_EQ(bind(id, "127.10.0.1", 0), EINVAL);
  sockaddr_in to = address("127.10.0.1", 7000);
  ASSERT_EQ(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&to), 1000), 0);
  const auto told = next();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->type, RDMA_CM_EVENT_ADDR_ERROR);
  EXPECT_EQ(told->status, -EINVAL);
}

class Groups : public WireTest {
 protected:
  rdma_cm_id* member() {
    rdma_cm_id* id = make_id(RDMA_PS_UDP);
    sockaddr_in own = address("127.10.0.1");
    EXPECT_EQ(rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&own)), 0);
    ibv_qp_init_attr attr{};
    attr.qp_type = IBV_QPT_UD;
    attr.cap = {4, 4, 1, 1, 0};
    EXPECT_EQ(rdma_create_qp(id, nullptr, &attr), 0) << std::strerror(errno);
    return id;
  }
  void end(rdma_cm_id* id) {
    rdma_destroy_qp(id);
    destroy(id);
  }
  // What the event says of the group; the queue pair is in it from then on.
  rdma_ud_param joined(void* context) {
    rdma_cm_event* event = nullptr;
    EXPECT_EQ(rdma_get_cm_event(channel_, &event), 0);
    if (event == nullptr) return {};
    EXPECT_EQ(event->event, RDMA_CM_EVENT_MULTICAST_JOIN);
    EXPECT_EQ(event->param.ud.private_data, context);
    const rdma_ud_param ud = event->param.ud;
    rdma_ack_cm_event(event);
    return ud;
  }
};

TEST_F(Groups, AreJoinedByAddressOfEitherFamilyAndLeft) {
  rdma_cm_id* id = member();
  int context = 0;
  sockaddr_in four = address("239.1.2.3");
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  ASSERT_EQ(inet_pton(AF_INET6, "ff0e::1:2", &six.sin6_addr), 1);
  for (sockaddr* group : {reinterpret_cast<sockaddr*>(&four), reinterpret_cast<sockaddr*>(&six)}) {
    ASSERT_EQ(rdma_join_multicast(id, group, &context), 0);
    const rdma_ud_param ud = joined(&context);
    EXPECT_EQ(ud.qp_num, 0xffffffu);
    EXPECT_EQ(ud.qkey, static_cast<std::uint32_t>(RDMA_UDP_QKEY));
    EXPECT_EQ(ud.ah_attr.is_global, 1);
    // It is attached: a second time is refused or counted, but leaving takes it out once and for
    // all.
    ASSERT_EQ(rdma_leave_multicast(id, group), 0);
    EXPECT_EQ(rdma_leave_multicast(id, group), -1);
    EXPECT_EQ(errno, EADDRNOTAVAIL);
    EXPECT_NE(ibv_detach_mcast(id->qp, &ud.ah_attr.grh.dgid, 0), 0) << "it was detached";
  }
  end(id);
}

TEST_F(Groups, OfSendersDoNotGetTheirQueuePair) {
  rdma_cm_id* id = member();
  sockaddr_in group = address("239.1.2.3");
  rdma_cm_join_mc_attr_ex attr{};
  attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS | RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
  attr.addr = reinterpret_cast<sockaddr*>(&group);
  attr.join_flags = RDMA_MC_JOIN_FLAG_SENDONLY_FULLMEMBER;
  ASSERT_EQ(rdma_join_multicast_ex(id, &attr, nullptr), 0);
  const rdma_ud_param ud = joined(nullptr);
  EXPECT_NE(ibv_detach_mcast(id->qp, &ud.ah_attr.grh.dgid, 0), 0) << "it was never attached";
  end(id);
}

// Joins succeed at once; what cannot be attached shows in the event.
TEST_F(Groups, ThatAreNoneAreAnErrorInTheEvent) {
  rdma_cm_id* id = member();
  sockaddr_in one = address("10.1.2.3");
  ASSERT_EQ(rdma_join_multicast(id, reinterpret_cast<sockaddr*>(&one), nullptr), 0);
  const auto told = next();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->type, RDMA_CM_EVENT_MULTICAST_ERROR);
  EXPECT_EQ(told->status, -EINVAL);
  end(id);
}

TEST_F(Groups, AreLeftWithTheirId) {
  rdma_cm_id* id = member();
  sockaddr_in group = address("239.1.2.3");
  ASSERT_EQ(rdma_join_multicast(id, reinterpret_cast<sockaddr*>(&group), nullptr), 0);
  (void)joined(nullptr);
  ASSERT_EQ(rdma_join_multicast(id, reinterpret_cast<sockaddr*>(&group), nullptr), 0);
  end(id);  // with one that the program has not taken
  EXPECT_FALSE(next());
}

}  // namespace
}  // namespace gdr::test
