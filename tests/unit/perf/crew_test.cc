#include "perf/crew.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace gdr::perf
