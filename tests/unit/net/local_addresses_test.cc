#include "net/local_addresses.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "net/socket_address.h"
#include "net/udp_options.h"

namespace gdr::net {
namespace {

// Each test has its own: they run at the same time.
wire::Address loopback(std::uint8_t last) {
  wire::Address address{};
  address[10] = address[11] = 0xff;
  address[12] = 127, address[13] = 91, address[14] = 7, address[15] = last;
  return address;
}

UniqueFd roce_socket(const wire::Address& address) {
  UniqueFd made(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const SocketAddress own = socket_address(address, wire::kRocePort);
  const bool bound = set_option(made.get(), SOL_SOCKET, SO_REUSEPORT, 1) &&
                     bind(made.get(), own.get(), own.length) == 0;
  if (!bound) made.reset();
  return made;
}

TEST(RocePort, IsSomebodysWhileASocketHasItAtTheAddress) {
  EXPECT_FALSE(somebody_has_roce_port(loopback(1)));
  UniqueFd one = roce_socket(loopback(1));
  ASSERT_TRUE(one);
  EXPECT_TRUE(somebody_has_roce_port(loopback(1)));
  EXPECT_FALSE(somebody_has_roce_port(loopback(2)));
  one.reset();
  EXPECT_FALSE(somebody_has_roce_port(loopback(1)));
}

// The kernel shows the sockets of a port from the newest on, some 30 at a time.
TEST(RocePort, IsSomebodysAlsoWhileNewerSocketsClose) {
  const UniqueFd stays = roce_socket(loopback(3));
  ASSERT_TRUE(stays);
  std::atomic<bool> over{false};
  std::thread closes([&over] {
    std::vector<UniqueFd> others;
    while (!over.load()) {
      while (others.size() < 64) others.push_back(roce_socket(loopback(4)));
      while (!others.empty()) others.pop_back();
    }
  });
  int missed = 0;
  for (int i = 0; i < 2000; ++i) missed += somebody_has_roce_port(loopback(3)) ? 0 : 1;
  over.store(true);
  closes.join();
  EXPECT_EQ(missed, 0);
}

}  // namespace
}  // namespace gdr::net
