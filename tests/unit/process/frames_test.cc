#include "process/frames.h"

#include <gtest/gtest.h>

namespace gdr::process {
namespace {

Bytes bytes_of(std::string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

TEST(Frames, MessagesCutAnywhereArriveWhole) {
  Bytes stream;
  for (std::uint8_t kind = 0; kind < 20; ++kind) {
    const Bytes one = frame(kind, bytes_of(std::string(kind, 'x')));
    stream.insert(stream.end(), one.begin(), one.end());
  }
  for (std::size_t step = 1; step < 40; ++step) {
    FrameBuffer buffer(100);
    std::uint8_t next = 0;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      buffer.add(std::span(stream).subspan(at, std::min(step, stream.size() - at)));
      for (;;) {
        const Result<std::optional<Received>> message = buffer.next();
        ASSERT_TRUE(message);
        if (!*message) break;
        EXPECT_EQ((*message)->kind, next);
        EXPECT_EQ((*message)->bytes.size(), next++);
      }
    }
    EXPECT_EQ(next, 20);
  }
}

TEST(Frames, LongerThanAllowedIsAnErrorBeforeItHasCome) {
  FrameBuffer buffer(4);
  const Bytes all = frame(1, bytes_of("12345"));
  buffer.add(std::span(all).first(kFrameHead));
  EXPECT_FALSE(buffer.next());
}

}  // namespace
}  // namespace gdr::process
