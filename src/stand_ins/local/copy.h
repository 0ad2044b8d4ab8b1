// Copy: one copy in flight, whoever makes it: a peer-memory client, another process's service
// thread, threads of the crew, or the caller.
//
//   Copy copy;
//   if (copy.idle()) copy.start_here(client, to, from, length);
//   if (!copy.idle() && copy.poll()) use(copy.error()), copy.reset();
//
// Engine thread, or whoever cancels under the queue pair's send lock.
#pragma once

#include "local/copy_crew.h"
#include "local/pieces.h"
#include "peers/peer.h"

namespace gdr::local {

// Still idle after a start: whoever copies has too much in flight, and it is to be started again.
class Copy {
 public:
  // One side at least is memory of a client that copies it.
  using Side = memory::PeerMemoryClient::Side;
  using Sequence = memory::PeerMemoryClient::Sequence;
  using Turn = memory::PeerMemoryClient::Turn;
  void start_here(memory::PeerMemoryClient& client, Side to, Side from, std::uint64_t length,
                  Turn turn = {});
  // The same between such memory and host memory; `write`: to the former.
  void start_with_host(const memory::PinnedMemory& memory, std::uint64_t address, void* host,
                       std::uint64_t length, bool write, Turn turn = {});
  // `offset` counts within the piece; `write`: from staging to the piece.
  void start_served(const Piece& piece, std::uint64_t offset, std::uint64_t length, bool write,
                    peers::Peer& peer, rnic::Token self, std::uint64_t staging);
  // By the CPU: of the crew's threads, or without one at once, by the caller.
  void start_carried(const Carry& carry, CopyCrew* crew);
  // Becomes a copy that a client makes; that one is idle then.
  void take_over(Copy& other);
  // Takes back what another has been asked for, or leaves it to itself if it has begun.
  void withdraw(int error);
  void set_done(int error) { state_ = State::kDone, error_ = error; }

  bool idle() const { return state_ == State::kIdle; }
  // Whether it ends without anybody waking the engine thread.
  bool is_to_be_polled() const { return state_ == State::kDevice || state_ == State::kCarried; }
  // A client's copy, while it is under way: client null where it is none.
  struct InFlight {
    memory::PeerMemoryClient* client = nullptr;
    memory::PeerMemoryClient::Ticket ticket = 0;
  };
  InFlight in_flight() const {
    return state_ == State::kDevice ? InFlight{client_, ticket_} : InFlight{};
  }
  // True once it has ended; error() then says how, until the next start or reset.
  bool poll();
  int error() const { return error_; }
  void reset() { state_ = State::kIdle, error_ = 0, abandoned_ = false, wanted_at_ = 0; }
  // Ended here, but the other process may still be at it: the staging must not be used again.
  bool abandoned() const { return abandoned_; }

 private:
  void poll_served();
  void wait_for_place(peers::Peer& peer);

  enum class State { kIdle, kDevice, kServed, kCarried, kDone };
  State state_ = State::kIdle;
  int error_ = 0;
  memory::PeerMemoryClient* client_ = nullptr;
  memory::PeerMemoryClient::Ticket ticket_ = 0;
  rnic::ServiceRequest* request_ = nullptr;
  rnic::Token self_ = 0;
  peers::Peer* peer_ = nullptr;
  CopyCrew* crew_ = nullptr;
  CrewJob job_;
  Nanoseconds wanted_at_ = 0, asked_at_ = 0;  // wanted: while the other has no place for it
  bool abandoned_ = false;
};

}  // namespace gdr::local
