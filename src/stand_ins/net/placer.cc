#include "net/placer.h"

#include <sched.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "rnic/delivery/registered_bytes.h"

namespace gdr::net {
namespace {

rnic::Side host_side(const std::byte* bytes) {
  return {reinterpret_cast<std::uint64_t>(bytes), nullptr};
}

}  // namespace

std::optional<Placer::Ticket> Placer::put(const rnic::Place& to, std::span<const std::byte> bytes,
                                          bool joins, Loss& loss) {
  const std::lock_guard guard(lock_);
  if (joins && extend(to, bytes, loss)) return put_.load(std::memory_order_relaxed);
  if (rnic::is_served(to)) client_ = &to.memory->client();
  Block* block = block_for(bytes.size());
  if (block == nullptr) return std::nullopt;
  std::byte* at = block->bytes + block->used;
  std::memcpy(at, bytes.data(), bytes.size());
  block->used += bytes.size();
  ++block->pieces;
  const Ticket ticket = put_.load(std::memory_order_relaxed) + 1;
  pieces_.push_back({to, at, bytes.size(), block, &loss, ticket, 0, false});
  put_.store(ticket, std::memory_order_release);
  return ticket;
}

// The last piece by these bytes. False: they do not follow it, or it has begun.
bool Placer::extend(const rnic::Place& to, std::span<const std::byte> bytes, const Loss& loss) {
  if (pieces_.size() == started_) return false;
  Piece& last = pieces_.back();
  Block& block = *last.block;
  const bool follows = last.loss == &loss && last.to.memory == to.memory &&
                       last.to.reach == to.reach && last.to.address + last.length == to.address &&
                       last.bytes + last.length == block.bytes + block.used;
  if (!follows || bytes.size() > PinnedPool::kBlock - block.used) return false;
  std::memcpy(block.bytes + block.used, bytes.data(), bytes.size());
  block.used += bytes.size();
  last.length += bytes.size();
  return true;
}

// One that has room; null: there is none.
Placer::Block* Placer::block_for(std::size_t bytes) {
  if (!blocks_.empty() && bytes <= PinnedPool::kBlock - blocks_.back().used) {
    return &blocks_.back();
  }
  std::byte* memory = pool_.take(*client_);
  return memory != nullptr ? &blocks_.emplace_back(Block{memory, 0, 0}) : nullptr;
}

void Placer::advance() {
  const std::unique_lock guard(driving_, std::try_to_lock);
  if (!guard) return;
  while (true) {
    while (start_next()) {
    }
    if (under_way_.empty() || !has_ended(*under_way_.front())) return;
    retire_front();
  }
}

void Placer::drain(Ticket ticket) {
  while (placed() < ticket) {
    advance();
    if (placed() < ticket) sched_yield();
  }
}

// False: there is none, or it is not its turn.
bool Placer::start_next() {
  // Tickets have no gaps: so many have been put and have not started.
  const Ticket waiting = put_.load(std::memory_order_acquire) - placed() - under_way_.size();
  const bool may_grow = waiting == 1;
  if (waiting == 0 || under_way_.size() >= (may_grow ? kUnderWay : kMostUnderWay)) return false;
  Piece* piece = next_to_start();
  if (piece == nullptr) return false;
  const Went went = start(*piece);
  piece->is_done = went == Went::kDone;
  if (went != Went::kWaits) {
    under_way_.push_back(piece);
    return true;
  }
  const std::lock_guard guard(lock_);
  --started_;
  return false;
}

// From then on nothing joins it. Null: it is not its turn.
Placer::Piece* Placer::next_to_start() {
  const std::lock_guard guard(lock_);
  Piece& piece = pieces_[started_];
  const bool is_served = rnic::is_served(piece.to);
  if (started_ > 0 && (!is_served || &piece.to.memory->client() != sequence_client_)) {
    return nullptr;
  }
  ++started_;
  return &piece;
}

Placer::Went Placer::start(Piece& piece) {
  if (piece.loss->load(std::memory_order_relaxed) != kNone) return Went::kDone;
  if (!rnic::is_served(piece.to)) {
    if (!rnic::write_registered(piece.to, {piece.bytes, piece.length})) lose(piece);
    return Went::kDone;
  }
  memory::PinnedMemory& memory = *piece.to.memory;
  if (std::exchange(sequence_client_, &memory.client()) != &memory.client()) sequence_ = {};
  const auto copy = memory.client().start_copy(memory.side_at(piece.to.address),
                                               host_side(piece.bytes), piece.length, {&sequence_});
  if (!copy && copy.error().code == EAGAIN) return Went::kWaits;
  if (copy) {
    piece.copy = *copy;
    return Went::kStarted;
  }
  lose(piece);
  return Went::kDone;
}

bool Placer::has_ended(Piece& piece) {
  if (piece.is_done) return true;
  const Result<bool> finished = piece.to.memory->client().finished(piece.copy);
  if (!finished) lose(piece);
  return !finished || *finished;
}

void Placer::lose(const Piece& piece) {
  Ticket none = kNone;
  piece.loss->compare_exchange_strong(none, piece.ticket);
}

void Placer::retire_front() {
  under_way_.pop_front();
  const std::lock_guard guard(lock_);
  const Piece& piece = pieces_.front();
  const Ticket ticket = piece.ticket;
  Block& block = *piece.block;
  pieces_.pop_front();
  --started_;
  if (--block.pieces == 0) {
    if (&block == &blocks_.back()) {
      block.used = 0;
    } else {
      pool_.give_back(block.bytes);
      blocks_.pop_front();
    }
  }
  placed_.store(ticket, std::memory_order_release);
}

}  // namespace gdr::net
