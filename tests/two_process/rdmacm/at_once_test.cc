// Many processes that begin at once on one address, and listen and connect there: each client is
// let in by its own server, however little of the others anybody has met by then.
#include <gtest/gtest.h>

#include <memory>
#include <thread>
#include <vector>

#include "endpoint.h"

namespace gdr::test {
namespace {

constexpr int kPairs = 6, kConnections = 4;

void serve(Wire& wire) {
  Endpoint listener = Endpoint::listening(kAddress, 0, 8);
  wire.send(listener.port());
  for (int i = 0; i < kConnections; ++i) {
    Endpoint connection = listener.next_request();
    must(rdma_accept(connection.id(), nullptr), "rdma_accept");
    must(rdma_disconnect(connection.id()), "rdma_disconnect");
  }
  wire.meet();
}

void connect_to(Wire& wire) {
  const auto port = wire.receive<std::uint16_t>();
  for (int i = 0; i < kConnections; ++i) {
    Endpoint connection = Endpoint::towards(kAddress, port);
    must(rdma_connect(connection.id(), nullptr), "rdma_connect");
    must(rdma_disconnect(connection.id()), "rdma_disconnect");
  }
  wire.meet();
}

TEST(AtOnce, EachClientIsLetInByItsServer) {
  struct Pair {
    std::unique_ptr<Child> server = std::make_unique<Child>(serve);
    // Started only now: it has met nobody when it connects.
    std::unique_ptr<Child> client;
  };
  std::vector<Pair> pairs(kPairs);
  for (Pair& pair : pairs) {
    const auto port = pair.server->wire().receive<std::uint16_t>();
    pair.client = std::make_unique<Child>(connect_to);
    pair.client->wire().send(port);
  }
  for (Pair& pair : pairs) {
    pair.client->wire().meet();
    pair.server->wire().meet();
    pair.client->finish();
    pair.server->finish();
  }
}

TEST(AtOnce, OfManyThatListenOnOnePortOneDoes) {
  constexpr std::uint16_t kPort = 24'711;
  for (int round = 0; round < 5; ++round) {
    std::vector<std::unique_ptr<Child>> children;
    for (int i = 0; i < kPairs; ++i) {
      children.push_back(std::make_unique<Child>([](Wire& wire) {
        int error = 0;
        std::unique_ptr<Endpoint> listener;
        try {
          listener = std::make_unique<Endpoint>(Endpoint::listening(kAddress, kPort, 8));
        } catch (const Failure&) {
          error = errno;
        }
        wire.send(error);
        wire.meet();
      }));
    }
    int listening = 0;
    for (auto& child : children) {
      const int error = child->wire().receive<int>();
      EXPECT_TRUE(error == 0 || error == EADDRINUSE) << std::strerror(error);
      listening += error == 0 ? 1 : 0;
    }
    EXPECT_EQ(listening, 1) << "round " << round;
    for (auto& child : children) child->wire().meet();
    for (auto& child : children) child->finish();
  }
}

}  // namespace
}  // namespace gdr::test
