#include "net/read_ahead.h"

#include <sched.h>

#include <algorithm>
#include <cerrno>

#include "rnic/delivery/registered_bytes.h"

namespace gdr::net {

ReadAhead::Found ReadAhead::find(Position position, const std::byte** at, std::size_t* bytes) {
  for (Piece& piece : pieces_) {
    const bool is_in = piece.begin.message == position.message &&
                       position.offset - piece.begin.offset < piece.length;
    if (!is_in) continue;
    look(piece);
    if (piece.state == State::kCopying) return Found::kLater;
    if (piece.state == State::kFailed) return Found::kFailed;
    const std::size_t skipped = position.offset - piece.begin.offset;
    *at = piece.bytes + skipped;
    *bytes = std::min(*bytes, piece.length - skipped);
    piece.is_used = true;
    return Found::kHere;
  }
  return Found::kNot;
}

void ReadAhead::begin(Position position) {
  old_.insert(old_.end(), pieces_.begin(), pieces_.end());
  pieces_.clear();
  ahead_ = 0;
  end_ = position;
}

std::size_t ReadAhead::read(const rnic::Place& from, std::size_t bytes) {
  bytes = std::min(bytes, PinnedPool::kBlock);
  memory::PeerMemoryClient& client = from.memory->client();
  Block* block = block_for(client, bytes);
  if (block == nullptr) return 0;
  std::byte* to = block->bytes + block->used;
  const auto copy = client.start_copy({reinterpret_cast<std::uint64_t>(to), nullptr},
                                      from.memory->side_at(from.address), bytes);
  if (!copy && copy.error().code == EAGAIN) return 0;
  block->used += bytes;
  ++block->pieces;
  if (copy) ++copying_;
  pieces_.push_back({end_, bytes, to, block, &client, copy ? *copy : 0,
                     copy ? State::kCopying : State::kFailed, false});
  end_.offset += bytes;
  ahead_ += bytes;
  return bytes;
}

ReadAhead::Block* ReadAhead::block_for(memory::PeerMemoryClient& client, std::size_t bytes) {
  if (!blocks_.empty() && bytes <= PinnedPool::kBlock - blocks_.back().used) {
    return &blocks_.back();
  }
  std::byte* memory = pool_.take(client);
  return memory != nullptr ? &blocks_.emplace_back(Block{memory, 0, 0}) : nullptr;
}

void ReadAhead::look(Piece& piece) {
  if (piece.state != State::kCopying) return;
  const Result<bool> finished = piece.client->finished(piece.copy);
  if (finished && !*finished) return;
  piece.state = finished ? State::kHere : State::kFailed;
  --copying_;
}

void ReadAhead::advance() {
  if (copying_ == 0) return;
  for (Piece& piece : pieces_) look(piece);
  for (Piece& piece : old_) look(piece);
}

void ReadAhead::finish() {
  while (is_copying()) {
    advance();
    if (is_copying()) sched_yield();
  }
}

// A piece of which the packets that have left had the last bytes so far is kept: more may follow.
void ReadAhead::sent() {
  std::size_t used = pieces_.size();
  while (used > 0 && !pieces_[used - 1].is_used) --used;
  for (; used > 1; --used) {
    ahead_ -= pieces_.front().length;
    old_.push_back(pieces_.front());
    pieces_.pop_front();
  }
  std::erase_if(old_, [&](Piece& piece) {
    look(piece);
    if (piece.state == State::kCopying) return false;
    drop(piece);
    return true;
  });
}

void ReadAhead::drop(const Piece& piece) {
  Block& block = *piece.block;
  if (--block.pieces > 0) return;
  if (&block == &blocks_.back()) {
    block.used = 0;
    return;
  }
  pool_.give_back(block.bytes);
  block.bytes = nullptr;
  // Pieces end in about the order of their blocks; what is behind waits for what is before.
  while (blocks_.size() > 1 && blocks_.front().bytes == nullptr) blocks_.pop_front();
}

void ReadAhead::clear() {
  begin(end_);
  sent();
  if (!old_.empty()) return;
  for (const Block& block : blocks_) {
    if (block.bytes != nullptr) pool_.give_back(block.bytes);
  }
  blocks_.clear();
}

}  // namespace gdr::net
