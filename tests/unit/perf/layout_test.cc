#include "perf/layout.h"

#include <gtest/gtest.h>

#include <bit>
#include <set>

namespace gdr::perf {
namespace {

Load checked(Transport transport = Transport::kRc) {
  Load load;
  load.transport = transport;
  load.check = true;
  return load;
}

TEST(Layout, HasOnePlaceOfEachQueuePairWithoutCheck) {
  const Layout layout = make_layout({}, 100, 3);
  EXPECT_EQ(layout.slots, 1u);
  EXPECT_EQ(layout.stride, 128u);
  EXPECT_EQ(layout.bytes(), 2 * 3 * 128u);
  EXPECT_EQ(layout.slot(12345), 0u);
}

TEST(Layout, HasAPlaceForEveryRequestUnderWayWithCheck) {
  EXPECT_EQ(make_layout(checked(), 64, 1).slots, 128u);
  Load load = checked();
  load.depth = 1;  // never the same place twice running: what was there before would pass for new
  EXPECT_EQ(make_layout(load, 64, 1).slots, 2u);
  load.depth = 100;
  EXPECT_EQ(make_layout(load, 64, 1).slots, 64u);
}

TEST(Layout, HasFewerPlacesWhereTheyAreLarge) {
  EXPECT_EQ(make_layout(checked(), 8 << 20, 1).slots, 8u);
  EXPECT_EQ(make_layout(checked(), 8 << 20, 4).slots, 2u);
  EXPECT_EQ(make_layout(checked(), std::uint64_t{1} << 30, 4096).slots, 2u);
}

TEST(Layout, RotatesAsManyStagingBuffersAsTheDepthUpToEight) {
  Load load;
  load.near = {Place::Kind::kStaged, 0};
  EXPECT_EQ(make_layout(load, 4096, 1).slots, 8u);
  load.depth = 4;
  EXPECT_EQ(make_layout(load, 4096, 1).slots, 4u);
  load.depth = 1;  // one is copied while the other is sent
  EXPECT_EQ(make_layout(load, 4096, 1).slots, 2u);
}

TEST(Layout, LeavesRoomForTheRouteHeaderOfDatagrams) {
  const Layout layout = make_layout(checked(Transport::kUd), 64, 1);
  EXPECT_GE(layout.head, 40u);
  EXPECT_EQ(layout.stride, 64u + layout.head);
}

TEST(Layout, HoldsAnAtomicWhateverTheSize) { EXPECT_GE(make_layout({}, 1, 1).stride, 8u); }

TEST(Layout, HasNoTwoPlacesThatOverlap) {
  for (const Transport transport : {Transport::kRc, Transport::kUd}) {
    const Layout layout = make_layout(checked(transport), 100, 5);
    ASSERT_TRUE(std::has_single_bit(layout.slots));
    std::set<std::uint64_t> places;
    for (std::uint32_t queue = 0; queue < 5; ++queue) {
      for (std::uint64_t message = 0; message < layout.slots; ++message) {
        places.insert(layout.incoming(queue) + layout.slot(message));
        places.insert(layout.outgoing(queue) + layout.slot(message));
      }
      EXPECT_EQ(layout.slot(layout.slots), layout.slot(0));
    }
    ASSERT_EQ(places.size(), 2u * 5 * layout.slots);
    std::uint64_t end = 0;
    for (const std::uint64_t place : places) {
      EXPECT_GE(place, end);
      end = place + layout.stride;
    }
    EXPECT_EQ(end, layout.bytes());
  }
}

}  // namespace
}  // namespace gdr::perf
