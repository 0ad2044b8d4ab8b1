// Transfer: moving bytes when more than one step or a GPU is needed. A state machine that its
// caller polls; nothing in it waits.
//
//   transfer.begin(from, to, {peer, held}, token, staging);
//   while (true) { if (auto outcome = transfer.poll()) return outcome->error; /* do other things */
//   }
//
// Engine thread only, except that drain() may be called by whoever cancels, under the queue pair's
// send lock, which the engine thread also holds when it polls.
#pragma once

#include <optional>

#include "local/move_now.h"
#include "local/pieces.h"
#include "local/staging.h"
#include "peers/peer.h"

namespace gdr::local {

struct Outcome {
  int error = 0;        // an errno value; EAGAIN cannot occur
  bool remote = false;  // whose memory was at fault
};

// One copy in flight: by a peer-memory client, or by another process's service thread. Still idle
// after a start: whoever copies has too much in flight, and it is to be started again.
class Copy {
 public:
  // One side at least is memory of a client that copies it.
  using Side = memory::PeerMemoryClient::Side;
  void start_here(memory::PeerMemoryClient& client, Side to, Side from, std::uint64_t length);
  // The same between such memory and host memory; `write`: to the former.
  void start_with_host(const memory::PinnedMemory& memory, std::uint64_t address, void* host,
                       std::uint64_t length, bool write);
  // `offset` counts within the piece; `write`: from staging to the piece.
  void start_served(const Piece& piece, std::uint64_t offset, std::uint64_t length, bool write,
                    Peer& peer, rnic::Token self, std::uint64_t staging);
  // Takes back what another process has been asked for, or leaves it to itself if it has begun.
  void withdraw(int error);
  void set_done(int error) { state_ = State::kDone, error_ = error; }

  bool idle() const { return state_ == State::kIdle; }
  bool on_gpu() const { return state_ == State::kDevice; }
  // True once it has ended; error() then says how, until the next start or reset.
  bool poll();
  int error() const { return error_; }
  void reset() { state_ = State::kIdle, error_ = 0, abandoned_ = false, wanted_at_ = 0; }
  // Ended here, but the other process may still be at it: the staging must not be used again.
  bool abandoned() const { return abandoned_; }

 private:
  void poll_served();
  void wait_for_place(Peer& peer);

  enum class State { kIdle, kDevice, kServed, kDone };
  State state_ = State::kIdle;
  int error_ = 0;
  memory::PeerMemoryClient* client_ = nullptr;
  memory::PeerMemoryClient::Ticket ticket_ = 0;
  rnic::ServiceRequest* request_ = nullptr;
  rnic::Token self_ = 0;
  Peer* peer_ = nullptr;
  Nanoseconds wanted_at_ = 0, asked_at_ = 0;  // wanted: while the other has no place for it
  bool abandoned_ = false;
};

class Transfer {
 public:
  // The lists hold the same number of bytes, at least one. False when no staging is free now.
  bool begin(const PieceList& from, const PieceList& to, const Elsewhere& there, rnic::Token self,
             Staging& staging);
  std::optional<Outcome> poll();
  // Waits for what is in flight and starts nothing more. No byte moves after this returns.
  void drain();
  bool on_gpu() const;
  // Whose copies go through staging here; null when none do.
  memory::PeerMemoryClient* stages_for() const;

 private:
  struct Half {
    enum class State { kEmpty, kFilling, kFull, kDraining } state = State::kEmpty;
    Copy copy;
    std::uint64_t position = 0, length = 0, staging = 0;
  };
  struct Position {  // a byte position as a piece and an offset in it
    const Piece* piece;
    std::uint64_t offset;
  };

  static Position at(const PieceList& list, std::uint64_t position);
  std::uint64_t run_length(std::uint64_t position, std::uint64_t most) const;
  std::optional<Outcome> poll_direct();
  bool own_side_is_gone() const;
  std::optional<Outcome> poll_staged();
  bool step(Half& half, Outcome& failure);
  void start_leg(Half& half, const PieceList& list, bool into_staging);
  void finish();

  PieceList from_, to_;
  Elsewhere there_{};
  rnic::Token self_ = 0;
  Staging* pool_ = nullptr;
  std::optional<std::uint64_t> block_;  // nothing: every byte goes directly
  Copy direct_;
  Half halves_[2];
  bool abandoned_ = false;                  // by one of its copies
  std::uint64_t filled_ = 0, drained_ = 0;  // positions reached; for direct: started, finished
};

}  // namespace gdr::local
