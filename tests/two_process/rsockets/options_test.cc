#include <netinet/tcp.h>

#include "sides.h"

namespace gdr::test {
namespace {

int answer(int fd, int level, int option) {
  int value = -1;
  socklen_t length = sizeof value;
  CHECK(rgetsockopt(fd, level, option, &value, &length) == 0);
  CHECK(length == sizeof value);
  return value;
}

void expect_kept(int fd, int level, int option, int value, int kept) {
  CHECK(rsetsockopt(fd, level, option, &value, sizeof value) == 0);
  CHECK(answer(fd, level, option) == kept);
}

// The test itself never touches the NIC.
void in_child(const std::function<void()>& side) { expect_ended_well(run_side(side), "the child"); }

TEST(RsocketOptions, OfAStreamAreKeptAtEachLevel) {
  in_child([] {
    const int fd = rsocket(AF_INET6, SOCK_STREAM, 0);
    CHECK(fd >= 0);
    CHECK(answer(fd, SOL_SOCKET, SO_TYPE) == SOCK_STREAM);
    CHECK(answer(fd, SOL_SOCKET, SO_DOMAIN) == AF_INET6);
    CHECK(answer(fd, SOL_SOCKET, SO_ACCEPTCONN) == 0);
    expect_kept(fd, SOL_SOCKET, SO_KEEPALIVE, 7, 1);
    expect_kept(fd, SOL_SOCKET, SO_RCVBUF, 5000, 10000);
    expect_kept(fd, IPPROTO_TCP, TCP_NODELAY, 1, 1);
    expect_kept(fd, IPPROTO_TCP, TCP_KEEPIDLE, 30, 30);
    expect_kept(fd, IPPROTO_IPV6, IPV6_V6ONLY, 1, 1);
    expect_kept(fd, IPPROTO_IP, IP_TOS, 8, 8);
    expect_kept(fd, SOL_RDMA, RDMA_SQSIZE, 40, 40);
    expect_kept(fd, SOL_RDMA, RDMA_IOMAPSIZE, 300, 256);
    linger asked{1, 5};
    CHECK(rsetsockopt(fd, SOL_SOCKET, SO_LINGER, &asked, sizeof asked) == 0);
    linger kept{};
    socklen_t length = sizeof kept;
    CHECK(rgetsockopt(fd, SOL_SOCKET, SO_LINGER, &kept, &length) == 0);
    CHECK(kept.l_onoff == 1 && kept.l_linger == 5);
    CHECK(rclose(fd) == 0);
  });
}

TEST(RsocketOptions, ThatAreUnknownAreRefused) {
  in_child([] {
    const int fd = rsocket(AF_INET, SOCK_STREAM, 0);
    int value = 0;
    socklen_t length = sizeof value;
    for (const int level :
         {SOL_SOCKET, int{IPPROTO_TCP}, int{IPPROTO_IP}, int{IPPROTO_IPV6}, SOL_RDMA, 4711}) {
      CHECK(rgetsockopt(fd, level, 4711, &value, &length) == -1 && errno == ENOPROTOOPT);
    }
    // It would be a name.
    CHECK(rgetsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, &value, &length) == -1);
    CHECK(errno == ENOPROTOOPT);
    CHECK(rclose(fd) == 0);
  });
}

}  // namespace
}  // namespace gdr::test
