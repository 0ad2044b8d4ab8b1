#include "runner.h"

#include <bit>

#include "clock.h"
#include "fail.h"
#include "pattern.h"
#include "staged.h"

namespace gdr::bench {
namespace {

constexpr std::size_t kMany = 64 << 10;
constexpr std::size_t kSome = 1 << 20;
constexpr std::size_t kFew = 16 << 20;

bool is_bare(const Case& which) { return which.way == Way::kBareOut || which.way == Way::kBareIn; }

}  // namespace

bool Runner::applies(CaseId id, std::size_t bytes) {
  return case_of(id).way != Way::kStagedChunks || bytes > kStagedChunk;
}

int Runner::count(const Case& which, std::size_t bytes) const {
  if (which.in_flight) return 4 * in_flight_;
  if (bytes <= kMany) return 16;
  if (bytes <= kSome) return 8;
  return bytes <= kFew ? 4 : 2;
}

void Runner::post_and_take(const Case& which, std::size_t bytes, int count) {
  const bool reads = which.way == Way::kRead;
  const ibv_wr_opcode opcode = reads ? IBV_WR_RDMA_READ : IBV_WR_RDMA_WRITE;
  const Place& here = side_.own(reads ? which.to : which.from);
  const Place& there = side_.peers(reads ? which.from : which.to);
  const int at_once = which.in_flight ? in_flight_ : 1;
  for (int i = 0; i < count; ++i) {
    if (i >= at_once) side_.link().take();
    side_.link().post(opcode, here, there, bytes * static_cast<std::size_t>(i % at_once), bytes);
  }
  for (int i = 0; i < at_once && i < count; ++i) side_.link().take();
}

double Runner::requests(const Case& which, std::size_t bytes, int count) {
  post_and_take(which, bytes, 1);
  return seconds_of_each(count, [&] { post_and_take(which, bytes, count); });
}

double Runner::staged(std::size_t bytes, std::size_t chunk, int count) {
  double seconds = 0;
  for (const int transfers : {1, count}) {
    side_.flags().arrived.store(0);
    side_.flags().consumed.store(0);
    peer_.ask({.kind = Order::Kind::kStage,
               .bytes = bytes,
               .chunk = chunk,
               .count = static_cast<std::uint64_t>(transfers)});
    seconds = seconds_of_each(transfers, [&] { give_staged(side_, bytes, chunk, transfers); });
  }
  return seconds;
}

double Runner::run(CaseId id, std::size_t bytes) {
  const Case& which = case_of(id);
  const int transfers = count(which, bytes);
  if (which.way == Way::kStaged) return staged(bytes, bytes, transfers);
  if (which.way == Way::kStagedChunks) return staged(bytes, kStagedChunk, transfers);
  if (!is_bare(which)) return requests(which, bytes, transfers);
  return std::bit_cast<double>(copier_.ask({.kind = Order::Kind::kCopy,
                                            .bytes = bytes,
                                            .count = static_cast<std::uint64_t>(transfers),
                                            .which = id}));
}

std::uint64_t Runner::fill_or_compare_at(bool at_peer, const Case& which, const Order& order) {
  if (at_peer) return peer_.ask(order);
  return is_bare(which) ? copier_.ask(order) : fill_or_compare(side_.memories(), order);
}

double Runner::run_checked(CaseId id, std::size_t bytes) {
  const Case& which = case_of(id);
  const std::size_t all = bytes * static_cast<std::size_t>(which.in_flight ? in_flight_ : 1);
  // A new seed: what earlier transfers left is wrong everywhere.
  Order order{.kind = Order::Kind::kFill, .memory = which.from, .bytes = all, .seed = ++seed_};
  fill_or_compare_at(is_from_peer(which), which, order);
  const double seconds = run(id, bytes);
  order.kind = Order::Kind::kFindWrong;
  order.memory = which.to;
  const std::uint64_t wrong = fill_or_compare_at(is_into_peer(which), which, order);
  if (wrong == kAllRight) return seconds;
  fail("%s, %s, %zu bytes: from byte %llu on they arrived other than they were sent", which.group,
       which.name, bytes, static_cast<unsigned long long>(wrong * 8));
}

}  // namespace gdr::bench
