#include "rsockets/settings.h"

#include <gtest/gtest.h>

#include "scratch_folder.h"

namespace gdr::rsockets {
namespace {

TEST(RsocketSettings, AreThoseOfTheManualPageWithoutFiles) {
  const test::ScratchFolder folder;
  const Settings read = read_settings(folder.root());
  EXPECT_EQ(read.receive_bytes, 131072U);
  EXPECT_EQ(read.send_queue, 384U);
  EXPECT_EQ(read.mappings, 0U);
}

TEST(RsocketSettings, ReadEachFileOfTheManualPage) {
  const test::ScratchFolder folder;
  folder.write("mem_default", "65536\n");
  folder.write("wmem_default", " 32768");
  folder.write("sqsize_default", "100\n");
  folder.write("rqsize_default", "200\n");
  folder.write("inline_default", "16\n");
  folder.write("iomap_size", "5\n");
  folder.write("polling_time", "0\n");
  folder.write("wake_up_interval", "250\n");
  const Settings read = read_settings(folder.root());
  EXPECT_EQ(read.receive_bytes, 65536U);
  EXPECT_EQ(read.send_bytes, 32768U);
  EXPECT_EQ(read.send_queue, 100U);
  EXPECT_EQ(read.receive_queue, 200U);
  EXPECT_EQ(read.inline_bytes, 16U);
  EXPECT_EQ(read.mappings, 5U);
  EXPECT_EQ(read.polling_us, 0U);
  EXPECT_EQ(read.wake_up_ms, 250U);
}

TEST(RsocketSettings, TakeTheNearestThatWorksAndIgnoreWhatIsNoNumber) {
  const test::ScratchFolder folder;
  folder.write("mem_default", "99999999999999999999999");
  folder.write("wmem_default", "1");
  folder.write("sqsize_default", "none");
  folder.write("rqsize_default", "-5");
  folder.write("inline_default", "");
  folder.write("iomap_size", "300");
  const Settings read = read_settings(folder.root());
  EXPECT_EQ(read.receive_bytes, kLargestBuffer);
  EXPECT_EQ(read.send_bytes, 2 * kSmallestSendBytes);
  EXPECT_EQ(read.send_queue, 384U);
  EXPECT_EQ(read.receive_queue, 384U);
  EXPECT_EQ(read.inline_bytes, 64U);
  EXPECT_EQ(read.mappings, 256U);
}

}  // namespace
}  // namespace gdr::rsockets
