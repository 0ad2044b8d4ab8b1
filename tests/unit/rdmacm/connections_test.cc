// One side of a connection, and of a lookup of a datagram service: limits of private data, answers
// of every kind, and what is no longer allowed afterwards.
#include "wire_fixture.h"

namespace gdr::test {
namespace {

class Connections : public WireTest {
 protected:
  // An id that has asked, and what it is to be answered with.
  cm::Message asked(rdma_cm_id* id, const rdma_conn_param& param) {
    rdma_conn_param copy = param;
    EXPECT_EQ(rdma_connect(id, &copy), 0) << std::strerror(errno);
    const bool datagram = id->qp_type == IBV_QPT_UD;
    const auto requests = sent(datagram ? cm::Kind::kSidrReq : cm::Kind::kReq);
    EXPECT_EQ(requests.size(), 1u);
    if (requests.empty()) return {};
    return {.kind = datagram ? cm::Kind::kSidrRep : cm::Kind::kRep,
            .local_id = kPeersId,
            .remote_id = requests[0].message.local_id,
            .offer = {.qp_number = 9, .qkey = 0x1234}};
  }
  static rdma_conn_param with_data(std::uint8_t bytes) {
    static const std::uint8_t data[255] = {1, 2, 3};
    rdma_conn_param param{};
    param.qp_num = 5;
    param.private_data = data;
    param.private_data_len = bytes;
    return param;
  }
};

// 92 bytes of a REQ and 216 of a SIDR_REQ, of which the header of annex A11 takes 36; 196 of a REP,
// 148 of a REJ, 136 of a SIDR_REP.
TEST_F(Connections, TakeAsMuchPrivateDataAsTheirMessagesHaveRoomFor) {
  struct Limit {
    rdma_port_space space;
    std::uint8_t connect, accept, reject;
  };
  for (const Limit limit : {Limit{RDMA_PS_TCP, 56, 196, 148}, Limit{RDMA_PS_UDP, 180, 136, 136}}) {
    rdma_cm_id* active = routed(limit.space);
    rdma_conn_param param = with_data(static_cast<std::uint8_t>(limit.connect + 1));
    EXPECT_EQ(rdma_connect(active, &param), -1);
    EXPECT_EQ(errno, EINVAL);
    param = with_data(limit.connect);
    EXPECT_EQ(rdma_connect(active, &param), 0) << "it may be tried again with less";
    const bool datagram = limit.space == RDMA_PS_UDP;
    const cm::Kind kind = datagram ? cm::Kind::kSidrReq : cm::Kind::kReq;
    const auto request = sent(kind);
    ASSERT_EQ(request.size(), 1u);
    EXPECT_EQ(request[0].message.private_data[cm::kIpHeaderBytes + 2], 3);

    rdma_cm_id* listener = listen(0, limit.space);
    const std::uint32_t peer = datagram ? 11 : 1;  // whose id means one request
    rdma_cm_id* id = requested(listener, peer, kind);
    param = with_data(static_cast<std::uint8_t>(limit.accept + 1));
    EXPECT_EQ(rdma_accept(id, &param), -1);
    EXPECT_EQ(errno, EINVAL);
    param = with_data(limit.accept);
    EXPECT_EQ(rdma_accept(id, &param), 0);
    const auto reply = sent(datagram ? cm::Kind::kSidrRep : cm::Kind::kRep);
    ASSERT_EQ(reply.size(), 1u);
    EXPECT_EQ(reply[0].message.private_data[2], 3);

    id = requested(listener, peer + 1, kind);
    const std::uint8_t data[255] = {1, 2, 3};
    EXPECT_EQ(rdma_reject(id, data, static_cast<std::uint8_t>(limit.reject + 1)), -1);
    EXPECT_EQ(errno, EINVAL);
    EXPECT_EQ(rdma_reject(id, data, limit.reject), 0);
    const auto refusal = sent(datagram ? cm::Kind::kSidrRep : cm::Kind::kRej);
    ASSERT_EQ(refusal.size(), 1u);
    EXPECT_EQ(refusal[0].message.private_data[2], 3);
    const cm::Message& said = refusal[0].message;
    EXPECT_EQ(datagram ? int{said.status} : int{said.reason},
              datagram ? int{cm::kSidrRejected} : int{cm::kRejectConsumerDefined});
  }
}

TEST_F(Connections, TellOfAllThatAMessageHadRoomFor) {
  rdma_cm_id* id = routed();
  gsi_.deliver(asked(id, with_data(0)), own_address());
  auto told = next();
  ASSERT_TRUE(told && told->type == RDMA_CM_EVENT_CONNECT_RESPONSE);
  EXPECT_EQ(told->private_bytes, 196u);
  rdma_cm_id* rejected = routed();
  cm::Message rej = asked(rejected, with_data(0));
  rej.kind = cm::Kind::kRej;
  rej.reason = cm::kRejectConsumerDefined;
  gsi_.deliver(rej, own_address());
  told = next();
  ASSERT_TRUE(told && told->type == RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(told->private_bytes, 148u);
  EXPECT_EQ(told->status, cm::kRejectConsumerDefined);
  rdma_cm_id* datagram = routed(RDMA_PS_UDP);
  gsi_.deliver(asked(datagram, with_data(0)), own_address());
  told = next();
  ASSERT_TRUE(told && told->type == RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(told->private_bytes, 136u);
  rdma_cm_id* refused = routed(RDMA_PS_UDP);
  cm::Message refusal = asked(refused, with_data(0));
  refusal.status = cm::kSidrRejected;
  gsi_.deliver(refusal, own_address());
  told = next();
  ASSERT_TRUE(told && told->type == RDMA_CM_EVENT_UNREACHABLE);
  EXPECT_EQ(told->status, cm::kSidrRejected);
  EXPECT_EQ(told->private_bytes, 136u);
}

TEST_F(Connections, WithoutTheirOwnQueuePairsAreEstablishedByTheProgram) {
  rdma_cm_id* id = routed();
  EXPECT_EQ(rdma_establish(id), -1);
  EXPECT_EQ(errno, EINVAL);
  const cm::Message reply = asked(id, with_data(0));
  EXPECT_EQ(rdma_establish(id), -1);
  gsi_.deliver(reply, own_address());
  EXPECT_EQ(next_type(), RDMA_CM_EVENT_CONNECT_RESPONSE);
  ibv_qp_attr attr{};
  int mask = 0;
  attr.qp_state = IBV_QPS_RTR;
  ASSERT_EQ(rdma_init_qp_attr(id, &attr, &mask), 0);
  EXPECT_EQ(attr.dest_qp_num, 9u);
  EXPECT_NE(mask & IBV_QP_AV, 0);
  attr.qp_state = IBV_QPS_RTS;
  ASSERT_EQ(rdma_init_qp_attr(id, &attr, &mask), 0);
  EXPECT_NE(mask & IBV_QP_TIMEOUT, 0);
  for (const ibv_qp_state state : {IBV_QPS_RESET, IBV_QPS_SQD, IBV_QPS_ERR, IBV_QPS_UNKNOWN}) {
    attr.qp_state = state;
    EXPECT_EQ(rdma_init_qp_attr(id, &attr, &mask), -1);
    EXPECT_EQ(errno, EINVAL);
  }
  EXPECT_EQ(rdma_establish(id), 0);
  EXPECT_EQ(sent(cm::Kind::kRtu).size(), 1u);
  EXPECT_EQ(rdma_establish(id), -1) << "once";
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(Connections, MayRejectTheReplyToTheirRequest) {
  rdma_cm_id* id = routed();
  gsi_.deliver(asked(id, with_data(0)), own_address());
  EXPECT_EQ(next_type(), RDMA_CM_EVENT_CONNECT_RESPONSE);
  EXPECT_EQ(rdma_reject_ece(id, nullptr, 0), 0);
  const auto rej = sent(cm::Kind::kRej);
  ASSERT_EQ(rej.size(), 1u);
  EXPECT_EQ(rej[0].message.reason, cm::kRejectVendorOption);
  EXPECT_EQ(rej[0].message.subject, cm::Subject::kRep);
  EXPECT_EQ(rdma_reject(id, nullptr, 0), -1) << "once";
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(rdma_establish(id), -1);
}

TEST_F(Connections, AreDecidedOnce) {
  rdma_cm_id* listener = listen();
  rdma_conn_param param = with_data(0);
  rdma_cm_id* accepted = requested(listener, 1);
  EXPECT_EQ(rdma_accept(accepted, nullptr), -1) << "no queue pair, and none is named";
  EXPECT_EQ(errno, EINVAL);
  ASSERT_EQ(rdma_accept(accepted, &param), 0);
  EXPECT_EQ(rdma_accept(accepted, &param), -1);
  EXPECT_EQ(errno, EINVAL);
  rdma_cm_id* rejected = requested(listener, 2);
  ASSERT_EQ(rdma_reject(rejected, nullptr, 0), 0);
  EXPECT_EQ(rdma_reject(rejected, nullptr, 0), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(rdma_accept(rejected, &param), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_FALSE(next()) << "nothing is told of what the program itself has rejected";
  // What each side may ask for at most is the device's limit.
  rdma_cm_id* deep = requested(listener, 3);
  param.responder_resources = 250;
  ibv_device_attr attributes{};
  ASSERT_EQ(ibv_query_device(deep->verbs, &attributes), 0);
  if (attributes.max_qp_rd_atom < 250) {
    EXPECT_EQ(rdma_accept(deep, &param), -1);
    EXPECT_EQ(errno, EINVAL);
  }
  param.responder_resources = RDMA_MAX_RESP_RES;
  EXPECT_EQ(rdma_accept(deep, &param), 0);
}

TEST_F(Connections, EndOnceAndTellWhenTheirTimeWaitIsOver) {
  rdma_cm_id* listener = listen();
  rdma_conn_param param = with_data(0);
  rdma_cm_id* id = requested(listener);
  EXPECT_EQ(rdma_notify(id, IBV_EVENT_COMM_EST), -1) << "not before it is accepted";
  EXPECT_EQ(errno, EINVAL);
  ASSERT_EQ(rdma_accept(id, &param), 0);
  const auto rep = sent(cm::Kind::kRep);
  ASSERT_EQ(rep.size(), 1u);
  EXPECT_EQ(rdma_notify(id, IBV_EVENT_PATH_MIG), -1);
  EXPECT_EQ(errno, EINVAL);
  EXPECT_EQ(rdma_notify(id, IBV_EVENT_COMM_EST), 0);
  EXPECT_EQ(next_type(), RDMA_CM_EVENT_ESTABLISHED);
  EXPECT_EQ(rdma_notify(id, IBV_EVENT_COMM_EST), -1);
  EXPECT_EQ(errno, EISCONN);
  EXPECT_EQ(rdma_disconnect(id), 0);
  const auto dreq = sent(cm::Kind::kDreq);
  ASSERT_EQ(dreq.size(), 1u);
  EXPECT_EQ(rdma_disconnect(id), 0) << "as of the kernel";
  EXPECT_TRUE(gsi_.take_sent().empty());
  const cm::Message drep{
      .kind = cm::Kind::kDrep, .local_id = kPeersId + 1, .remote_id = rep[0].message.local_id};
  gsi_.deliver(drep, peer_address(1));
  gsi_.deliver(drep, peer_address(1));
  const auto told = next();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->type, RDMA_CM_EVENT_DISCONNECTED);
  EXPECT_EQ(told->private_bytes, 0u);
  EXPECT_FALSE(next());
  EXPECT_EQ(rdma_disconnect(id), 0);
  EXPECT_EQ(rdma_accept(id, &param), -1);
  EXPECT_EQ(errno, EINVAL);
}

// The kernel refuses at once what it cannot send; nobody is waited for.
TEST_F(Connections, ToAnAddressWithoutAnyProcessAreRejectedAtOnce) {
  rdma_cm_id* id = routed();
  gsi_.set_send_error(ECONNREFUSED);
  rdma_conn_param param = with_data(0);
  EXPECT_EQ(rdma_connect(id, &param), 0);
  const auto told = next();
  ASSERT_TRUE(told);
  EXPECT_EQ(told->type, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(told->status, cm::kRejectInvalidServiceId);
  EXPECT_EQ(rdma_connect(id, &param), -1) << "its id is used up";
  EXPECT_EQ(errno, EINVAL);
}

TEST_F(Connections, OfOnlySynchronousIdsAreWaitedFor) {
  rdma_cm_id* id = nullptr;
  ASSERT_EQ(rdma_create_id(nullptr, &id, nullptr, RDMA_PS_TCP), 0);
  sockaddr_in to = address("127.10.0.1", 7000);
  ASSERT_EQ(rdma_resolve_addr(id, nullptr, reinterpret_cast<sockaddr*>(&to), 0), 0);
  ASSERT_EQ(rdma_resolve_route(id, -1), 0);
  gsi_.set_send_error(ECONNREFUSED);
  rdma_conn_param param = with_data(0);
  EXPECT_EQ(rdma_connect(id, &param), -1);
  EXPECT_EQ(errno, ECONNREFUSED);
  ASSERT_NE(id->event, nullptr);
  EXPECT_EQ(id->event->event, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(rdma_disconnect(id), 0) << "nothing more will come, so nothing is waited for";
  EXPECT_EQ(rdma_destroy_id(id), 0);
}

}  // namespace
}  // namespace gdr::test
