// Multicast groups across processes.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <cstring>

#include "connection.h"

namespace gdr::test {
namespace {

constexpr std::size_t kGrh = 40;
constexpr std::uint64_t kDatagrams = 200;

// Groups reach every process of the host: those of one run are not those of another beside it. Its
// children have its number.
const pid_t this_run = getpid();

ibv_gid group_number(std::uint8_t number) {
  ibv_gid gid{};
  inet_pton(AF_INET6, "ff0e::4700", gid.raw);
  std::memcpy(gid.raw + 8, &this_run, sizeof this_run);
  gid.raw[15] = number;
  return gid;
}

void post_to_group(Side& side, ibv_qp* qp, ibv_ah* group, Memory& memory, std::size_t length,
                   std::uint32_t immediate, std::uint32_t key = kQueueKey) {
  ibv_send_wr request{};
  request.opcode = IBV_WR_SEND_WITH_IMM;
  request.send_flags = IBV_SEND_SIGNALED;
  request.imm_data = immediate;
  request.wr.ud.ah = group;
  request.wr.ud.remote_qpn = 0xffffff;
  request.wr.ud.remote_qkey = key;
  side.post(qp, request, {memory.segment(0, length)});
}

// A process with two members of group 1 and one queue pair that is in group 2 only.
void be_member(Wire& wire) {
  Side side;
  Memory& memory = side.memory(3 * 256 * 256);
  ibv_qp* members[3];
  const ibv_gid one = group_number(1), two = group_number(2);
  for (ibv_qp*& qp : members) {
    qp = side.queue_pair(IBV_QPT_UD);
    side.connect(qp);
  }
  for (int i = 0; i < 2; ++i) require(ibv_attach_mcast(members[i], &one, 0) == 0, "attached");
  require(ibv_attach_mcast(members[2], &two, 0) == 0, "attached to the other");
  const auto place = [](std::uint64_t member, std::uint64_t i) {
    return (member * 256 + i % 256) * 256;
  };
  for (std::uint64_t member = 0; member < 3; ++member) {
    for (std::uint64_t i = 0; i < kDatagrams; ++i) {
      side.receive(members[member], {memory.segment(place(member, i), 256)}, member << 32 | i);
    }
  }
  wire.meet();
  std::uint32_t next[2] = {};
  for (std::uint64_t i = 0; i < 2 * kDatagrams; ++i) {
    const ibv_wc completion = side.expect(IBV_WC_SUCCESS);
    const std::uint64_t member = completion.wr_id >> 32;
    require(member < 2, "only members of the group receive");
    require(completion.imm_data == next[member]++, "each datagram once and in order");
    require(completion.byte_len == kGrh + 100 && (completion.wc_flags & IBV_WC_GRH) != 0, "length");
    const std::size_t at = place(member, completion.wr_id & 0xffffffff);
    require(memory.first_not_pattern(completion.imm_data, at + kGrh, 100) == -1, "every byte");
    require(std::memcmp(memory.bytes() + at + 24, one.raw, 16) == 0, "the group in the header");
  }
  side.expect_quiet();
  for (int i = 0; i < 2; ++i) require(ibv_detach_mcast(members[i], &one, 0) == 0, "detached");
  wire.meet();
  wire.meet();
  side.expect_quiet();
}

void check_every_member() {
  Child first(be_member), second(be_member);
  Side side;
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_UD);
  side.connect(qp);
  const ibv_gid one = group_number(1);
  ibv_ah* group = side.address_handle({0, one});
  Child* const children[] = {&first, &second};
  for (Child* child : children) child->wire().meet();
  for (std::uint32_t i = 0; i < kDatagrams; ++i) {
    memory.fill_pattern(i, 0, 100);
    post_to_group(side, qp, group, memory, 100, i);
    EXPECT_EQ(side.expect(IBV_WC_SUCCESS).opcode, IBV_WC_SEND);  // the sender is no member
  }
  post_to_group(side, qp, group, memory, 100, 0, kQueueKey + 1);  // for nobody
  side.expect(IBV_WC_SUCCESS);
  for (Child* child : children) child->wire().meet();
  post_to_group(side, qp, group, memory, 100, 0);  // nobody is left
  side.expect(IBV_WC_SUCCESS);
  for (Child* child : children) child->wire().meet();
  for (Child* child : children) child->finish();
}

TEST(Multicast, ReachesEveryMemberInEveryProcessOnce) { check_every_member(); }
TEST(Multicast, ReachesMembersOfOpaqueProcesses) { run_opaque(check_every_member); }

TEST(Multicast, GoesOnWithoutAMemberThatWasKilled) {
  const auto join = [](Wire& wire) {
    Side side;
    Memory& memory = side.memory(1 << 16);
    ibv_qp* qp = side.queue_pair(IBV_QPT_UD);
    side.connect(qp);
    const ibv_gid one = group_number(1);
    require(ibv_attach_mcast(qp, &one, 0) == 0, "attached");
    for (int i = 0; i < 10; ++i) side.receive(qp, {memory.segment(0, 256)});
    wire.meet();
    for (int i = 0; i < 10; ++i) side.expect(IBV_WC_SUCCESS);
    wire.meet();
  };
  Child doomed(join), survivor(join);
  Side side;
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_UD);
  side.connect(qp);
  ibv_ah* group = side.address_handle({0, group_number(1)});
  doomed.wire().meet();
  survivor.wire().meet();
  for (std::uint32_t i = 0; i < 10; ++i) {
    if (i == 5) doomed.kill();
    post_to_group(side, qp, group, memory, 100, i);
    side.expect(IBV_WC_SUCCESS);
  }
  survivor.wire().meet();
  survivor.finish();
}

TEST(Multicast, ReachesAMemberThatWasTooLateToAnswerTheFirstCall) {
  Child child([](Wire& wire) {
    Side side;
    Memory& memory = side.memory(4096);
    ibv_qp* qp = side.queue_pair(IBV_QPT_UD);
    side.connect(qp);
    const ibv_gid one = group_number(1);
    require(ibv_attach_mcast(qp, &one, 0) == 0, "attached");
    side.receive(qp, {memory.segment(0, 256)});
    wire.meet();
    side.expect(IBV_WC_SUCCESS);
    wire.send(1);
  });
  child.wire().meet();
  kill(child.pid(), SIGSTOP);
  Side side;  // calls every process, and nobody answers
  kill(child.pid(), SIGCONT);
  Memory& memory = side.memory(4096);
  ibv_qp* qp = side.queue_pair(IBV_QPT_UD);
  side.connect(qp);
  ibv_ah* group = side.address_handle({0, group_number(1)});
  for (std::uint32_t i = 0; i < 100; ++i) {
    post_to_group(side, qp, group, memory, 100, i);
    side.expect(IBV_WC_SUCCESS);
    usleep(5000);
  }
  EXPECT_EQ(child.wire().receive<int>(), 1);
  child.finish();
}

}  // namespace
}  // namespace gdr::test
