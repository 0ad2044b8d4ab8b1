#include "rsockets/idle_options.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>

namespace gdr::rsockets {
namespace {

TEST(RsocketIdleOptions, AreThoseOfANewSocketUntilTheyAreSet) {
  IdleOptions options;
  EXPECT_EQ(options.get(IPPROTO_TCP, TCP_KEEPCNT), 9);
  EXPECT_EQ(options.get(SOL_SOCKET, SO_REUSEPORT), 0);
  EXPECT_EQ(options.set(SOL_SOCKET, SO_REUSEPORT, 1), 0);
  EXPECT_EQ(options.get(SOL_SOCKET, SO_REUSEPORT), 1);
  const IdleOptions accepted = options;  // as an accepted socket gets its listener's
  EXPECT_EQ(accepted.get(SOL_SOCKET, SO_REUSEPORT), 1);
}

TEST(RsocketIdleOptions, AreNoneOfThoseThatMeanSomething) {
  IdleOptions options;
  for (const int option : {SO_RCVTIMEO, SO_LINGER, SO_ERROR, SO_RCVLOWAT, SO_MARK}) {
    EXPECT_EQ(options.set(SOL_SOCKET, option, 1), -ENOPROTOOPT);
    EXPECT_FALSE(options.get(SOL_SOCKET, option).has_value());
  }
  EXPECT_EQ(options.set(IPPROTO_TCP, TCP_ULP, 1), -ENOPROTOOPT);
  EXPECT_EQ(options.set(4711, TCP_CORK, 1), -ENOPROTOOPT);
}

}  // namespace
}  // namespace gdr::rsockets
