#include "perf/unreachable.h"

#include <gtest/gtest.h>

namespace gdr::perf {
namespace {

Port port_with(const std::string& gid) {
  Port port;
  port.nic = "far0";
  port.gid = gid;
  return port;
}

TEST(Unreachable, SaysOfALoopbackAddressWhatToSet) {
  const Error here = unreachable(port_with("::ffff:10.0.0.2"), "soft1", "::ffff:127.10.0.2");
  EXPECT_EQ(here.code, EHOSTUNREACH);
  EXPECT_TRUE(here.message.starts_with("soft1 has the loopback address 127.10.0.2 here"))
      << here.message;
  EXPECT_TRUE(here.message.ends_with("export GDR_SOFT_DEVICES=soft1/ip=ADDRESS")) << here.message;
  const Error there = unreachable(port_with("::1"), "soft1", "::ffff:10.0.0.1");
  EXPECT_TRUE(there.message.starts_with("the server's far0 has the loopback address ::1, "))
      << there.message;
}

TEST(Unreachable, SpeaksOfTheNetworkWhereBothAddressesAreOfOne) {
  const Error error = unreachable(port_with("::ffff:10.0.0.2"), "mlx5_0", "::ffff:10.0.0.1");
  EXPECT_NE(error.message.find("their networks are not joined"), std::string::npos);
  EXPECT_EQ(error.message.find("loopback"), std::string::npos);
}

}  // namespace
}  // namespace gdr::perf
