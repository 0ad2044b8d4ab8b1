#include "local/pipeline.h"

#include <sched.h>

#include <algorithm>
#include <cstring>

namespace gdr::local {
namespace {

constexpr std::uint64_t kLeastChunk = 128 << 10;  // below it each copy's own price is most of it

constexpr std::uint64_t kTail = 64 << 10;

// So that several are under way, whatever the length.
std::uint64_t chunk_bytes(std::uint64_t all) {
  return std::clamp(all / 8 & ~(kLeastChunk - 1), kLeastChunk, Staging::kChunk);
}

}  // namespace

Position find_position(const PieceList& list, std::uint64_t position) {
  const Piece* piece = list.pieces().data();
  for (; position >= piece->length && piece != &list.pieces().back(); ++piece) {
    position -= piece->length;
  }
  return {piece, position};
}

std::uint64_t run_length(const PieceList& from, const PieceList& to, std::uint64_t position,
                         std::uint64_t most) {
  const Position source = find_position(from, position), target = find_position(to, position);
  return std::min(
      {most, source.piece->length - source.offset, target.piece->length - target.offset});
}

bool Pipeline::begin(const PieceList& from, const PieceList& to, const Elsewhere& there,
                     rnic::Token self, Staging& staging, CopyCrew& crew) {
  if (chunks_ == nullptr) chunks_ = std::make_unique<Chunk[]>(kMostChunks);
  from_ = &from, to_ = &to;
  there_ = there;
  self_ = self;
  pool_ = &staging;
  size_ = chunk_bytes(from.bytes());
  const std::size_t wanted = std::min<std::size_t>((from.bytes() + size_ - 1) / size_, kMostChunks);
  for (count_ = 0; count_ < wanted; ++count_) {
    const std::optional<std::uint64_t> place = staging.take();
    if (!place) break;
    Chunk& chunk = chunks_[count_];
    chunk.state = Chunk::State::kEmpty;
    chunk.copy.reset();
    chunk.staging = *place;
  }
  filled_ = started_ = drained_ = 0;
  sequence_ = {};
  abandoned_ = false;
  crew_ = count_ > 1 && crew.size() > 0 ? &crew : nullptr;
  if (crew_ != nullptr) crew_->expect(static_cast<unsigned>(count_));
  return count_ != 0;
}

// The last is started behind all others: of what a GPU copies, the sequence keeps the order.
bool Pipeline::may_drain(const Chunk& chunk) const {
  if (!is_last(chunk)) return true;
  const Piece& target = *find_position(*to_, chunk.position).piece;
  const bool by_gpu = target.where == Where::kHere && !target.cpu_reachable();
  return (by_gpu ? started_ : drained_) == chunk.position;
}

// Starts one chunk's way between staging and a side.
void Pipeline::start_leg(Chunk& chunk, const PieceList& list, bool into_staging) {
  const Position place = find_position(list, chunk.position);
  const Piece& piece = *place.piece;
  void* staging = pool_->at(chunk.staging);
  const std::uint64_t address = piece.address + place.offset;
  if (piece.where == Where::kNowhere) {
    if (into_staging) std::memset(staging, 0, chunk.length);
    chunk.copy.set_done(0);
  } else if (piece.where == Where::kServed) {
    chunk.copy.start_served(piece, place.offset, chunk.length, !into_staging, *there_.peer, self_,
                            chunk.staging);
  } else if (piece.where == Where::kProcess) {
    const ProcessMemory process{there_.peer->pid(), there_.held};
    chunk.copy.start_carried(
        {Carry::By::kKernelThere, process, staging, address, chunk.length, into_staging}, crew_);
  } else if (piece.on_demand || piece.cpu_reachable()) {
    const Carry::By by = piece.on_demand ? Carry::By::kKernelHere : Carry::By::kTouching;
    chunk.copy.start_carried({by, {}, staging, address, chunk.length, into_staging}, crew_);
  } else {
    chunk.copy.start_with_host(
        *piece.memory, address, staging, chunk.length, !into_staging,
        into_staging ? Copy::Turn{} : Copy::Turn{&sequence_, !is_last(chunk)});
  }
}

// The last chunk is short, since all others are waited for before it is drained.
std::uint64_t Pipeline::next_length() const {
  const std::uint64_t left = from_->bytes() - filled_;
  const bool leaves_tail = count_ > 1 && left <= size_ && left > kTail;
  return run_length(*from_, *to_, filled_, leaves_tail ? left - kTail : size_);
}

// Takes a chunk as far as it goes now; false on failure.
bool Pipeline::step(Chunk& chunk, Outcome& failure) {
  using State = Chunk::State;
  while (true) {
    switch (chunk.state) {
      case State::kEmpty:
        if (filled_ == from_->bytes()) return true;
        chunk.position = filled_;
        chunk.length = next_length();
        filled_ += chunk.length;
        chunk.state = State::kFilling;
        break;
      case State::kFilling:
      case State::kDraining: {
        const bool filling = chunk.state == State::kFilling;
        const PieceList& list = filling ? *from_ : *to_;
        if (chunk.copy.idle()) {
          start_leg(chunk, list, filling);
          if (chunk.copy.idle()) return true;
          if (!filling) started_ += chunk.length;
        }
        if (!chunk.copy.poll()) return true;
        if (chunk.copy.error() != 0) {
          abandoned_ |= chunk.copy.abandoned();
          failure = {chunk.copy.error(), find_position(list, chunk.position).piece->remote};
          return false;
        }
        chunk.copy.reset();
        if (!filling) drained_ += chunk.length;
        chunk.state = filling ? State::kFull : State::kEmpty;
        break;
      }
      case State::kFull:
        if (!may_drain(chunk)) return true;
        chunk.state = State::kDraining;
        break;
    }
  }
}

std::optional<Outcome> Pipeline::poll() {
  Outcome failure;
  for (std::size_t i = 0; i < count_; ++i) {
    if (step(chunks_[i], failure)) continue;
    drain();
    return failure;
  }
  if (drained_ != from_->bytes()) return std::nullopt;
  finish();
  return Outcome{};
}

void Pipeline::drain() {
  for (std::size_t i = 0; i < count_; ++i) {
    Copy& copy = chunks_[i].copy;
    // Otherwise two processes' service threads could wait for each other's copies.
    copy.withdraw(ECANCELED);
    while (!copy.idle() && !copy.poll()) sched_yield();
    abandoned_ |= copy.abandoned();
    copy.reset();
  }
  finish();
}

void Pipeline::finish() {
  for (std::size_t i = 0; i < count_; ++i) {
    abandoned_ ? pool_->lose(chunks_[i].staging) : pool_->give_back(chunks_[i].staging);
  }
  count_ = 0;
}

bool Pipeline::is_to_be_polled() const {
  for (std::size_t i = 0; i < count_; ++i) {
    if (chunks_[i].copy.is_to_be_polled()) return true;
  }
  return false;
}

}  // namespace gdr::local
