#include "net/settings.h"

#include <gtest/gtest.h>
#include <stdlib.h>

namespace gdr::net {
namespace {

class SettingsTest : public testing::Test {
 protected:
  void SetUp() override { TearDown(); }
  void TearDown() override {
    for (const char* name : {"GDR_SOFT_PATH", "GDR_SOFT_PCAP", "GDR_SOFT_FAULTS"}) unsetenv(name);
  }
};

TEST_F(SettingsTest, AreNoneByDefault) {
  const Result<Settings> settings = settings_from_environment();
  ASSERT_TRUE(settings);
  EXPECT_FALSE(settings->takes_everything);
  EXPECT_FALSE(settings->pcap_file);
  EXPECT_FALSE(settings->faults);
}

TEST_F(SettingsTest, AreWhatTheEnvironmentSays) {
  setenv("GDR_SOFT_PATH", "packets", 1);
  setenv("GDR_SOFT_PCAP", "/tmp/a.pcap", 1);
  setenv("GDR_SOFT_FAULTS",
         "loss=0.25,duplicate=1,reorder=0,corrupt=0.001,delay=100us,seed=18446744073709551615", 1);
  const Result<Settings> settings = settings_from_environment();
  ASSERT_TRUE(settings) << settings.error().message;
  EXPECT_TRUE(settings->takes_everything);
  EXPECT_EQ(settings->pcap_file, "/tmp/a.pcap");
  ASSERT_TRUE(settings->faults);
  EXPECT_DOUBLE_EQ(settings->faults->loss, 0.25);
  EXPECT_DOUBLE_EQ(settings->faults->duplicate, 1.0);
  EXPECT_DOUBLE_EQ(settings->faults->reorder, 0.0);
  EXPECT_DOUBLE_EQ(settings->faults->corrupt, 0.001);
  EXPECT_EQ(settings->faults->delay, 100 * kMicrosecond);
  EXPECT_EQ(settings->faults->seed, ~std::uint64_t{0});
}

TEST_F(SettingsTest, AreRefusedWithTheVariableNamed) {
  setenv("GDR_SOFT_PATH", "pigeons", 1);
  EXPECT_EQ(settings_from_environment().error().message,
            "GDR_SOFT_PATH='pigeons': allowed are auto and packets");
  unsetenv("GDR_SOFT_PATH");
  setenv("GDR_SOFT_FAULTS", "loss=2", 1);
  EXPECT_EQ(settings_from_environment().error().message.find("GDR_SOFT_FAULTS: 'loss=2': allowed"),
            0u);
}

TEST(Faults, KnowTheirUnits) {
  EXPECT_EQ(parse_faults("delay=50us")->delay, 50 * kMicrosecond);
  EXPECT_EQ(parse_faults("delay=2ms")->delay, 2 * kMillisecond);
  EXPECT_EQ(parse_faults("delay=10s")->delay, 10 * kSecond);
}

TEST(Faults, RefuseWhatTheyAreNotAndNameIt) {
  for (const char* text : {"", "loss", "loss=", "loss=-0.1", "loss=1.01", "loss=nan", "loss=0.1x",
                           "loss=0.1,", "delay=1", "delay=11s", "delay=-1us", "delay=us", "seed=-1",
                           "seed=x", "speed=1", "=", ",", "loss=0.1,\nx=1"}) {
    const Result<Faults> faults = parse_faults(text);
    ASSERT_FALSE(faults) << text;
    EXPECT_EQ(faults.error().code, EINVAL);
    EXPECT_EQ(faults.error().message.find('\n'), std::string::npos);
    EXPECT_NE(faults.error().message.find("allowed are loss="), std::string::npos);
  }
}

}  // namespace
}  // namespace gdr::net
