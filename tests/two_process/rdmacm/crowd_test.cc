// A listener that more ask than it takes: by processes that speak connection management themselves
// (packets/mads.h) and keep no rule, beside one that connects as programs do.
#include <gtest/gtest.h>

#include <fstream>

#include "cm/service.h"
#include "endpoint.h"
#include "mads.h"

namespace gdr::test {
namespace {

constexpr std::uint32_t kAsked = 10'000;

GidBytes listener_gid() {
  GidBytes gid{};
  gid[10] = gid[11] = 0xff;
  gid[12] = 127, gid[13] = 10, gid[15] = 1;
  return gid;
}

std::size_t resident_bytes() {
  std::ifstream file("/proc/self/statm");
  std::size_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// As librdmacm's, of queue pair 1's bytes only.
gdr_gsi_mad request_for(std::uint32_t id, std::uint16_t port) {
  gdr_gsi_mad mad = request_mad(id, cm::service_id(RDMA_PS_TCP, port));
  cm::IpHeader ip;
  ip.destination[12] = 127, ip.destination[13] = 10, ip.destination[15] = 1;
  ip.source = ip.destination;
  constexpr std::size_t kPrivateDataAt = 24 + 140;
  cm::write_ip_header(ip, std::span<std::uint8_t, cm::kIpHeaderBytes>(&mad.bytes[kPrivateDataAt],
                                                                      cm::kIpHeaderBytes));
  return mad;
}

// Asks ten thousand times, each as another connection, and never goes on. From another address: the
// second device's.
void crowd(Wire& wire) {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  require(count > 1, "two devices");
  ibv_context* context = ibv_open_device(list[1]);
  require(context != nullptr, "a device");
  GsiEnd end(context);
  const auto port = wire.receive<std::uint16_t>();
  for (std::uint32_t i = 1; i <= kAsked; ++i) {
    require(end.send(listener_gid(), request_for(end.id(i), port)) == 0, "a request leaves");
    if (i % 200 == 0) usleep(5'000);  // so that they are looked at, and not dropped on their way
  }
  wire.meet();
}

void connect_once(Wire& wire) {
  const auto port = wire.receive<std::uint16_t>();
  Endpoint connection = Endpoint::towards(kAddress, port);
  must(rdma_connect(connection.id(), nullptr), "rdma_connect");
  wire.meet();
}

#ifdef __SANITIZE_ADDRESS__
constexpr bool kFreedIsKept = true;
#else
constexpr bool kFreedIsKept = false;
#endif

// It takes no request while they come; then it takes all that there are, and serves who is real.
TEST(Crowd, OfHalfOpenConnectionsKeepsNobodyElseOut) {
  Child server([](Wire& wire) {
    Endpoint listener = Endpoint::listening(kAddress, 0, 0);
    wire.send(listener.port());
    const std::size_t before = resident_bytes();
    wire.meet();  // the crowd has asked
    wire.meet();  // somebody connects meanwhile
    require(kFreedIsKept || resident_bytes() < before + (64u << 20), "its memory is bounded");
    std::uint32_t taken = 0;
    for (bool met = false; !met; ++taken) {
      require(taken <= kAsked, "each asks once");  // more come while it takes those that wait
      Endpoint one = listener.next_request();
      // Whoever is real brings no IP address of its own making.
      const auto* from = reinterpret_cast<const sockaddr_in*>(&one.id()->route.addr.dst_addr);
      met = from->sin_port != 0;
      if (met) {
        must(rdma_accept(one.id(), nullptr), "rdma_accept");
      } else {
        // Who waited too long has given up.
        require(rdma_reject(one.id(), nullptr, 0) == 0 || errno == EINVAL, "rdma_reject");
      }
    }
    require(taken > 1, "there was a crowd");
    wire.meet();
  });
  const auto port = server.wire().receive<std::uint16_t>();
  Child crowds(crowd), client(connect_once);
  crowds.wire().send(port);
  crowds.wire().meet();
  server.wire().meet();
  client.wire().send(port);
  usleep(100'000);
  server.wire().meet();
  client.wire().meet();
  server.wire().meet();
  client.finish();
  server.finish();
  crowds.finish();
}

// A server that is killed, or stopped, while requests wait: who has asked hears of the one, and of
// the other when it goes on.
TEST(Crowd, OfClientsHearOfTheEndOfTheirServer) {
  Child server([](Wire& wire) {
    Endpoint listener = Endpoint::listening(kAddress, 0, 8);
    wire.send(listener.port());
    Endpoint one = listener.next_request();
    wire.meet();
    wire.receive<char>();
  });
  const auto port = server.wire().receive<std::uint16_t>();
  const auto refused = [](Wire& wire) {
    const auto to = wire.receive<std::uint16_t>();
    Endpoint connection = Endpoint::towards(kAddress, to);
    wire.meet();
    require(rdma_connect(connection.id(), nullptr) == -1 && errno == ECONNREFUSED,
            std::string("it is refused: ") + std::strerror(errno));
  };
  Child client(refused);
  client.wire().send(port);
  client.wire().meet();
  server.wire().meet();
  server.kill();
  client.finish();
}

}  // namespace
}  // namespace gdr::test
