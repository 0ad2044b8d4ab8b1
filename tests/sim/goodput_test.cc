// How much of a link is left for data when packets are lost: a table that is compared exactly, for
// it comes out of virtual time. After a change that is meant to change it:
//   GDR_SIM_WRITE_GOLDEN=1 builds/sim/sim_test --gtest_filter='Goodput.*'
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "flow.h"

namespace gdr::sim {
namespace {

constexpr const char* kGolden = GDR_SIM_FOLDER "/golden/goodput.txt";

struct Wire {
  std::uint64_t gigabits;
  Nanoseconds delay;  // one way
};
constexpr Wire kWires[] = {
    {100, 5 * kMicrosecond}, {10, 25 * kMicrosecond}, {25, 100 * kMicrosecond}};
constexpr std::uint32_t kLosses[] = {0, 100, 1000, 5000, 10'000, 20'000, 50'000, 100'000};

// Hundredths of a percent of the link's bits per second.
std::uint64_t goodput(const Wire& wire, std::uint32_t loss, engine::WorkKind kind) {
  constexpr Nanoseconds kTime = kSecond / 10;
  Flow left(kind, 1 << 20, 8);
  Flow right(kind, 0, 0);
  engine::SendSettings sending;
  sending.timeout = 67 * kMillisecond;
  connect(&left, &right, sending);
  World world;
  LinkSettings link;
  link.bits_per_second = wire.gigabits * 1'000'000'000;
  link.delay = wire.delay;
  link.loss = loss;
  world.add_host(&left, world.add_link(link, 1), 1, 65536);
  world.add_host(&right, world.add_link(link, 2), 0, 65536);
  world.run(kSecond + kTime);
  EXPECT_FALSE(left.broken() || right.broken());
  const std::uint64_t possible = wire.gigabits * kTime / 8;  // bytes
  return (left.taken() + right.taken()) * 10'000 / possible;
}

std::string table() {
  std::string text =
      "# Goodput in percent of the link: path MTU 4096, messages of 1 MiB, window 1 MiB.\n"
      "# loss      100 Gb/s, 10 us       10 Gb/s, 50 us      25 Gb/s, 200 us\n"
      "#            write      read      write      read      write      read\n";
  char cell[32];
  for (const std::uint32_t loss : kLosses) {
    std::snprintf(cell, sizeof cell, "%6.2f %%", loss / 10'000.0);
    text += cell;
    for (const Wire& wire : kWires) {
      for (const engine::WorkKind kind : {engine::WorkKind::kWrite, engine::WorkKind::kRead}) {
        std::snprintf(cell, sizeof cell, "%10.2f",
                      static_cast<double>(goodput(wire, loss, kind)) / 100.0);
        text += cell;
      }
    }
    text += '\n';
  }
  return text;
}

TEST(Goodput, OverALossyLinkIsWhatItWas) {
  const std::string found = table();
  if (std::getenv("GDR_SIM_WRITE_GOLDEN") != nullptr) {
    std::ofstream(kGolden) << found;
    GTEST_SKIP() << "wrote " << kGolden << ":\n" << found;
  }
  std::stringstream golden;
  golden << std::ifstream(kGolden).rdbuf();
  EXPECT_EQ(found, golden.str()) << "if that is meant: GDR_SIM_WRITE_GOLDEN=1";
}

TEST(Goodput, IsMostOfTheLinkWhenOneOfAThousandPacketsIsLost) {
  for (const Wire& wire : kWires) {
    EXPECT_GT(goodput(wire, 1000, engine::WorkKind::kWrite), 5000u) << wire.gigabits;
    EXPECT_GT(goodput(wire, 1000, engine::WorkKind::kRead), 5000u) << wire.gigabits;
  }
}

}  // namespace
}  // namespace gdr::sim
