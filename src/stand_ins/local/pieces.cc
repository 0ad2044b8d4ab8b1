#include "local/pieces.h"

namespace gdr::local {

void PieceList::put_first(const Piece& piece) {
  std::copy_backward(pieces_.begin(), pieces_.begin() + count_, pieces_.begin() + count_ + 1);
  pieces_.front() = piece;
  ++count_;
  bytes_ += piece.length;
}

void PieceList::drop(std::uint64_t bytes) {
  const PieceList all = *this;
  clear();
  for (const Piece& piece : all.pieces()) {
    const std::uint64_t dropped = std::min(bytes, piece.length);
    bytes -= dropped;
    Piece& rest = next();
    rest = piece;
    rest.length -= dropped;
    rest.address += dropped;
    rest.key_address += dropped;
    take_next();
  }
}

void PieceList::truncate(std::uint64_t bytes) {
  std::uint64_t kept = 0;
  std::size_t count = 0;
  for (; count < count_ && kept < bytes; ++count) {
    Piece& piece = pieces_[count];
    if (piece.length > bytes - kept) piece.length = bytes - kept;
    kept += piece.length;
  }
  count_ = count;
  bytes_ = kept;
}

}  // namespace gdr::local
