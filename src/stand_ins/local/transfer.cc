#include "local/transfer.h"

#include <sched.h>

#include <cstring>

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

}  // namespace

// Where nothing else can.
bool Transfer::needs_staging() const {
  return !all_here(from_) || !all_here(to_) || !one_copy_gets_there(from_, to_);
}

bool Transfer::begin(const PieceList& from, const PieceList& to, const Elsewhere& there,
                     rnic::Token self, const Means& means) {
  from_ = from;
  to_ = to;
  direct_.reset();
  started_ = finished_ = 0;
  stages_for_ = nullptr;
  is_staged_ = needs_staging();
  if (is_staged_ || (from_.bytes() >= kWorthCrew && means.crew.size() > 0)) {
    memory::PeerMemoryClient* const client = client_of(from_, to_);
    if (is_staged_) {
      stages_for_ = client;
    } else if (client != nullptr && (is_pageable(*client, from_) || is_pageable(*client, to_))) {
      stages_for_ = client;
      is_staged_ = means.staging.is_locked();
    }
  }
  return !is_staged_ || pipeline_.begin(from_, to_, there, self, means.staging, means.crew);
}

std::optional<Outcome> Transfer::poll() { return is_staged_ ? pipeline_.poll() : poll_direct(); }

// Whether the direct copy failed because the memory on this side was freed.
bool Transfer::own_side_is_gone() const {
  for (const PieceList* list : {&from_, &to_}) {
    const Piece& piece = *find_position(*list, finished_).piece;
    if (!piece.remote && piece.memory != nullptr && !piece.memory->still_valid()) return true;
  }
  return false;
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
      std::memmove(reinterpret_cast<void*>(target), reinterpret_cast<const void*>(source), length);
      direct_.set_done(0);
    } else {
      const Piece& device = from.piece->cpu_reachable() ? *to.piece : *from.piece;
      direct_.start_here(device.memory->client(), side_of(*to.piece, target),
                         side_of(*from.piece, source), length);
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
