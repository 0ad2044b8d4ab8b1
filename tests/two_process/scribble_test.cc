// A process that writes anything anywhere into the segments it shares: its peers get errors, and
// neither crash nor hang.
//
// Only whole words are scribbled, and in the region table only whole addresses: an initiator takes
// a target's addresses from there, and a process of the same user that wants to write elsewhere
// could ask the kernel itself.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <cstring>
#include <random>

#include "base/clock.h"
#include "connection.h"
#include "rnic/shared.h"
#include "segments.h"
#include "tag_side.h"
#include "xrc_side.h"

namespace gdr::test {
namespace {

constexpr int kSeeds = 24;
constexpr int kSeedsOfTheLiving = 8;
constexpr Nanoseconds kEffort = 120 * kMillisecond;

// A process's shared memory, and where its objects lie in it: queue pairs and shared receive queues
// begin at random places.
struct Target {
  std::uint8_t* segment;
  std::vector<std::uint64_t> queue_pairs, srqs;  // offsets

  explicit Target(std::uint8_t* shared) : segment(shared) {
    using namespace rnic;
    for (std::uint32_t i = 0; i < kQueuePairs; ++i) {
      if (queue_pair_of(segment, i).type == 0) continue;
      queue_pairs.push_back(kQueuePairsAt + i * sizeof(SharedQueuePair));
    }
    for (std::uint32_t i = 0; i < kSrqs; ++i) {
      if (srq_of(segment, i).generation.load() != 0)
        srqs.push_back(kSrqsAt + i * sizeof(SharedSrq));
    }
    if (queue_pairs.empty()) queue_pairs.push_back(kQueuePairsAt);
  }
};

void scribble(std::mt19937_64& random, const Target& target,
              const std::vector<std::uint64_t>& living) {
  using namespace rnic;
  const auto any = [&](std::uint64_t at, std::uint64_t bytes) {
    const std::uint64_t place = at + random() % (bytes / 8) * 8;
    // Small numbers are wrong in other ways than large ones.
    std::uint64_t value = random() % 3 == 0 ? random() % 16 : random();
    // A lock that is said to be held by one that lives is the longest to wait for.
    if (!living.empty() && random() % 16 == 0)
      value = living[random() % living.size()] << 32 | value % 16;
    std::memcpy(target.segment + place, &value, 8);
  };
  const auto one_of = [&](const std::vector<std::uint64_t>& places) {
    return places[random() % places.size()];
  };
  switch (random() % 9) {
    case 0:
      return any(0, sizeof(SegmentHeader));
    case 1:
    case 2:
      return any(one_of(target.queue_pairs), sizeof(SharedQueuePair));
    case 3:
      return any(kCompletionQueuesAt, 2 * sizeof(SharedCompletionQueue));
    case 4:
      return any(kRegionsAt, 4 * sizeof(SharedRegion));
    case 5:
      return any(target.srqs.empty() ? kSrqsAt : one_of(target.srqs), sizeof(SharedSrq));
    case 6:
      return any(kExportsAt, 4 * sizeof(SharedExport));
    case 7:
      return any(kServiceRequestsAt, 4 * sizeof(ServiceRequest));
    default:
      return any(kArenaAt, 64 << 10);
  }
}

enum class Kind { kOwnReceives, kSharedReceives, kXrc, kTags };

struct Start {
  Endpoint sends, receives;  // of XRC two, otherwise one and the same
  std::uint32_t srq;         // of XRC
  Remote remote;
};

// What one of the two processes has.
struct Queues {
  ibv_srq* srq = nullptr;
  ibv_qp* sends = nullptr;
  ibv_qp* receives = nullptr;
  bool tags = false;

  Queues(Side& side, Kind kind) {
    if (kind == Kind::kXrc) {
      ibv_xrcd* xrcd = open_xrcd(side, STDERR_FILENO);  // both have it
      require(xrcd != nullptr, "an XRC domain");
      srq = xrc_srq(side, xrcd);
      sends = xrc_queue_pair(side, IBV_QPT_XRC_SEND);
      receives = xrc_queue_pair(side, IBV_QPT_XRC_RECV, xrcd);
      return;
    }
    ibv_srq_init_attr shared{};
    shared.attr = {.max_wr = 64, .max_sge = 1, .srq_limit = 0};
    if (kind == Kind::kSharedReceives) srq = ibv_create_srq(side.domain(), &shared);
    if (kind == Kind::kTags) srq = tag_queue(side);
    tags = kind == Kind::kTags;
    sends = receives = side.queue_pair(IBV_QPT_RC, 64, false, nullptr, srq);
  }
  Start start(Side& side, Memory& memory) const {
    const bool xrc = sends != receives;
    return {side.endpoint(sends), side.endpoint(receives), xrc ? number_of(srq) : 0,
            memory.remote()};
  }
  void connect(Side& side, const Start& other) const {
    constexpr Patience kLittle{.timeout = 8, .retry_count = 1, .rnr_retry = 1};
    if (sends == receives) {
      side.connect(sends, other.receives, kLittle);
    } else {
      connect_xrc(sends, other.receives, kLittle);
      connect_xrc(receives, other.sends, kLittle);
    }
  }
};

// A receive for a tag, and a message that it may match, announced or whole.
void try_tags(const Queues& queues, ibv_sge& segment, Memory& memory, std::mt19937_64& random) {
  ibv_ops_wr operation{};
  operation.opcode = static_cast<ibv_ops_wr_opcode>(random() % 3);
  operation.flags = IBV_OPS_SIGNALED | IBV_OPS_TM_SYNC;
  operation.tm.unexpected_cnt = static_cast<std::uint32_t>(random() % 4);
  operation.tm.handle = static_cast<std::uint32_t>(random() % 8) << 12;
  operation.tm.add.sg_list = &segment;
  operation.tm.add.num_sge = 1;
  operation.tm.add.tag = random() % 4;
  operation.tm.add.mask = 3;
  ibv_ops_wr* bad = nullptr;
  (void)ibv_post_srq_ops(queues.srq, &operation, &bad);
  write_header(memory, static_cast<std::uint8_t>(random() % 4), random() % 4);
  announce(memory, memory.key(), static_cast<std::uint32_t>(random() % 4096));
}

// Does everything a program does, and does not mind what comes of it.
void try_everything(Side& side, const Queues& queues, Memory& memory, const Start& other,
                    std::mt19937_64& random) {
  const Remote& remote = other.remote;
  ibv_sge segment = memory.segment(0, 1 + random() % 70'000);
  ibv_recv_wr receive{};
  receive.sg_list = &segment;
  receive.num_sge = 1;
  ibv_recv_wr* bad_receive = nullptr;
  if (queues.srq != nullptr) {
    (void)ibv_post_srq_recv(queues.srq, &receive, &bad_receive);
    ibv_srq_attr limit{.max_wr = 0, .max_sge = 0, .srq_limit = 2};
    (void)ibv_modify_srq(queues.srq, &limit, IBV_SRQ_LIMIT);
  } else {
    (void)ibv_post_recv(queues.receives, &receive, &bad_receive);
  }
  if (queues.tags) try_tags(queues, segment, memory, random);
  constexpr ibv_wr_opcode kOpcodes[] = {IBV_WR_SEND, IBV_WR_RDMA_WRITE, IBV_WR_RDMA_READ,
                                        IBV_WR_RDMA_WRITE_WITH_IMM, IBV_WR_ATOMIC_FETCH_AND_ADD};
  ibv_send_wr send{};
  send.opcode = kOpcodes[random() % 5];
  send.send_flags = IBV_SEND_SIGNALED;
  if (send.opcode == IBV_WR_ATOMIC_FETCH_AND_ADD) {
    segment.length = 8;
    send.wr.atomic = {remote.address, 1, 0, remote.key};
  } else {
    send.wr.rdma = {remote.address, remote.key};
  }
  send.sg_list = &segment;
  send.num_sge = 1;
  ibv_send_wr* bad_send = nullptr;
  send.qp_type.xrc.remote_srqn = other.srq;
  (void)ibv_post_send(queues.sends, &send, &bad_send);
  ibv_wc completions[8];
  (void)ibv_poll_cq(side.queue(), 8, completions);
  (void)ibv_req_notify_cq(side.queue(), 0);
}

bool has_failed(ibv_qp* qp) {
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  (void)ibv_query_qp(qp, &attr, IBV_QP_STATE, &init);
  return attr.qp_state == IBV_QPS_ERR;
}

void bring_to_init(ibv_qp* qp) {
  (void)Side::move_to(qp, IBV_QPS_RESET);
  (void)step(qp, attributes_towards(0, {}), IBV_QPS_INIT);
}

// Starts anew with queue pairs that failed.
void try_again(Side& side, const Queues& queues, const Start& other) {
  if (!has_failed(queues.sends) && !has_failed(queues.receives)) return;
  bring_to_init(queues.sends);
  if (queues.receives != queues.sends) bring_to_init(queues.receives);
  try {
    queues.connect(side, other);
  } catch (const Failure&) {
    // Its failure was scribbled anew in between.
  }
}

enum class Scribbler { kNot, kDies, kLivesOn };

void take_part(Wire& wire, std::uint64_t seed, Kind kind, Scribbler scribbler) {
  const bool scribbles = scribbler != Scribbler::kNot;
  std::mt19937_64 random(seed);
  Side side(0, 256);
  Memory& memory = side.memory(1 << 17);
  const Queues queues(side, kind);
  wire.send(queues.start(side, memory));
  const auto other = wire.receive<Start>();
  queues.connect(side, other);
  // Under load the other answers the first call late, and is met by a request then.
  const Nanoseconds latest = now() + kLastResort;
  while (segments().size() < 2 && now() < latest) {
    try_everything(side, queues, memory, other, random);
    try_again(side, queues, other);
    usleep(1000);
  }
  wire.meet();
  std::vector<Target> shared;
  std::vector<std::uint64_t> living;
  for (std::uint8_t* segment : segments()) {
    if (scribbler == Scribbler::kLivesOn) living.push_back(header_of(segment).token);
    shared.emplace_back(segment);
  }
  require(shared.size() >= 2, "both segments are mapped");
  const Nanoseconds end = now() + kEffort;
  for (std::uint64_t turn = 0; now() < end; ++turn) {
    try_everything(side, queues, memory, other, random);
    if (turn % 16 == 15) try_again(side, queues, other);
    for (int i = 0; scribbles && i < 8; ++i) {
      scribble(random, shared[random() % shared.size()], living);
    }
  }
  if (scribbler == Scribbler::kLivesOn) {
    while (true) pause();  // the test ends it
  }
  (void)ibv_destroy_qp(queues.sends);
  if (queues.receives != queues.sends) (void)ibv_destroy_qp(queues.receives);
  // Its end is the test's: the other must come to an end without it.
}

void check_scribbles(bool opaque_too, Scribbler how = Scribbler::kDies) {
  const std::uint64_t seeds = how == Scribbler::kDies ? kSeeds : kSeedsOfTheLiving;
  for (std::uint64_t seed = 1; seed <= seeds && !::testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed) + (opaque_too ? ", opaque" : ""));
    const auto kind = static_cast<Kind>(seed % 4);
    Child victim([=](Wire& wire) { take_part(wire, seed, kind, Scribbler::kNot); });
    Child scribbler([=](Wire& wire) { take_part(wire, 1000 + seed, kind, how); });
    victim.wire().send(scribbler.wire().receive<Start>());
    scribbler.wire().send(victim.wire().receive<Start>());
    // Neither begins, nor ends, before the other has met it.
    for (Child* child : {&victim, &scribbler}) (void)child->wire().receive<char>();
    for (Child* child : {&victim, &scribbler}) child->wire().send('m');
    if (how == Scribbler::kDies) scribbler.finish();
    victim.finish();
    scribbler.kill();
  }
}

// Scribblers write into the segments of all processes that they meet: they must meet none of
// another test's, nor of this user's.
void leave_for_an_empty_network() {
  if (enter_network_of_its_own()) return;
  GTEST_SKIP() << "no network namespace can be had here: " << std::strerror(errno);
}

TEST(Scribbles, NeitherCrashNorHangAnyProcess) {
  leave_for_an_empty_network();
  if (IsSkipped()) return;
  check_scribbles(false);
}
TEST(Scribbles, NeitherCrashNorHangAnyProcessThoughTheScribblerLivesOn) {
  leave_for_an_empty_network();
  if (IsSkipped()) return;
  check_scribbles(false, Scribbler::kLivesOn);
}
TEST(Scribbles, NeitherCrashNorHangOpaqueProcesses) {
  leave_for_an_empty_network();
  if (IsSkipped()) return;
  run_opaque([] { check_scribbles(true); });
}

}  // namespace
}  // namespace gdr::test
