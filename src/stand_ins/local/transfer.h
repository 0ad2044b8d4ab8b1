// Transfer: moving bytes when more than one step or a GPU is needed: by copies from one side to the
// other where a GPU gets there, else through staging. A state machine that its caller polls;
// nothing in it waits.
//
//   transfer.begin(from, to, {peer, held}, token, {staging, crew});
//   while (true) { if (auto outcome = transfer.poll()) return outcome->error; /* do other things */
//   }
//
// Engine thread only, except that drain() may be called by whoever cancels, under the queue pair's
// send lock, which the engine thread also holds when it polls.
#pragma once

#include <optional>

#include "local/pipeline.h"

namespace gdr::local {

// What bytes pass through that no single copy moves.
struct Means {
  Staging& staging;
  CopyCrew& crew;
};

// Whether each stretch that lies in one piece on both sides is one copy of a GPU's.
bool goes_by_one_copy(const PieceList& from, const PieceList& to, const Means& means);
// Starts that of two pieces.
void start_directly(Copy& copy, const Piece& from, const Piece& to, std::uint64_t length,
                    Copy::Turn turn);

class Transfer {
 public:
  // The lists hold the same number of bytes, at least one. False when no staging is free now.
  // `turn`: of the copies that go directly.
  bool begin(const PieceList& from, const PieceList& to, const Elsewhere& there, rnic::Token self,
             const Means& means, Copy::Turn turn = {});
  // By one copy that was started before.
  Copy& begin_with_copy(const PieceList& from, const PieceList& to);
  std::optional<Outcome> poll();
  // Waits for what is in flight and starts nothing more. No byte moves after this returns.
  void drain();
  // Whether it ends without anybody waking the engine thread.
  bool is_to_be_polled() const { return direct_.is_to_be_polled() || pipeline_.is_to_be_polled(); }
  // The one copy that it still waits for, if it is a client's and the last.
  Copy::InFlight last_in_flight() const {
    return is_all_started() ? direct_.in_flight() : Copy::InFlight{};
  }
  // Whether nothing of it is still to be started, and no turn can be missed.
  bool is_all_started() const { return !is_staged_ && started_ == from_.bytes(); }
  // Whose copies go through staging here, or would be quicker through it; null when none do.
  memory::PeerMemoryClient* stages_for() const { return stages_for_; }

 private:
  std::optional<Outcome> poll_direct();
  bool own_side_is_gone() const;

  PieceList from_, to_;
  Pipeline pipeline_;
  bool is_staged_ = false;
  Copy::Turn turn_;
  memory::PeerMemoryClient* stages_for_ = nullptr;
  Copy direct_;
  std::uint64_t started_ = 0, finished_ = 0;  // positions that direct copies have reached
};

}  // namespace gdr::local
