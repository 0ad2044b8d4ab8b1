#include "local/move_now.h"

#include <algorithm>
#include <cerrno>
#include <cstddef>

#include "local/process_memory.h"
#include "memory/fault_guard.h"
#include "memory/host_pages.h"
#include "memory/own_memory.h"

namespace gdr::local {
namespace {

// Room for one entry more than a list holds: write_process splits one.
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

Piece part_of(const Piece& piece, std::uint64_t offset, std::uint64_t length) {
  Piece part = piece;
  part.address += offset;
  part.key_address += offset;
  part.length = length;
  return part;
}

int move_one(const Piece& from, const Piece& to, const Elsewhere& there) {
  PieceList source, target;
  source.add(from);
  target.add(to);
  return move_now(source, target, there);
}

int fill_with_zeros(const Piece& to, const Elsewhere& there) {
  static const std::byte zeros[16 << 10]{};
  for (std::uint64_t done = 0; done < to.length;) {
    const std::uint64_t length = std::min<std::uint64_t>(sizeof zeros, to.length - done);
    if (const int error = move_one(plain_piece(zeros, length), part_of(to, done, length), there)) {
      return error;
    }
    done += length;
  }
  return 0;
}

// Where one side is nobody's memory: each stretch that lies in one piece on both sides by itself.
// Cold.
int move_around_nowhere(const PieceList& from, const PieceList& to, const Elsewhere& there) {
  const Piece *source = from.pieces().data(), *target = to.pieces().data();
  std::uint64_t read = 0, written = 0;  // of these pieces
  for (std::uint64_t left = std::min(from.bytes(), to.bytes()); left > 0;) {
    const std::uint64_t length = std::min({left, source->length - read, target->length - written});
    if (target->where != Where::kNowhere) {
      const Piece place = part_of(*target, written, length);
      const int error = source->where == Where::kNowhere
                            ? fill_with_zeros(place, there)
                            : move_one(part_of(*source, read, length), place, there);
      if (error != 0) return error;
    }
    left -= length, read += length, written += length;
    if (read == source->length) ++source, read = 0;
    if (written == target->length) ++target, written = 0;
  }
  return 0;
}

}  // namespace

int move_now(const PieceList& from, const PieceList& to, const Elsewhere& there) {
  if (from.has_nowhere() || to.has_nowhere()) return move_around_nowhere(from, to, there);
  Vectors source(from), target(to);
  const bool on_demand = from.has_on_demand() || to.has_on_demand();
  Peer* const peer = there.peer;
  if (elsewhere(to)) {
    const int done = on_demand
                         ? kNotFew
                         : write_few(peer->memory_file(), there.held, source.span(), target.span());
    if (done != kNotFew) return done;
    return write_process({peer->pid(), there.held}, source.span(), target.span());
  }
  if (elsewhere(from)) {
    const int done = on_demand
                         ? kNotFew
                         : read_few(peer->memory_file(), there.held, target.span(), source.span());
    if (done != kNotFew) return done;
    return read_process({peer->pid(), there.held}, target.span(), source.span());
  }
  if (on_demand) return memory::copy_own(source.span(), target.span());
  const bool is_there = memory::without_fault([&] { copy_within(source.span(), target.span()); });
  return is_there ? 0 : EFAULT;
}

bool can_be_touched(const PieceList& from, const PieceList& to) {
  for (const PieceList* list : {&from, &to}) {
    for (const Piece& piece : list->pieces()) {
      if (piece.remote || piece.where != Where::kHere || piece.length == 0) continue;
      if (!memory::fault_in(piece.address, piece.length, list == &to)) return false;
    }
  }
  return true;
}

}  // namespace gdr::local
