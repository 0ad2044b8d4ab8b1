#include "local/transfer.h"

#include <sched.h>

#include <cerrno>
#include <cstring>

#include "memory/fault_guard.h"

namespace gdr::local {
namespace {

// A driver stages memory that is not pinned by one thread. From here on the crew is quicker.
constexpr std::uint64_t kWorthCrew = 256 << 10;

// Whether copies may go straight to and from it, the driver's too.
bool all_here(const PieceList& list) {
  for (const Piece& piece : list.pieces()) {
    if (piece.where != Where::kHere || piece.on_demand) return false;
  }
  return true;
}

// Two GPUs, neither of which may touch the other's memory, need staging between them.
bool one_copy_gets_there(const PieceList& from, const PieceList& to) {
  for (const Piece& source : from.pieces()) {
    for (const Piece& target : to.pieces()) {
      if (source.cpu_reachable() || target.cpu_reachable()) continue;
      if (!target.memory->client().can_copy(*target.memory->side_at(0).context,
                                            *source.memory->side_at(0).context)) {
        return false;
      }
    }
  }
  return true;
}

// The client of the GPU memory that lies here.
memory::PeerMemoryClient* client_of(const PieceList& from, const PieceList& to) {
  for (const PieceList* list : {&from, &to}) {
    for (const Piece& piece : list->pieces()) {
      if (piece.where == Where::kHere && !piece.cpu_reachable()) return &piece.memory->client();
    }
  }
  return nullptr;
}

// Whether the client itself would have to stage some of it.
bool is_pageable(memory::PeerMemoryClient& client, const PieceList& list) {
  for (const Piece& piece : list.pieces()) {
    if (piece.cpu_reachable() && !client.is_locked(piece.address, piece.length)) return true;
  }
  return false;
}

Copy::Side side_of(const Piece& piece, std::uint64_t address) {
  if (piece.cpu_reachable()) return {address, nullptr};
  return piece.memory->side_at(address);
}

struct Spot {
  const Piece& piece;
  std::uint64_t address;  // in it
};

// Whether the client may touch it, if it is the host's: memory that is not locked it stages itself,
// by loads and stores. Of few bytes it is cheaper to look than to ask for locks.
bool is_there(memory::PeerMemoryClient& client, const Spot& spot, std::uint64_t length) {
  if (!spot.piece.cpu_reachable()) return true;
  if (length >= kWorthCrew && client.is_locked(spot.address, length)) return true;
  return memory::is_there(reinterpret_cast<const void*>(spot.address), length);
}

// At least one of the two is a GPU's.
void start_by_client(Copy& copy, const Spot& from, const Spot& to, std::uint64_t length,
                     Copy::Turn turn) {
  const Piece& device = from.piece.cpu_reachable() ? to.piece : from.piece;
  memory::PeerMemoryClient& client = device.memory->client();
  if (!is_there(client, from, length) || !is_there(client, to, length)) {
    return copy.set_done(EFAULT);
  }
  copy.start_here(client, side_of(to.piece, to.address), side_of(from.piece, from.address), length,
                  turn);
}

// By staging, of this client's copies or, without one, of none.
struct Way {
  bool is_staged = false;
  memory::PeerMemoryClient* stages_for = nullptr;  // or would, if the staging were locked
};

Way way_of(const PieceList& from, const PieceList& to, const Means& means) {
  const bool must = !all_here(from) || !all_here(to) || !one_copy_gets_there(from, to);
  if (!must && (from.bytes() < kWorthCrew || means.crew.size() == 0)) return {};
  memory::PeerMemoryClient* const client = client_of(from, to);
  if (must) return {true, client};
  if (client == nullptr || (!is_pageable(*client, from) && !is_pageable(*client, to))) return {};
  return {means.staging.is_locked(), client};
}

}  // namespace

bool goes_by_one_copy(const PieceList& from, const PieceList& to, const Means& means) {
  return client_of(from, to) != nullptr && way_of(from, to, means).stages_for == nullptr &&
         all_here(from) && all_here(to);
}

void start_directly(Copy& copy, const Piece& from, const Piece& to, std::uint64_t length,
                    Copy::Turn turn) {
  start_by_client(copy, {from, from.address}, {to, to.address}, length, turn);
}

bool Transfer::begin(const PieceList& from, const PieceList& to, const Elsewhere& there,
                     rnic::Token self, const Means& means, Copy::Turn turn) {
  from_ = from;
  to_ = to;
  turn_ = turn;
  direct_.reset();
  started_ = finished_ = 0;
  const Way way = way_of(from_, to_, means);
  is_staged_ = way.is_staged;
  stages_for_ = way.stages_for;
  return !is_staged_ || pipeline_.begin(from_, to_, there, self, means.staging, means.crew);
}

Copy& Transfer::begin_with_copy(const PieceList& from, const PieceList& to) {
  from_ = from;
  to_ = to;
  is_staged_ = false;
  stages_for_ = nullptr;
  started_ = from_.bytes(), finished_ = 0;
  return direct_;
}

std::optional<Outcome> Transfer::poll() { return is_staged_ ? pipeline_.poll() : poll_direct(); }

// Whether the direct copy failed because the memory on this side was freed or unmapped.
bool Transfer::own_side_is_gone() const {
  for (const PieceList* list : {&from_, &to_}) {
    const Piece& piece = *find_position(*list, finished_).piece;
    if (!piece.remote && piece.memory != nullptr && !piece.memory->still_valid()) return true;
  }
  return !can_be_touched(from_, to_);
}

std::optional<Outcome> Transfer::poll_direct() {
  while (true) {
    if (!direct_.idle()) {
      if (!direct_.poll()) return std::nullopt;
      if (direct_.error() != 0) return Outcome{direct_.error(), !own_side_is_gone()};
      direct_.reset();
      finished_ = started_;
    }
    if (finished_ == from_.bytes()) return Outcome{};
    const Position from = find_position(from_, finished_), to = find_position(to_, finished_);
    const std::uint64_t length = run_length(from_, to_, finished_, from_.bytes());
    const std::uint64_t source = from.piece->address + from.offset;
    const std::uint64_t target = to.piece->address + to.offset;
    if (from.piece->cpu_reachable() && to.piece->cpu_reachable()) {
      const bool is_there = memory::without_fault([&] {
        std::memmove(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source),
                     length);
      });
      direct_.set_done(is_there ? 0 : EFAULT);
    } else {
      start_by_client(direct_, {*from.piece, source}, {*to.piece, target}, length, turn_);
      if (direct_.idle()) return std::nullopt;
    }
    started_ = finished_ + length;
  }
}

void Transfer::drain() {
  while (!direct_.idle() && !direct_.poll()) sched_yield();
  direct_.reset();
  if (is_staged_) pipeline_.drain();
}

}  // namespace gdr::local
