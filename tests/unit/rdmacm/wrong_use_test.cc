// Every function of librdmacm with what it must not be given: null, ids that have been destroyed,
// ids in a state that does not allow it, values out of range. Each says so by its errno; where the
// manual pages name none, it is what rdma-core 44 and Linux 6.1 answer.
#include <net/if.h>
#include <netinet/in.h>
#include <rdma/rdma_verbs.h>

#include <functional>

#include "wire_fixture.h"

// Later than release 44.
extern "C" {
int rdma_resolve_addrinfo(rdma_cm_id*, const char*, const char*, const rdma_addrinfo*);
int rdma_query_addrinfo(rdma_cm_id*, rdma_addrinfo**);
int rdma_write_cm_event(rdma_cm_id*, rdma_cm_event_type, int, std::uint64_t);
}

namespace gdr::test {
namespace {

// -1 with that errno.
#define EXPECT_ERROR(error, call)                  \
  do {                                             \
    errno = 0;                                     \
    EXPECT_EQ(call, -1) << #call;                  \
    EXPECT_EQ(errno, error) << #call << ": errno"; \
  } while (false)

class WrongUse : public WireTest {
 protected:
  struct Call {
    const char* name;
    std::function<int(rdma_cm_id*)> call;
  };
  // Everything that is done with an id and returns an error.
  std::vector<Call> calls() {
    return {
        {"rdma_accept", [this](rdma_cm_id* id) { return rdma_accept(id, &param_); }},
        {"rdma_bind_addr", [this](rdma_cm_id* id) { return rdma_bind_addr(id, own()); }},
        {"rdma_connect", [this](rdma_cm_id* id) { return rdma_connect(id, &param_); }},
        {"rdma_destroy_id", [](rdma_cm_id* id) { return rdma_destroy_id(id); }},
        {"rdma_disconnect", [](rdma_cm_id* id) { return rdma_disconnect(id); }},
        {"rdma_establish", [](rdma_cm_id* id) { return rdma_establish(id); }},
        {"rdma_get_remote_ece",
         [](rdma_cm_id* id) {
           ibv_ece ece{};
           return rdma_get_remote_ece(id, &ece);
         }},
        {"rdma_get_request",
         [](rdma_cm_id* id) {
           rdma_cm_id* made = nullptr;
           return rdma_get_request(id, &made);
         }},
        {"rdma_init_qp_attr",
         [](rdma_cm_id* id) {
           ibv_qp_attr attr{};
           int mask = 0;
           attr.qp_state = IBV_QPS_INIT;
           return rdma_init_qp_attr(id, &attr, &mask);
         }},
        {"rdma_join_multicast",
         [this](rdma_cm_id* id) { return rdma_join_multicast(id, own(), nullptr); }},
        {"rdma_leave_multicast",
         [this](rdma_cm_id* id) { return rdma_leave_multicast(id, own()); }},
        {"rdma_listen", [](rdma_cm_id* id) { return rdma_listen(id, 1); }},
        {"rdma_migrate_id", [this](rdma_cm_id* id) { return rdma_migrate_id(id, channel_); }},
        {"rdma_notify", [](rdma_cm_id* id) { return rdma_notify(id, IBV_EVENT_COMM_EST); }},
        {"rdma_query_addrinfo",
         [](rdma_cm_id* id) {
           rdma_addrinfo* info = nullptr;
           return rdma_query_addrinfo(id, &info);
         }},
        {"rdma_reject", [](rdma_cm_id* id) { return rdma_reject(id, nullptr, 0); }},
        {"rdma_reject_ece", [](rdma_cm_id* id) { return rdma_reject_ece(id, nullptr, 0); }},
        {"rdma_resolve_addr",
         [this](rdma_cm_id* id) { return rdma_resolve_addr(id, nullptr, own(), 1000); }},
        {"rdma_resolve_addrinfo",
         [](rdma_cm_id* id) { return rdma_resolve_addrinfo(id, "127.10.0.1", "1", nullptr); }},
        {"rdma_resolve_route", [](rdma_cm_id* id) { return rdma_resolve_route(id, 1000); }},
        {"rdma_set_local_ece",
         [](rdma_cm_id* id) {
           ibv_ece ece{1, 0, 0};
           return rdma_set_local_ece(id, &ece);
         }},
        {"rdma_set_option",
         [](rdma_cm_id* id) {
           std::uint8_t tos = 0;
           return rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &tos, 1);
         }},
        {"rdma_write_cm_event",
         [](rdma_cm_id* id) {
           return rdma_write_cm_event(id, static_cast<rdma_cm_event_type>(18), 0, 0);
         }},
    };
  }
  sockaddr* own() { return reinterpret_cast<sockaddr*>(&own_); }

  sockaddr_in own_ = address("127.10.0.1");
  rdma_conn_param param_{};
};

TEST_F(WrongUse, OfNoIdAtAllIsInvalid) {
  for (const Call& one : calls()) {
    errno = 0;
    EXPECT_EQ(one.call(nullptr), -1) << one.name;
    EXPECT_EQ(errno, EINVAL) << one.name;
  }
  ibv_qp_init_attr qp{};
  ibv_qp_init_attr_ex qp_ex{};
  ibv_srq_init_attr srq{};
  ibv_srq_init_attr_ex srq_ex{};
  EXPECT_ERROR(EINVAL, rdma_create_qp(nullptr, nullptr, &qp));
  EXPECT_ERROR(EINVAL, rdma_create_qp_ex(nullptr, &qp_ex));
  EXPECT_ERROR(EINVAL, rdma_create_srq(nullptr, nullptr, &srq));
  EXPECT_ERROR(EINVAL, rdma_create_srq_ex(nullptr, &srq_ex));
  EXPECT_EQ(rdma_get_src_port(nullptr), 0);
  EXPECT_EQ(rdma_get_dst_port(nullptr), 0);
  rdma_destroy_qp(nullptr);
  rdma_destroy_srq(nullptr);
  rdma_destroy_ep(nullptr);
  rdma_destroy_event_channel(nullptr);
  rdma_free_devices(nullptr);
  rdma_freeaddrinfo(nullptr);
}

// What is no longer an id is not looked into.
TEST_F(WrongUse, OfADestroyedIdIsInvalid) {
  rdma_cm_id* id = make_id();
  destroy(id);
  for (const Call& one : calls()) {
    errno = 0;
    EXPECT_EQ(one.call(id), -1) << one.name;
    EXPECT_EQ(errno, EINVAL) << one.name;
  }
  ibv_qp_init_attr qp{};
  ibv_srq_init_attr srq{};
  EXPECT_ERROR(EINVAL, rdma_create_qp(id, nullptr, &qp));
  EXPECT_ERROR(EINVAL, rdma_create_srq(id, nullptr, &srq));
  rdma_destroy_qp(id);
  rdma_destroy_srq(id);
  rdma_destroy_ep(id);
}

TEST_F(WrongUse, OfANewIdIsInvalidBeyondWhatBeginsIt) {
  const char* const begin[] = {"rdma_bind_addr",     "rdma_destroy_id",     "rdma_listen",
                               "rdma_migrate_id",    "rdma_resolve_addr",   "rdma_resolve_addrinfo",
                               "rdma_set_local_ece", "rdma_get_remote_ece", "rdma_set_option",
                               "rdma_write_cm_event"};
  for (const Call& one : calls()) {
    if (std::find_if(std::begin(begin), std::end(begin), [&](const char* name) {
          return std::strcmp(name, one.name) == 0;
        }) != std::end(begin)) {
      continue;
    }
    rdma_cm_id* id = make_id();
    errno = 0;
    EXPECT_EQ(one.call(id), -1) << one.name;
    const bool other = std::strcmp(one.name, "rdma_leave_multicast") == 0;
    const bool none = std::strcmp(one.name, "rdma_query_addrinfo") == 0;
    EXPECT_EQ(errno, other ? EADDRNOTAVAIL : none ? ENOENT : EINVAL) << one.name;
  }
}

TEST_F(WrongUse, OfArgumentsIsInvalid) {
  rdma_cm_id* id = nullptr;
  EXPECT_ERROR(EINVAL, rdma_create_id(channel_, nullptr, nullptr, RDMA_PS_TCP));
  for (const int space : {0, 1, 0x0105, 0x0107, 0xffff}) {
    EXPECT_ERROR(EINVAL,
                 rdma_create_id(channel_, &id, nullptr, static_cast<rdma_port_space>(space)));
  }
  id = make_id();
  rdma_cm_event* event = nullptr;
  EXPECT_ERROR(EINVAL, rdma_get_cm_event(nullptr, &event));
  EXPECT_ERROR(EINVAL, rdma_get_cm_event(channel_, nullptr));
  EXPECT_ERROR(EINVAL, rdma_bind_addr(id, nullptr));
  EXPECT_ERROR(EINVAL, rdma_resolve_addr(id, nullptr, nullptr, 1000));
  EXPECT_ERROR(EINVAL, rdma_set_option(id, RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, nullptr, 1));
  EXPECT_ERROR(EINVAL, rdma_set_local_ece(id, nullptr));
  ibv_ece ece{};
  EXPECT_ERROR(EINVAL, rdma_set_local_ece(id, &ece));  // of no vendor
  EXPECT_ERROR(EINVAL, rdma_get_remote_ece(id, nullptr));
  EXPECT_ERROR(EINVAL, rdma_create_qp(id, nullptr, nullptr));
  EXPECT_ERROR(EINVAL, rdma_create_qp_ex(id, nullptr));
  EXPECT_ERROR(EINVAL, rdma_create_srq(id, nullptr, nullptr));
  EXPECT_ERROR(EINVAL, rdma_create_srq_ex(id, nullptr));
  ibv_qp_init_attr qp{};
  EXPECT_ERROR(EINVAL, rdma_create_qp(id, nullptr, &qp));  // of no device
  ibv_qp_attr attr{};
  int mask = 0;
  EXPECT_ERROR(EINVAL, rdma_init_qp_attr(id, nullptr, &mask));
  EXPECT_ERROR(EINVAL, rdma_init_qp_attr(id, &attr, nullptr));
  EXPECT_ERROR(EINVAL, rdma_write_cm_event(id, RDMA_CM_EVENT_ESTABLISHED, 0, 0));
  EXPECT_ERROR(EINVAL, rdma_query_addrinfo(id, nullptr));
  rdma_addrinfo* info = nullptr;
  EXPECT_ERROR(EINVAL, rdma_getaddrinfo(nullptr, nullptr, nullptr, &info));
  EXPECT_ERROR(EINVAL, rdma_getaddrinfo("127.10.0.1", nullptr, nullptr, nullptr));
  rdma_addrinfo lies{};
  lies.ai_dst_len = sizeof(sockaddr_in);
  EXPECT_ERROR(EINVAL, rdma_getaddrinfo(nullptr, nullptr, &lies, &info));
  lies = {};
  lies.ai_src_len = sizeof(sockaddr_in);
  EXPECT_ERROR(EINVAL, rdma_getaddrinfo(nullptr, nullptr, &lies, &info));
  EXPECT_ERROR(EINVAL, rdma_create_ep(&id, nullptr, nullptr, nullptr));
  rdma_addrinfo empty{};
  EXPECT_ERROR(EINVAL, rdma_create_ep(nullptr, &empty, nullptr, nullptr));
  rdma_cm_id* made = nullptr;
  EXPECT_ERROR(EINVAL, rdma_create_ep(&made, &empty, nullptr, nullptr));  // of no port space
  empty.ai_port_space = RDMA_PS_TCP;
  EXPECT_ERROR(EINVAL, rdma_create_ep(&made, &empty, nullptr, nullptr));  // to no address
  empty.ai_flags = RAI_PASSIVE;
  EXPECT_ERROR(EINVAL, rdma_create_ep(&made, &empty, nullptr, nullptr));  // at no address
  EXPECT_STREQ(rdma_event_str(static_cast<rdma_cm_event_type>(1000)), "UNKNOWN EVENT");
  EXPECT_STREQ(rdma_event_str(static_cast<rdma_cm_event_type>(-1)), "UNKNOWN EVENT");
}

// AF_IB names ports of an InfiniBand subnet. As rdma-core without a kernel that knows it.
TEST_F(WrongUse, OfOtherAddressFamiliesIsInvalid) {
  for (const sa_family_t family : {AF_UNSPEC, AF_UNIX, AF_IB}) {
    rdma_cm_id* id = make_id();
    sockaddr_storage other{};
    other.ss_family = family;
    auto* address = reinterpret_cast<sockaddr*>(&other);
    EXPECT_ERROR(EINVAL, rdma_bind_addr(id, address));
    EXPECT_ERROR(EINVAL, rdma_resolve_addr(id, nullptr, address, 1000));
    EXPECT_ERROR(EINVAL, rdma_resolve_addr(id, address, own(), 1000));
    rdma_cm_id* member = make_id(RDMA_PS_UDP);
    ASSERT_EQ(rdma_bind_addr(member, own()), 0);
    EXPECT_ERROR(EINVAL, rdma_join_multicast(member, address, nullptr));
    EXPECT_ERROR(EINVAL, rdma_leave_multicast(member, address));
  }
}

TEST_F(WrongUse, OfAnotherFamilyThanTheBoundOneIsInvalid) {
  rdma_cm_id* id = make_id();
  ASSERT_EQ(rdma_bind_addr(id, own()), 0);
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  six.sin6_addr = in6addr_loopback;
  EXPECT_ERROR(EINVAL, rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&six), 1000));
  EXPECT_EQ(rdma_resolve_addr(id, nullptr, own(), 1000), 0) << "it can still be resolved";
}

TEST_F(WrongUse, OfALinkLocalAddressWithoutItsInterfaceIsInvalid) {
  rdma_cm_id* id = make_id();
  sockaddr_in6 six{};
  six.sin6_family = AF_INET6;
  ASSERT_EQ(inet_pton(AF_INET6, "fe80::1234:5678:9abc:def0", &six.sin6_addr), 1);
  EXPECT_ERROR(EINVAL, rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&six)));
  six.sin6_scope_id = if_nametoindex("lo");
  EXPECT_ERROR(EADDRNOTAVAIL, rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&six)));
  six.sin6_scope_id = 0;
  ASSERT_EQ(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&six), 1000), 0);
  EXPECT_EQ(next_type(), RDMA_CM_EVENT_ADDR_ERROR);
}

TEST_F(WrongUse, OfAnAddressOfNoInterfaceIsNotAvailable) {
  rdma_cm_id* id = make_id();
  sockaddr_in nobody = address("192.0.2.77");
  EXPECT_ERROR(EADDRNOTAVAIL, rdma_bind_addr(id, reinterpret_cast<sockaddr*>(&nobody)));
}

TEST_F(WrongUse, OfAStepOutOfItsOrderIsInvalid) {
  rdma_cm_id* id = make_id();
  ASSERT_EQ(rdma_bind_addr(id, own()), 0);
  EXPECT_ERROR(EINVAL, rdma_bind_addr(id, own()));
  EXPECT_ERROR(EINVAL, rdma_resolve_route(id, 1000));
  EXPECT_ERROR(EINVAL, rdma_connect(id, &param_));
  ASSERT_EQ(rdma_resolve_addr(id, nullptr, own(), -1), 0);
  EXPECT_EQ(next_type(), RDMA_CM_EVENT_ADDR_RESOLVED);
  EXPECT_ERROR(EINVAL, rdma_resolve_addr(id, nullptr, own(), 1000));
  EXPECT_ERROR(EINVAL, rdma_listen(id, 1));
  EXPECT_ERROR(EINVAL, rdma_connect(id, &param_));
  EXPECT_ERROR(EINVAL, rdma_resolve_route(id, 0));  // no time at all
  ASSERT_EQ(rdma_resolve_route(id, -1), 0);
  EXPECT_EQ(next_type(), RDMA_CM_EVENT_ROUTE_RESOLVED);
  EXPECT_ERROR(EINVAL, rdma_resolve_route(id, 1000));
  EXPECT_ERROR(EINVAL, rdma_connect(id, nullptr));  // no queue pair, and none is named
  rdma_cm_id* listener = listen();
  EXPECT_ERROR(EINVAL, rdma_listen(listener, 1));
  EXPECT_ERROR(EINVAL, rdma_bind_addr(listener, own()));
  EXPECT_ERROR(EINVAL, rdma_resolve_addr(listener, nullptr, own(), 1000));
  EXPECT_ERROR(EINVAL, rdma_connect(listener, &param_));
  EXPECT_ERROR(EINVAL, rdma_accept(listener, &param_));
  EXPECT_ERROR(EINVAL, rdma_disconnect(listener));
  rdma_cm_id* made = nullptr;
  EXPECT_ERROR(EINVAL, rdma_get_request(listener, &made));  // not a synchronous one
}

TEST_F(WrongUse, OfASynchronousIdIsInvalid) {
  rdma_cm_id* id = nullptr;
  ASSERT_EQ(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP), 0);
  EXPECT_ERROR(EINVAL, rdma_migrate_id(id, nullptr));
  EXPECT_ERROR(EINVAL, rdma_get_request(id, nullptr));
  EXPECT_EQ(rdma_destroy_id(id), 0);
}

TEST_F(WrongUse, OfOptionsIsRefusedAsByTheKernel) {
  rdma_cm_id* id = make_id();
  std::uint8_t byte = 32;
  int number = 1;
  const auto set = [&](rdma_cm_id* of, int name, void* value, std::size_t bytes) {
    return rdma_set_option(of, RDMA_OPTION_ID, name, value, bytes);
  };
  EXPECT_ERROR(EINVAL, set(id, RDMA_OPTION_ID_TOS, &number, sizeof number));
  EXPECT_ERROR(EINVAL, set(id, RDMA_OPTION_ID_ACK_TIMEOUT, &number, sizeof number));
  EXPECT_ERROR(EINVAL, set(id, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, 1));  // five bits
  EXPECT_ERROR(EINVAL, set(id, RDMA_OPTION_ID_REUSEADDR, &byte, 1));
  EXPECT_ERROR(EINVAL, set(id, RDMA_OPTION_ID_AFONLY, &byte, 1));
  EXPECT_ERROR(ENOSYS, set(id, 99, &byte, 1));
  EXPECT_ERROR(ENOSYS, rdma_set_option(id, 99, 0, &byte, 1));
  EXPECT_ERROR(EINVAL, rdma_set_option(id, RDMA_OPTION_IB, RDMA_OPTION_IB_PATH, &byte, 1));
  EXPECT_ERROR(ENOSYS, rdma_set_option(id, RDMA_OPTION_IB, 99, &byte, 1));
  byte = 31;
  EXPECT_EQ(set(id, RDMA_OPTION_ID_ACK_TIMEOUT, &byte, 1), 0);
  EXPECT_ERROR(EINVAL, set(make_id(RDMA_PS_UDP), RDMA_OPTION_ID_ACK_TIMEOUT, &byte, 1));
  EXPECT_EQ(set(id, RDMA_OPTION_ID_TOS, &byte, 1), 0);
  // When they may be set.
  ASSERT_EQ(rdma_bind_addr(id, own()), 0);
  EXPECT_EQ(set(id, RDMA_OPTION_ID_AFONLY, &number, sizeof number), 0);
  EXPECT_EQ(set(id, RDMA_OPTION_ID_REUSEADDR, &number, sizeof number), 0);
  number = 0;
  EXPECT_ERROR(EINVAL, set(id, RDMA_OPTION_ID_REUSEADDR, &number, sizeof number));
  number = 1;
  ASSERT_EQ(rdma_listen(id, 1), 0);
  EXPECT_ERROR(EINVAL, set(id, RDMA_OPTION_ID_REUSEADDR, &number, sizeof number));
  EXPECT_ERROR(EINVAL, set(id, RDMA_OPTION_ID_AFONLY, &number, sizeof number));
}

TEST_F(WrongUse, OfGroupsIsRefusedAsByTheKernel) {
  sockaddr_in group = address("239.1.2.3"), any{};
  any.sin_family = AF_INET;
  auto* to = reinterpret_cast<sockaddr*>(&group);
  rdma_cm_id* id = make_id(RDMA_PS_UDP);
  EXPECT_ERROR(EINVAL, rdma_join_multicast(id, to, nullptr));  // of no device
  ASSERT_EQ(rdma_bind_addr(id, own()), 0);
  EXPECT_ERROR(EINVAL, rdma_join_multicast(id, nullptr, nullptr));
  EXPECT_ERROR(EINVAL, rdma_join_multicast(id, reinterpret_cast<sockaddr*>(&any), nullptr));
  EXPECT_ERROR(EINVAL, rdma_join_multicast_ex(id, nullptr, nullptr));
  rdma_cm_join_mc_attr_ex attr{};
  EXPECT_ERROR(EINVAL, rdma_join_multicast_ex(id, &attr, nullptr));
  attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_ADDRESS;
  attr.addr = to;
  EXPECT_ERROR(EINVAL, rdma_join_multicast_ex(id, &attr, nullptr));  // not said how
  attr.comp_mask |= RDMA_CM_JOIN_MC_ATTR_JOIN_FLAGS;
  attr.join_flags = RDMA_MC_JOIN_FLAG_RESERVED;
  EXPECT_ERROR(EINVAL, rdma_join_multicast_ex(id, &attr, nullptr));
  attr.comp_mask = RDMA_CM_JOIN_MC_ATTR_RESERVED;
  EXPECT_ERROR(ENOTSUP, rdma_join_multicast_ex(id, &attr, nullptr));
  EXPECT_ERROR(EADDRNOTAVAIL, rdma_leave_multicast(id, to));
  EXPECT_ERROR(EINVAL, rdma_leave_multicast(id, nullptr));
  rdma_cm_id* connected = make_id();
  ASSERT_EQ(rdma_bind_addr(connected, own()), 0);
  EXPECT_ERROR(EINVAL, rdma_join_multicast(connected, to, nullptr));  // no datagrams
}

}  // namespace
}  // namespace gdr::test
