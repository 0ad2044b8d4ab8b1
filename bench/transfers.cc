// One benchmark for each kind of transfer. An iteration is a round: a batch through the software
// NIC, then a batch of its limit, both timed here; the time that is reported is of one transfer.
#include "transfers.h"

#include <benchmark/benchmark.h>

#include <functional>
#include <optional>

#include "claims.h"
#include "rounds.h"

namespace gdr::bench {
namespace {

// Short rounds, many of them: most then fall between two interruptions by other load.
constexpr int kRounds = 401;
constexpr int kPingPongRounds = 61;  // two processes at work: slow on a loaded machine
constexpr int kListLength = 64;

using benchmark::Counter;
using benchmark::State;
using Call = std::function<void()>;

struct Case {
  std::string name;
  int batch;           // calls of each kind in a round
  int transfers;       // of one measured call
  std::size_t length;  // of one transfer
  Call measured;
  Call limit;               // none: no limit is known
  int limit_transfers = 1;  // of one limit call
  std::optional<Claim> claim = {};
  std::optional<BufferId> needs_huge = {};
  Call before = [] {};  // each round
  Call after = [] {};
  int rounds = kRounds;
  double share = 1;  // of a call's time: 0.5 for half a round trip
};

void report(State& state, const Case& one, const Rounds& rounds, bool has_limit) {
  const double seconds = rounds.measured();
  state.counters["median_us"] = Counter(seconds * 1e6);
  state.counters["MiB/s"] = Counter(static_cast<double>(one.length) / seconds / (1 << 20));
  state.counters["kmsg/s"] = Counter(1e-3 / seconds);
  if (!has_limit) return;
  state.counters["limit_us"] = Counter(rounds.limit() * 1e6);
  state.counters["time/limit"] = Counter(rounds.ratio());
  state.counters["time/limit_p10"] = Counter(rounds.ratio(0.1));
  state.counters["time/limit_p90"] = Counter(rounds.ratio(0.9));
}

void run(State& state, Session& session, const Case& one) {
  if (one.needs_huge && !session.is_huge(*one.needs_huge)) {
    const char* why = "the kernel gave no huge pages";
    if (one.claim) record_impossible(*one.claim, why);
    return state.SkipWithError(why);
  }
  Rounds rounds;
  const bool has_limit = one.limit != nullptr;
  for ([[maybe_unused]] auto _ : state) {
    one.before();
    const double seconds = one.share * seconds_each(one.batch, one.measured) / one.transfers;
    one.after();
    const double limit = has_limit ? one.share * seconds_each(one.batch, one.limit) : seconds;
    rounds.add(seconds, limit / one.limit_transfers);
    state.SetIterationTime(seconds);
  }
  report(state, one, rounds, has_limit);
  if (one.claim) record(*one.claim, rounds);
}

Case write_case(Session& session, std::string name, BufferId id, std::uint32_t length, int batch) {
  Endpoint& endpoint = session.endpoint();
  session.check(id, length, [&] { endpoint.write(id, length); });
  session.check(id, length, [&] { session.bare_write(id, length); });
  return {.name = std::move(name),
          .batch = batch,
          .transfers = 1,
          .length = length,
          .measured = [&endpoint, id, length] { endpoint.write(id, length); },
          .limit = [&session, id, length] { session.bare_write(id, length); }};
}

Case read_case(Session& session, std::string name, BufferId id, std::uint32_t length, int batch) {
  Endpoint& endpoint = session.endpoint();
  session.check_inbound(id, length, [&] { endpoint.read(id, length); });
  return {.name = std::move(name),
          .batch = batch,
          .transfers = 1,
          .length = length,
          .measured = [&endpoint, id, length] { endpoint.read(id, length); },
          .limit = [&session, id, length] { session.bare_read(id, length); }};
}

// The receives are posted and taken between rounds: the target's time is not the initiator's.
Case send_case(Session& session, std::string name, std::uint32_t length, int batch) {
  Endpoint& endpoint = session.endpoint();
  const auto post = [&session, batch] { session.order(Order::kPostReceives, kOneMiB, batch); };
  session.check(kOneMiB, length, [&] {
    session.order(Order::kPostReceives, kOneMiB, 1);
    endpoint.send(kOneMiB, length);
    session.order(Order::kTakeReceives, kOneMiB, 1);
  });
  return {.name = std::move(name),
          .batch = batch,
          .transfers = 1,
          .length = length,
          .measured = [&endpoint, length] { endpoint.send(kOneMiB, length); },
          .limit = [&session, length] { session.bare_write(kOneMiB, length); },
          .before = post,
          .after = [&session, batch] { session.order(Order::kTakeReceives, kOneMiB, batch); }};
}

Case inline_case(Session& session) {
  Endpoint& endpoint = session.endpoint();
  session.check(kSmallBuffer, 8, [&] { endpoint.write(kSmallBuffer, 8, IBV_SEND_INLINE); });
  Case one = write_case(session, "write/8B/inline", kSmallBuffer, 8, 150);
  one.measured = [&endpoint] { endpoint.write(kSmallBuffer, 8, IBV_SEND_INLINE); };
  return one;
}

// The limit of a list is one bare call for all of it.
Case list_case(Session& session, std::string name, ibv_wr_opcode opcode, std::uint32_t stride) {
  constexpr std::uint32_t kLength = 8;
  Endpoint& endpoint = session.endpoint();
  const bool writes = opcode == IBV_WR_RDMA_WRITE;
  const std::size_t bytes = stride == 0 ? kLength : std::size_t{stride} * kListLength;
  const auto measured = [&endpoint, opcode, stride] {
    endpoint.run_list(kSmallBuffer, opcode, kLength, kListLength, stride);
  };
  const auto limit = [&session, writes, stride] {
    session.bare_list(kSmallBuffer, writes, kLength, kListLength, stride);
  };
  for (const Call& call : {Call(measured), Call(limit)}) {
    if (writes) {
      session.check(kSmallBuffer, bytes, call);
    } else {
      session.check_inbound(kSmallBuffer, bytes, call);
    }
  }
  return {.name = std::move(name),
          .batch = 4,
          .transfers = kListLength,
          .length = kLength,
          .measured = measured,
          .limit = limit,
          .limit_transfers = kListLength};
}

// As before lists went by one call: beside a bare call for each of its writes.
Case list_beside_single_calls(Session& session) {
  Case one = list_case(session, "write/8B/list_of_64/call_each", IBV_WR_RDMA_WRITE, 0);
  one.limit = [&session] {
    for (int i = 0; i < kListLength; ++i) session.bare_write(kSmallBuffer, 8);
  };
  return one;
}

// Both processes at work. The limit of the sleeping one is the same number of wake-ups to and fro
// by bare eventfds; that of the polling one is not known.
Case ping_pong_case(Session& session, bool sleeping, int count) {
  Endpoint& endpoint = session.endpoint();
  const Order order = sleeping ? Order::kEventPingPong : Order::kPingPong;
  Case one{
      .name = sleeping ? "send/64B/half_round_trip/events" : "send/64B/half_round_trip/polling",
      .batch = 1,
      .transfers = count,
      .length = kPingPongBytes,
      .measured = [&endpoint, count, sleeping] { endpoint.ping(count, kPingPongBytes, sleeping); },
      .limit = {},
      .limit_transfers = count,
      .before =
          [&session, &endpoint, order, count] {
            endpoint.top_up_receives(kReceivesAhead);
            session.order(order, kOneMiB, count);
          },
      .rounds = kPingPongRounds,
      .share = 0.5};
  if (!sleeping) return one;
  one.limit = [&session, count] { session.bare_ping(count); };
  one.after = [&session, count] { session.order(Order::kBarePingPong, kSmallBuffer, count); };
  one.claim = Claim::kEventLatency;
  return one;
}

void add(Session& session, Case one) {
  const std::string name = one.name;
  const int rounds = one.rounds;
  benchmark::RegisterBenchmark(
      name.c_str(), [&session, one = std::move(one)](State& state) { run(state, session, one); })
      ->Iterations(rounds)
      ->UseManualTime()
      ->Unit(benchmark::kMicrosecond);
}

Case claimed(Case one, Claim claim, std::optional<BufferId> needs_huge = {}) {
  one.claim = claim;
  one.needs_huge = needs_huge;
  return one;
}

Case huge(Case one) {
  one.needs_huge = kEightMiBOfHuge;
  return one;
}

}  // namespace

void register_transfers(Session& session) {
  add(session,
      claimed(write_case(session, "write/1MiB", kOneMiB, 1 << 20, 4), Claim::kOneMiBWrite));
  add(session, claimed(write_case(session, "write/8MiB/huge_pages", kEightMiBOfHuge, 8 << 20, 1),
                       Claim::kEightMiBHugeWrite, kEightMiBOfHuge));
  add(session,
      claimed(write_case(session, "write/8B", kSmallBuffer, 8, 150), Claim::kEightByteLatency));
  add(session, write_case(session, "write/4KiB", kOneMiB, 4 << 10, 100));
  add(session, write_case(session, "write/8MiB", kEightMiB, 8 << 20, 1));
  add(session, huge(write_case(session, "write/1MiB/huge_pages", kEightMiBOfHuge, 1 << 20, 6)));
  add(session, read_case(session, "read/1MiB", kOneMiB, 1 << 20, 4));
  add(session, huge(read_case(session, "read/8MiB/huge_pages", kEightMiBOfHuge, 8 << 20, 1)));
  add(session, read_case(session, "read/8B", kSmallBuffer, 8, 150));
  add(session, send_case(session, "send/1MiB", 1 << 20, 4));
  add(session, send_case(session, "send/64B", 64, kReceiveDepth));
  add(session, inline_case(session));
  add(session, list_case(session, "write/8B/list_of_64", IBV_WR_RDMA_WRITE, 0));
  add(session, list_beside_single_calls(session));
  add(session, list_case(session, "write/8B/list_of_64/adjacent", IBV_WR_RDMA_WRITE, 8));
  add(session, list_case(session, "read/8B/list_of_64", IBV_WR_RDMA_READ, 0));
  add(session, ping_pong_case(session, false, 100));
  add(session, ping_pong_case(session, true, 20));
}

}  // namespace gdr::bench
