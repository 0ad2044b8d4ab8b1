#include "perf/messages.h"

#include <gtest/gtest.h>

#include <random>

namespace gdr::perf {
namespace {

Load full_load() {
  Load load;
  load.operation = Operation::kSend;
  load.transport = Transport::kXrc;
  load.measure = Measure::kRate;
  load.size = 4096;
  load.near = {Place::Kind::kGpuVmm, 3};
  load.far = {Place::Kind::kStaged, 1};
  load.way = Way::kPeerMemory;
  load.rdma_cm = load.both_ways = load.shared_receives = load.events = load.check =
      load.huge_pages = true;
  load.ports = 2, load.queue_pairs = 7, load.threads = 6, load.depth = 5, load.batch = 4,
  load.signal_every = 3;
  load.inline_bytes = 2, load.path_mtu = 1024, load.service_level = 9, load.traffic_class = 8;
  return load;
}

SideAddress full_address() {
  SideAddress address;
  address.stations = {{17, {15, 4}, true, 4791, 0x1000, 5, {{1, 2, 3, 4}, {5, 6, 7, 8}}},
                      {18, {}, false, 0, 0x2000, 6, {}}};
  return address;
}

// One of each kind, with something in every field that has a length.
std::tuple<Failure, Nothing, Hello, Open, Open::Reply, SetUp, SetUp::Reply, Connect, Start,
           FillWindow, MoveWindow, VerifyWindow, VerifyWindow::Reply, Finish, Finish::Reply,
           TearDown, Challenge, Challenge::Reply, Authenticate, Authenticate::Reply, Begin, Probe,
           ProbeAnswer>
one_of_each() {
  Open::Reply opened;
  opened.side.host = "alpha";
  opened.side.gpus = {"GPU 0", "GPU 1"};
  opened.side.ports = {{"mlx5_0", "ens1", "::1", 1, 3, 4096, 100e9}, {}};
  opened.facts.host = "alpha";
  opened.facts.nics.resize(2);
  opened.ports = {{5, true, 1 << 30}, {4, false, 1}};
  Finish::Reply finished;
  finished.slices = {{{1, 2}, {3, 4}}, {}};
  finished.sent = {9, 8};
  finished.first_wrong = "byte 3";
  finished.cores = 1.5;
  return {Failure{EIO, "broken"},
          {},
          Hello{kMagic, kProtocol, "1.2.3"},
          {},
          opened,
          SetUp{full_load(), 65536, 4},
          {full_address(), 1 << 20},
          {full_address()},
          Start{8, Measure::kLatency, 4, {1, 2, 3, 4}, 99},
          {{1, 2, 3}},
          {{1, 2, 3}},
          {{1, 2, 3}},
          {4, 5, "byte 7", 6},
          {{10, 20, 30}},
          finished,
          {},
          {{1, 2}, true},
          {{3, 4}, false},
          {{5, 6}},
          {{7, 8}},
          {9},
          {1, 2, {3}, true, 4},
          {{5, 6}}};
}

template <typename Function>
void for_each_kind(Function&& function) {
  std::apply([&](const auto&... message) { (function(message), ...); }, one_of_each());
}

template <typename Message>
bool decodes(const Message&, const process::Bytes& bytes) {
  return static_cast<bool>(process::decode<Message>(bytes));
}

TEST(Messages, ComeOutOfTheirBytesAsTheyWentIn) {
  for_each_kind([]<typename Message>(const Message& message) {
    const process::Bytes bytes = process::encode(message);
    const Result<Message> again = process::decode<Message>(bytes);
    ASSERT_TRUE(again) << int{number_of<Message>()};
    EXPECT_EQ(process::encode(*again), bytes) << int{number_of<Message>()};
  });
  EXPECT_EQ(process::decode<perf::SetUp>(process::encode(perf::SetUp{full_load(), 1, 1}))->load,
            full_load());
}

TEST(Messages, AreRefusedCutShortAnywhereAndWithAByteTooMany) {
  for_each_kind([](const auto& message) {
    const process::Bytes whole = process::encode(message);
    for (std::size_t length = 0; length < whole.size(); ++length) {
      EXPECT_FALSE(decodes(message, {whole.begin(), whole.begin() + length})) << length;
    }
    process::Bytes longer = whole;
    longer.push_back(std::byte{0});
    EXPECT_FALSE(decodes(message, longer));
  });
}

TEST(Messages, OfRandomBytesDoNoHarm) {
  std::minstd_rand random(1);
  for (int i = 0; i < 2000; ++i) {
    process::Bytes bytes(random() % 200);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 7 == 0 ? random() : 0);
    for_each_kind([&](const auto& message) { (void)decodes(message, bytes); });
  }
}

// A count that promises more than there is must not cost memory.
TEST(Messages, WithCountsThatAreNotThereAreRefused) {
  const process::Bytes many(8, std::byte{0xff});
  EXPECT_FALSE(process::decode<Finish>(many));
  EXPECT_FALSE(process::decode<Finish::Reply>(many));
}

// Sides of different versions say hello before anything else.
TEST(Messages, HelloHasTheSameBytesInEveryVersion) {
  const process::Bytes bytes = process::encode(Hello{kMagic, 2, "ab"});
  const unsigned char wanted[] = {0x70, 0x72, 0x64, 0x67, 2, 0, 0, 0, 2, 0, 0, 0, 'a', 'b'};
  ASSERT_EQ(bytes.size(), sizeof wanted);
  for (std::size_t i = 0; i < sizeof wanted; ++i) {
    EXPECT_EQ(std::to_integer<unsigned>(bytes[i]), wanted[i]) << i;
  }
  EXPECT_EQ(number_of<Failure>(), 0);
  EXPECT_EQ(number_of<Hello>(), 2);
}

}  // namespace
}  // namespace gdr::perf
