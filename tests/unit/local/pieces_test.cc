#include "local/pieces.h"

#include <gtest/gtest.h>

namespace gdr::local {
namespace {

constexpr std::uint8_t one = 1;

TEST(PieceList, TruncatesWithinAndBetweenPieces) {
  PieceList pieces;
  for (const std::uint64_t length : {10, 0, 20, 30}) pieces.add(plain_piece(&one, length));
  EXPECT_EQ(pieces.pieces().size(), 3u);  // none that is empty
  EXPECT_EQ(pieces.bytes(), 60u);
  pieces.truncate(70);
  EXPECT_EQ(pieces.bytes(), 60u);
  pieces.truncate(30);
  EXPECT_EQ(pieces.pieces().size(), 2u);
  pieces.truncate(11);
  EXPECT_EQ(pieces.pieces().back().length, 1u);
  pieces.truncate(0);
  EXPECT_TRUE(pieces.pieces().empty());
}

TEST(PieceList, TakesNoMoreThanItHasRoomFor) {
  PieceList pieces;
  for (std::size_t i = 0; i < PieceList::kMost + 5; ++i) pieces.add(plain_piece(&one, 1));
  EXPECT_EQ(pieces.pieces().size(), PieceList::kMost);
  EXPECT_EQ(pieces.bytes(), PieceList::kMost);
}

}  // namespace
}  // namespace gdr::local
