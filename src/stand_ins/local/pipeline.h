// Pipeline: bytes on their way through chunks of staging, several at a time: each is filled from
// one side and drained to the other. A state machine that its caller polls; nothing in it waits.
//
//   if (!pipeline.begin(from, to, there, token, staging, crew)) ...   // no staging is free now
//   while (true) { if (auto outcome = pipeline.poll()) return outcome->error; ... }
//
// Chunks arrive in any order, but the message's last byte in the last of them: a program that polls
// it sees all others.
#pragma once

#include <memory>
#include <optional>

#include "local/copy.h"
#include "local/move_now.h"
#include "local/staging.h"

namespace gdr::local {

struct Outcome {
  int error = 0;        // an errno value; EAGAIN cannot occur
  bool remote = false;  // whose memory was at fault
};

// Where a byte of a list lies: a piece, and the offset in it. `position` lies within the list.
struct Position {
  const Piece* piece;
  std::uint64_t offset;
};
Position find_position(const PieceList& list, std::uint64_t position);
// How far both lists go on in one piece from here, `most` at most.
std::uint64_t run_length(const PieceList& from, const PieceList& to, std::uint64_t position,
                         std::uint64_t most);

class Pipeline {
 public:
  static constexpr std::size_t kMostChunks = 16;

  // The lists live as long as this is in use, and hold the same number of bytes, at least one.
  bool begin(const PieceList& from, const PieceList& to, const Elsewhere& there, rnic::Token self,
             Staging& staging, CopyCrew& crew);
  std::optional<Outcome> poll();
  // Waits for what is in flight and starts nothing more. No byte moves after this returns.
  void drain();
  bool is_used() const { return count_ != 0; }
  bool is_to_be_polled() const;

 private:
  struct Chunk {
    enum class State { kEmpty, kFilling, kFull, kDraining } state = State::kEmpty;
    Copy copy;
    std::uint64_t position = 0, length = 0, staging = 0;
  };

  std::uint64_t next_length() const;
  bool step(Chunk& chunk, Outcome& failure);
  bool is_last(const Chunk& chunk) const { return chunk.position + chunk.length == from_->bytes(); }
  bool may_drain(const Chunk& chunk) const;
  void start_leg(Chunk& chunk, const PieceList& list, bool into_staging);
  void finish();

  const PieceList* from_ = nullptr;
  const PieceList* to_ = nullptr;
  Elsewhere there_{};
  rnic::Token self_ = 0;
  Staging* pool_ = nullptr;
  CopyCrew* crew_ = nullptr;                 // null: the caller carries
  std::unique_ptr<Chunk[]> chunks_;          // kMostChunks, from the first use on
  std::size_t count_ = 0;                    // of chunks in use
  std::uint64_t size_ = 0;                   // of a chunk's bytes
  std::uint64_t filled_ = 0;                 // the position from which nobody fills yet
  std::uint64_t started_ = 0, drained_ = 0;  // bytes whose draining has begun, has ended
  Copy::Sequence sequence_;                  // of what drains to a GPU
  bool abandoned_ = false;                   // by a copy: its staging must not be used again
};

}  // namespace gdr::local
