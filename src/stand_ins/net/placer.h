// Placer: bytes of arrived packets on their way into GPU memory. They are gathered in pinned memory
// of the library's own, and copied from there in long pieces while further packets are taken.
//
//   const auto ticket = placer.put(place, bytes, joins, loss);   // the packet may go now
//   placer.advance();                                            // time and again
//   if (placer.placed() >= *ticket) ...                          // all up to this piece is there
//
// Pieces are placed in the order in which they were put: one begins where the one before it has
// ended, or behind it on the same stream of a GPU. Host memory takes part where it has to keep its
// place behind a GPU's. While a piece waits for its turn, bytes that follow it join it.
//
// The caller keeps the memory registered until a piece is placed. Any thread: one at a time calls
// the driver, in advance(), and meanwhile others put.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>

#include "base/spin_lock.h"
#include "net/pinned_pool.h"
#include "rnic/region_table.h"

namespace gdr::net {

class Placer {
 public:
  using Ticket = std::uint64_t;  // pieces are counted from 1
  static constexpr Ticket kNone = ~Ticket{0};
  // What one queue pair has lost: its first piece that could not be placed. Nothing of it is placed
  // from then on.
  using Loss = std::atomic<Ticket>;

  explicit Placer(PinnedPool& pool) : pool_(pool) {}

  // `joins`: may become visible together with the bytes that were put before. Nothing: there is no
  // room for it now.
  std::optional<Ticket> put(const rnic::Place& to, std::span<const std::byte> bytes, bool joins,
                            Loss& loss);
  // Goes on as far as it can without waiting; not at all while another thread does.
  void advance();
  // Waits until that piece is placed.
  void drain(Ticket ticket);
  // Every piece up to this one is placed, or lost.
  Ticket placed() const { return placed_.load(std::memory_order_acquire); }
  bool is_idle() const { return placed() == put_.load(std::memory_order_acquire); }

 private:
  // One is copied, and the next is ready to begin. Further ones begin as well where none can join
  // them any more: short copies take the driver longer than the GPU.
  static constexpr std::size_t kUnderWay = 2, kMostUnderWay = 16;

  struct Block {
    std::byte* bytes = nullptr;
    std::size_t used = 0;
    std::size_t pieces = 0;  // that are not placed
  };
  struct Piece {
    rnic::Place to;
    const std::byte* bytes;
    std::size_t length;
    Block* block;
    Loss* loss;
    Ticket ticket;
    memory::PeerMemoryClient::Ticket copy;
    bool is_done;
  };

  Block* block_for(std::size_t bytes);
  bool extend(const rnic::Place& to, std::span<const std::byte> bytes, const Loss& loss);
  bool start_next();
  Piece* next_to_start();
  enum class Went { kStarted, kDone, kWaits };
  Went start(Piece& piece);
  static bool has_ended(Piece& piece);
  static void lose(const Piece& piece);
  void retire_front();

  PinnedPool& pool_;
  // Held by whoever calls the driver; before lock_, which it takes only when a piece starts or has
  // ended: who puts has it for each packet.
  std::mutex driving_;
  std::deque<Piece*> under_way_;                         // started, in order; under driving_
  memory::PeerMemoryClient::Sequence sequence_;          // of what GPUs copy; the same
  memory::PeerMemoryClient* sequence_client_ = nullptr;  // the same
  SpinLock lock_;             // all below; no call under it but to copy one packet's bytes
  std::deque<Block> blocks_;  // in order; the last is being filled, and stays
  // In order. One that has started changes under driving_ only, and stays where it is.
  std::deque<Piece> pieces_;
  std::size_t started_ = 0;                     // of them
  memory::PeerMemoryClient* client_ = nullptr;  // whose copies the blocks are locked for
  std::atomic<Ticket> put_{0}, placed_{0};
};

}  // namespace gdr::net
