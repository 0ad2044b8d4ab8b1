#include <gtest/gtest.h>

#include "softgpu/device_config.h"

namespace gdr::softgpu {
namespace {

TEST(SoftGpuConfig, ReadsACountAndASize) {
  auto config = parse_device_config("4");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->count, 4);
  EXPECT_EQ(config->bytes, DeviceConfig{}.bytes);
  config = parse_device_config("16:16G");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->count, 16);
  EXPECT_EQ(config->bytes, 16ull << 30);
  config = parse_device_config("1:64M");
  ASSERT_TRUE(config);
  EXPECT_EQ(config->bytes, 64ull << 20);
  EXPECT_TRUE(parse_device_config("1:1T"));
}

TEST(SoftGpuConfig, RefusesEverythingElseInOneLineThatNamesTheValue) {
  for (const char* text :
       {"", "0", "17", "-1", "two", "2:", "2:16", "2:G", "2:63M", "2:2T", "2:1G:3", "2 ", " 2",
        "2:1g", "2:-1G", "99999999999999999999", "2:99999999999G"}) {
    auto config = parse_device_config(text);
    ASSERT_FALSE(config) << text;
    EXPECT_EQ(config.error().code, EINVAL);
    EXPECT_NE(config.error().message.find(std::string("GDR_SOFT_GPUS=") + text), std::string::npos);
    EXPECT_EQ(config.error().message.find('\n'), std::string::npos);
  }
}

}  // namespace
}  // namespace gdr::softgpu
