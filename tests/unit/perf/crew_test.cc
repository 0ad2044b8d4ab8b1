#include "perf/crew.h"

#include <gtest/gtest.h>
#include <sched.h>

#include "soft_devices.h"

namespace gdr::perf {
namespace {

TEST(Crew, GivesItsThreadsThePortsInTurn) {
  Result<Ports> ports = open_ports({soft_names("soft0"), soft_names("soft1")});
  ASSERT_TRUE(ports) << ports.error().message;
  Load load;
  load.ports = 2;
  load.threads = 3;
  load.queue_pairs = 5;
  const auto crew = Crew::create(*ports, {load, load.near, 64, IBV_MTU_1024, 5}, true);
  ASSERT_TRUE(crew) << crew.error().message;
  const SideAddress address = (*crew)->address();
  ASSERT_EQ(address.stations.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const StationAddress& station = address.stations[i];
    EXPECT_EQ(station.queues.size(), i < 2 ? 2u : 1u);
    const ibv_gid& gid = (*ports)[i % 2]->address().gid;
    EXPECT_TRUE(std::equal(station.gid.begin(), station.gid.end(), gid.raw)) << i;
  }
  EXPECT_NE(address.stations[0].gid, address.stations[1].gid);
}

// The server of writes: its threads end as soon as they have begun.
TEST(Crew, PinsThreadsThatHaveNothingToDoAndNoOther) {
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  int processor = 0;
  while (!CPU_ISSET(static_cast<std::size_t>(processor), &before)) ++processor;
  Result<Ports> ports = open_ports({soft_names("soft0")});
  ASSERT_TRUE(ports) << ports.error().message;
  Load load;
  load.threads = load.queue_pairs = 4;
  const auto crew =
      Crew::create(*ports, {load, load.near, 64, IBV_MTU_1024, 4}, false, {processor});
  ASSERT_TRUE(crew) << crew.error().message;
  const TickClock clock = TickClock::calibrate();
  Start start;
  start.size = 64;
  // Ten of ten runs failed at rows 27 to 462 while another thread pinned them.
  for (int row = 0; row < 600; ++row) {
    const Result<void> started = (*crew)->start(start, clock, nullptr);
    ASSERT_TRUE(started) << "row " << row << ": " << started.error().message;
    const CrewOutcome outcome = (*crew)->join();
    ASSERT_TRUE(outcome.done) << outcome.done.error().message;
    cpu_set_t now;
    ASSERT_EQ(sched_getaffinity(0, sizeof now, &now), 0);
    ASSERT_TRUE(CPU_EQUAL(&before, &now)) << "row " << row;
  }
}

}  // namespace
}  // namespace gdr::perf
