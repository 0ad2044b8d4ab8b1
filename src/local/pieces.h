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
  kHere,  // this process's: `address` is the memory's, `memory` its owner (null: plain host bytes)
  kProcess,  // another's, in reach of process_vm_*: `address` in that process
  kServed,   // another's, copied by its service thread: `key_address` under `key`
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
    std::copy_n(other.pieces_.begin(), count_, pieces_.begin());
    return *this;
  }

  void clear() { count_ = 0, bytes_ = 0; }
  void add(const Piece& piece) {
    if (piece.length == 0 || count_ == kMost) return;
    pieces_[count_++] = piece;
    bytes_ += piece.length;
  }
  // Keeps the first `bytes`.
  void truncate(std::uint64_t bytes);

  std::span<const Piece> pieces() const { return {pieces_.data(), count_}; }
  std::span<Piece> pieces() { return {pieces_.data(), count_}; }
  std::uint64_t bytes() const { return bytes_; }
  bool cpu_reachable() const;

 private:
  std::array<Piece, kMost> pieces_;
  std::size_t count_ = 0;
  std::uint64_t bytes_ = 0;
};

// Bytes of this process that need no key: inline data, headers.
inline Piece plain_piece(const void* bytes, std::uint64_t length) {
  Piece piece{};
  piece.address = reinterpret_cast<std::uint64_t>(bytes);
  piece.length = length;
  return piece;
}

}  // namespace gdr::local
