// ReadAhead: bytes of GPU memory that one queue pair sends, read in long pieces into pinned memory
// of the library's own before their packets are made. Packets take them in order; any other packet,
// such as one that is sent again, has the reading begin anew there.
//
//   switch (ahead.find({message, offset}, bytes, pieces)) ...   // where a packet's bytes are
//   ahead.begin({message, offset});                             // none are: from there on
//   while (ahead.has_room()) ahead.read(place, bytes);          // what follows, in order
//   ahead.sent();                                               // what was found is not needed now
//
// The caller keeps the memory registered while copies are under way. Under the queue pair's send
// lock. Hot.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "net/pinned_pool.h"
#include "rnic/region_table.h"

namespace gdr::net {

class ReadAhead {
 public:
  // Of a byte: messages have rising numbers, not necessarily without gaps.
  struct Position {
    std::uint64_t message = 0;
    std::uint64_t offset = 0;
    bool operator==(const Position&) const = default;
  };
  enum class Found {
    kHere,
    kLater,   // they are being read
    kNot,     // nobody reads them
    kFailed,  // their memory is gone
  };

  explicit ReadAhead(PinnedPool& pool) : pool_(pool) {}

  // `*at`, and how many of the `*bytes` lie there.
  Found find(Position position, const std::byte** at, std::size_t* bytes);
  void begin(Position position);
  // Where what is read next belongs; the caller moves it over bytes that need no reading.
  Position& end() { return end_; }
  bool has_room() const { return pieces_.size() < kMostPieces && ahead_ < kMostBytes; }
  // The bytes at end() from that place on: how many of them are being read, 0 if none can be now.
  std::size_t read(const rnic::Place& from, std::size_t bytes);

  void advance();  // looks which copies have ended
  bool is_copying() const { return copying_ > 0; }
  void finish();  // waits for all copies
  void sent();
  void clear();  // gives all memory back; nothing is being copied
  bool is_empty() const { return pieces_.empty() && old_.empty(); }

 private:
  static constexpr std::size_t kMostPieces = 32;
  static constexpr std::size_t kMostBytes = 512 << 10;

  enum class State : std::uint8_t { kCopying, kHere, kFailed };
  struct Block {
    std::byte* bytes;
    std::size_t used, pieces;
  };
  struct Piece {
    Position begin;
    std::size_t length;
    const std::byte* bytes;
    Block* block;
    memory::PeerMemoryClient* client;
    memory::PeerMemoryClient::Ticket copy;
    State state;
    bool is_used;  // a packet has its bytes
  };

  void look(Piece& piece);
  Block* block_for(memory::PeerMemoryClient& client, std::size_t bytes);
  void drop(const Piece& piece);

  PinnedPool& pool_;
  std::deque<Piece> pieces_;  // in order
  std::vector<Piece> old_;    // not wanted any more, but copied, or found since sent()
  std::deque<Block> blocks_;  // the last is being filled
  Position end_;
  std::size_t ahead_ = 0;  // bytes in pieces_
  std::size_t copying_ = 0;
};

}  // namespace gdr::net
