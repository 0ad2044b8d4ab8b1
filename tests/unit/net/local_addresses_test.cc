#include "net/local_addresses.h"

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <thread>
#include <vector>

#include "base/unique_fd.h"
#include "net/socket_address.h"
#include "net/udp_options.h"
#include "packets.h"

namespace gdr::net {
namespace {

UniqueFd roce_socket(const wire::Address& address) {
  UniqueFd made(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const SocketAddress own = socket_address(address, wire::kRocePort);
  const bool bound = set_option(made.get(), SOL_SOCKET, SO_REUSEPORT, 1) &&
                     bind(made.get(), own.get(), own.length) == 0;
  if (!bound) made.reset();
  return made;
}

TEST(RocePort, IsSomebodysWhileASocketHasItAtTheAddress) {
  EXPECT_FALSE(somebody_has_roce_port(address_of_this_test(1)));
  UniqueFd one = roce_socket(address_of_this_test(1));
  ASSERT_TRUE(one);
  EXPECT_TRUE(somebody_has_roce_port(address_of_this_test(1)));
  EXPECT_FALSE(somebody_has_roce_port(address_of_this_test(2)));
  one.reset();
  EXPECT_FALSE(somebody_has_roce_port(address_of_this_test(1)));
}

// The kernel shows the sockets of a port from the newest on, some 30 at a time.
TEST(RocePort, IsSomebodysAlsoWhileNewerSocketsClose) {
  const UniqueFd stays = roce_socket(address_of_this_test(1));
  ASSERT_TRUE(stays);
  std::atomic<bool> over{false};
  std::thread closes([&over] {
    std::vector<UniqueFd> others;
    while (!over.load()) {
      while (others.size() < 64) others.push_back(roce_socket(address_of_this_test(2)));
      while (!others.empty()) others.pop_back();
    }
  });
  int missed = 0;
  for (int i = 0; i < 2000; ++i) missed += somebody_has_roce_port(address_of_this_test(1)) ? 0 : 1;
  over.store(true);
  closes.join();
  EXPECT_EQ(missed, 0);
}

}  // namespace
}  // namespace gdr::net
