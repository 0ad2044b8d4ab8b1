#include "local/move_now.h"

#include <unistd.h>

#include "local/process_memory.h"

namespace gdr::local {
namespace {

// Room for one entry more than a list holds: write_process splits the last.
struct Vectors {
  iovec entries[PieceList::kMost + 1];
  std::size_t count = 0;

  explicit Vectors(const PieceList& list) {
    for (const Piece& piece : list.pieces()) {
      entries[count++] = {reinterpret_cast<void*>(piece.address), piece.length};
    }
  }
  std::span<iovec> span() { return {entries, count}; }
};

bool elsewhere(const PieceList& list) {
  for (const Piece& piece : list.pieces()) {
    if (piece.where != Where::kHere) return true;
  }
  return false;
}

}  // namespace

int move_now(const PieceList& from, const PieceList& to, Peer* peer) {
  Vectors source(from), target(to);
  if (elsewhere(to)) return write_process(peer->pid(), source.span(), target.span());
  if (elsewhere(from)) return read_process(peer->pid(), target.span(), source.span());
  copy_within(source.span(), target.span());
  return 0;
}

bool can_be_touched(const PieceList& from, const PieceList& to) {
  for (const PieceList* list : {&from, &to}) {
    for (const Piece& piece : list->pieces()) {
      if (piece.where != Where::kHere) continue;
      for (const std::uint64_t address : {piece.address, piece.address + piece.length - 1}) {
        std::byte byte;
        iovec here{&byte, 1}, there{reinterpret_cast<void*>(address), 1};
        if (read_process(getpid(), {&here, 1}, {&there, 1}) != 0) return false;
      }
    }
  }
  return true;
}

}  // namespace gdr::local
