// A session in this process, and its client, which says what it likes.
#pragma once

#include <gtest/gtest.h>
#include <sys/socket.h>

#include <optional>
#include <string>
#include <thread>

#include "perf/client.h"
#include "perf/session.h"
#include "soft_devices.h"
#include "soon.h"

namespace gdr::perf {

inline void put_here(StationAddress& station, const Devices& devices) {
  const rdma::Endpoint here = devices.endpoint();
  station.lid = here.lid;
  station.global = here.global;
  std::copy(std::begin(here.gid.raw), std::end(here.gid.raw), station.gid.begin());
}

inline Probe probe_to_here(const Devices& devices, std::uint32_t queue_pair) {
  StationAddress here;
  put_here(here, devices);
  return {0, here.lid, here.gid, here.global, queue_pair};
}

class SessionTest : public testing::Test {
 protected:
  explicit SessionTest(Terms terms = {}) : terms_(std::move(terms)), client_(connect()) {
    told_.side.version = "1.2.3";
    serving_ = std::thread([this] { serve(); });
  }
  ~SessionTest() override { leave(); }
  void serve() {
    ended_ = Session(*server_, soft_ports(), told_, interrupted_, terms_, stage_).serve();
  }
  UniqueFd connect() {
    int sockets[2];
    EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets), 0);
    server_.emplace(UniqueFd(sockets[1]));
    return UniqueFd(sockets[0]);
  }
  void leave() {
    if (!serving_.joinable()) return;
    client_.reset();
    serving_.join();
  }
  // "": done.
  template <typename Request>
  std::string ask(const Request& request) {
    const auto reply = client_->call(request, test::kLastResort);
    return reply ? "" : reply.error().message;
  }
  void say_hello() {
    ASSERT_EQ(ask(Hello{kMagic, kProtocol, "1.2.3"}), "");
    ASSERT_EQ(ask(Challenge{}), "");
  }
  void greet() {
    say_hello();
    ASSERT_EQ(ask(Begin{}), "");
  }
  static Probe probe(std::uint32_t queue_pair) { return probe_to_here(soft_devices(), queue_pair); }
  void answer_probe() {
    Result<ProbeTarget> target = ProbeTarget::create(soft_devices());
    ASSERT_TRUE(target) << target.error().message;
    ASSERT_EQ(ask(probe(target->queue_pair())), "");
    ASSERT_EQ(ask(ProbeAnswer{target->await(test::kLastResort)}), "");
  }
  static perf::SetUp set_up(Operation operation = Operation::kWrite) {
    perf::SetUp request;
    request.load.operation = operation;
    request.largest = 4096;
    request.mtu = IBV_MTU_1024;
    return request;
  }
  // With queue pairs that lead nowhere.
  void connect_to_nobody(const perf::SetUp& request) {
    const Result<perf::SetUp::Reply> there = client_->call(request, test::kLastResort);
    ASSERT_TRUE(there) << there.error().message;
    ASSERT_NO_FATAL_FAILURE(answer_probe());
    ASSERT_EQ(ask(Connect{there->address}), "");
    address_ = there->address;
  }
  // That the session ends before any of a session's usual limits, once the client does nothing
  // more.
  void expect_end() {
    const Nanoseconds before = now();
    serving_.join();
    EXPECT_LT(now() - before, kSoon);
  }
  static constexpr Nanoseconds kSoon = 20 * kSecond;
  static Start start() {
    Start request;
    request.size = 64;
    request.timing = {0, 1'000'000, 0, 1};
    return request;
  }

  std::atomic<bool> interrupted_{false};
  const Terms terms_;
  Stage stage_;
  SideAddress address_;
  Description told_;
  std::optional<Control> server_, client_;
  Result<void> ended_;
  std::thread serving_;
};

}  // namespace gdr::perf
