#include "net/burst_socket.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <random>
#include <thread>

#include "base/unique_fd.h"
#include "net/udp_options.h"
#include "packets.h"
#include "soon.h"

namespace gdr::net {
namespace {

constexpr int kLongestPause = 500;  // milliseconds, of threads that send without one
constexpr int kOften = 40;          // more often than a length has to come back

UniqueFd bound_socket(const wire::Address& address) {
  UniqueFd opened(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const SocketAddress own = socket_address(address, wire::kRocePort);
  EXPECT_TRUE(set_packet_options(opened.get(), true));
  EXPECT_EQ(bind(opened.get(), own.get(), own.length), 0);
  return opened;
}

// A burst of packets whose every byte is `mark`, in so many pieces of memory.
int send_marked(BurstSocket& sender, const SocketAddress& to, std::uint32_t packet_bytes,
                std::uint32_t bytes, std::byte mark = std::byte{1}, std::size_t pieces = 1) {
  std::vector<std::byte> memory(bytes, mark);
  std::vector<iovec> parts;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t from = bytes * i / pieces;
    parts.push_back({memory.data() + from, bytes * (i + 1) / pieces - from});
  }
  return sender.send(to, {.destination = address_of(*to.get()),
                          .pieces = parts,
                          .packet_bytes = packet_bytes,
                          .bytes = bytes});
}

class BurstSocketTest : public testing::Test {
 protected:
  // The next datagram's length; 0: none came.
  std::size_t receive_one(int patience = test::kLastResortMs) {
    pollfd wait{receiver_.get(), POLLIN, 0};
    if (poll(&wait, 1, patience) != 1) return 0;
    const ssize_t got = recv(receiver_.get(), bytes_.data(), bytes_.size(), 0);
    return got < 0 ? 0 : static_cast<std::size_t>(got);
  }
  void expect_packets(std::uint32_t packet_bytes, std::uint32_t bytes) {
    for (std::uint32_t left = bytes; left > 0;) {
      const std::uint32_t next = std::min(left, packet_bytes);
      ASSERT_EQ(receive_one(), next) << bytes << " bytes in packets of " << packet_bytes;
      left -= next;
    }
  }
  int length_of_socket() const {
    int cut = -1;
    socklen_t length = sizeof cut;
    EXPECT_EQ(getsockopt(sending_.get(), SOL_UDP, UDP_SEGMENT, &cut, &length), 0);
    return cut;
  }

  const wire::Address here_ = address_of_this_test(1), there_ = address_of_this_test(2);
  const UniqueFd sending_ = bound_socket(here_), receiver_ = bound_socket(there_);
  const SocketAddress to_ = socket_address(there_, wire::kRocePort);
  BurstSocket sender_{sending_.get()};
  std::array<std::byte, 65536> bytes_;
};

TEST_F(BurstSocketTest, ALengthThatComesBackBecomesTheSocketsUntilAnotherOneDoes) {
  ASSERT_EQ(send_marked(sender_, to_, 80, 100), 0);
  EXPECT_EQ(length_of_socket(), 0);
  expect_packets(80, 100);
  for (const std::uint32_t length : {80u, 144u, 80u}) {
    for (int i = 0; i < kOften; ++i) {
      ASSERT_EQ(send_marked(sender_, to_, length, length + 20), 0);
      expect_packets(length, length + 20);
    }
    EXPECT_EQ(length_of_socket(), static_cast<int>(length));
  }
  for (int i = 0; i < kOften; ++i) {
    ASSERT_EQ(send_marked(sender_, to_, 1000, 1000), 0);
    expect_packets(1000, 1000);
  }
  EXPECT_EQ(length_of_socket(), 0) << "single packets need none";
}

TEST_F(BurstSocketTest, LongPacketsAreNotWorthAChange) {
  for (int i = 0; i < kOften; ++i) {
    ASSERT_EQ(send_marked(sender_, to_, 4096, 3 * 4096), 0);
    expect_packets(4096, 3 * 4096);
  }
  EXPECT_EQ(length_of_socket(), 0);
}

TEST_F(BurstSocketTest, EachBurstIsCutRightWhateverCameBefore) {
  const unsigned seed = std::random_device()();
  SCOPED_TRACE(seed);
  std::mt19937 random(seed);
  constexpr std::uint32_t kLengths[] = {24, 80, 400, 2000};
  for (int i = 0; i < 2000; ++i) {
    const std::uint32_t length = kLengths[random() % std::size(kLengths)];
    const std::uint32_t bytes = length * (1 + random() % 4) - random() % length;
    const std::uint32_t packet = std::min(length, bytes);
    const int times = random() % 8 == 0 ? kOften : 1;
    for (int n = 0; n < times; ++n) {
      ASSERT_EQ(send_marked(sender_, to_, packet, bytes, std::byte{1}, 1 + random() % 3), 0);
      expect_packets(packet, bytes);
    }
  }
}

// While one thread leaves the cutting to the socket, no other may change the length. Two that do so
// at the same moment are too rare to be waited for: the thread sanitizer sees what would let them.
TEST_F(BurstSocketTest, ThreadsBesideEachOtherHaveTheirBurstsCutRight) {
  constexpr int kBursts = 5000;
  constexpr std::uint32_t kLengths[] = {80, 200};
  std::atomic<int> failed{0};
  std::vector<std::thread> threads;
  for (const std::uint32_t length : kLengths) {
    threads.emplace_back([&, length] {
      for (int i = 0; i < kBursts; ++i) {
        if (send_marked(sender_, to_, length, 2 * length, std::byte(length)) != 0) ++failed;
      }
    });
  }
  int received = 0, wrong = 0;
  // Some may be lost, which does not matter here.
  while (const std::size_t got = receive_one(kLongestPause)) {
    if (got != std::to_integer<std::size_t>(bytes_[0])) ++wrong;
    ++received;
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(failed.load(), 0);
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(received, 0);
}

TEST_F(BurstSocketTest, AfterARefusalEachBurstNamesItsLength) {
  for (int i = 0; i < kOften; ++i) {
    ASSERT_EQ(send_marked(sender_, to_, 24, 48), 0);
    expect_packets(24, 48);
  }
  ASSERT_EQ(length_of_socket(), 24);
  EXPECT_EQ(send_marked(sender_, to_, 24, 24 * 1000), EINVAL) << "more than the kernel cuts";
  for (int i = 0; i < kOften; ++i) {
    ASSERT_EQ(send_marked(sender_, to_, 24, 48), 0);
    expect_packets(24, 48);
  }
  EXPECT_EQ(length_of_socket(), 0);
}

}  // namespace
}  // namespace gdr::net
