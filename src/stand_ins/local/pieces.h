// Piece: a stretch of bytes on one side of a work request, checked against its key. PieceList: the
// side, in order; fixed in size, so that the hot path allocates nothing.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "memory/pinned_memory.h"
#include "rnic/queue_pair.h"

namespace gdr::local {

enum class Where {
  kHere,  // this process's: `address` is the memory's, `memory` what copies it (null: the CPU can)
  kProcess,  // another's, in reach of process_vm_*: `address` in that process
  kServed,   // another's, copied by its service thread: `key_address` under `key`
  kNowhere,  // nobody's: bytes for it are dropped, bytes from it are zero
};

// No default values: lists of these are made on the hot path, and most of their room is never used.
struct Piece {
  Where where;
  std::uint64_t address;
  std::uint64_t length;
  memory::PinnedMemory* memory;
  std::uint64_t key_address;
  std::uint32_t key;
  std::uint32_t protection_domain;
  bool on_demand;  // pages may be missing: never touched, only copied by the kernel
  bool remote;     // of the side that the request goes to, also within one process

  bool cpu_reachable() const {
    return where != Where::kServed && (memory == nullptr || memory->cpu_reachable());
  }
};

class PieceList {
 public:
  // Room for a request's segments, a GRH before them and a split tail behind them.
  static constexpr std::size_t kMost = rnic::kMaxSegments + 2;

  PieceList() {}  // NOLINT(modernize-use-equals-default): leaves the room uninitialised
  PieceList(const PieceList& other) { *this = other; }
  PieceList& operator=(const PieceList& other) {
    count_ = other.count_;
    bytes_ = other.bytes_;
    has_nowhere_ = other.has_nowhere_;
    has_on_demand_ = other.has_on_demand_;
    std::copy_n(other.pieces_.begin(), count_, pieces_.begin());
    return *this;
  }

  void clear() { count_ = 0, bytes_ = 0, has_nowhere_ = has_on_demand_ = false; }
  void add(const Piece& piece) {
    next() = piece;
    take_next();
  }
  // Hot: a piece is written where it stays, every field of it, and then taken. A copy right behind
  // the stores would wait for them.
  Piece& next() { return pieces_[count_]; }
  void take_next() {
    const Piece& piece = next();
    if (piece.length == 0 || count_ == kMost) return;
    ++count_;
    bytes_ += piece.length;
    has_nowhere_ |= piece.where == Where::kNowhere;
    has_on_demand_ |= piece.on_demand;
  }
  // Before all others: bytes of this process that the CPU reaches.
  void put_first(const Piece& piece);
  // Takes the first `bytes` away.
  void drop(std::uint64_t bytes);
  // Keeps the first `bytes`.
  void truncate(std::uint64_t bytes);

  std::span<const Piece> pieces() const { return {pieces_.data(), count_}; }
  std::span<Piece> pieces() { return {pieces_.data(), count_}; }
  std::uint64_t bytes() const { return bytes_; }
  bool cpu_reachable() const {
    for (const Piece& piece : pieces()) {
      if (!piece.cpu_reachable()) return false;
    }
    return true;
  }
  bool has_nowhere() const { return has_nowhere_; }
  bool has_on_demand() const { return has_on_demand_; }

 private:
  std::array<Piece, kMost + 1> pieces_;
  std::size_t count_ = 0;
  std::uint64_t bytes_ = 0;
  bool has_nowhere_ = false, has_on_demand_ = false;
};

// Bytes of this process that need no key: inline data, headers.
inline Piece plain_piece(const void* bytes, std::uint64_t length) {
  Piece piece{};
  piece.address = reinterpret_cast<std::uint64_t>(bytes);
  piece.length = length;
  return piece;
}

// Bytes of this process that a key was checked for.
inline void fill_piece_here(const rnic::Place& place, std::uint64_t length, Piece* piece) {
  piece->where = place.reach == rnic::Reach::kNothing ? Where::kNowhere : Where::kHere;
  piece->address = place.address;
  piece->length = length;
  piece->memory = place.reach == rnic::Reach::kServed ? place.memory : nullptr;
  piece->key_address = 0;
  piece->key = 0;
  piece->protection_domain = 0;
  piece->on_demand = place.reach == rnic::Reach::kOnDemand;
  piece->remote = false;
}

}  // namespace gdr::local
