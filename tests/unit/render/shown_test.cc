#include "render/shown.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace gdr::render {
namespace {

Shown shown_with(const char* first, const char* gpus) {
  for (const auto& [name, value] : {std::pair{kFirstVariable, first}, {"GDR_SOFT_GPUS", gpus}}) {
    if (value != nullptr) {
      setenv(name, value, 1);
    } else {
      unsetenv(name);
    }
  }
  const Shown shown = shown_from_environment();
  unsetenv(kFirstVariable);
  unsetenv("GDR_SOFT_GPUS");
  return shown;
}

TEST(ShownNodes, AreOneForEachSoftwareGpuFromTheGivenNumberOn) {
  const Shown shown = shown_with("129", "3:64M");
  EXPECT_EQ(shown.bytes, 64u << 20);
  EXPECT_EQ(gpu_at("/dev/dri/renderD128", shown), -1);
  EXPECT_EQ(gpu_at("/dev/dri/renderD129", shown), 0);
  EXPECT_EQ(gpu_at("/dev/dri/renderD131", shown), 2);
  EXPECT_EQ(gpu_at("/dev/dri/renderD132", shown), -1);
  EXPECT_EQ(gpu_at("/dev/dri/renderD129", shown_with("129", nullptr)), 0);
}

TEST(ShownNodes, AreNoneWhereGdrRunShowsNoneOrAVariableIsWrong) {
  for (const auto& [first, gpus] : {std::pair<const char*, const char*>{nullptr, "2"},
                                    {"", nullptr},
                                    {"127", nullptr},
                                    {"192", nullptr},
                                    {"x", nullptr},
                                    {"128 ", nullptr},
                                    {"128", "none"}}) {
    EXPECT_EQ(shown_with(first, gpus).count, 0) << (first != nullptr ? first : "unset");
  }
}

TEST(ShownNodes, AreNoMoreThanTheKernelHasNumbersFor) {
  const Shown shown = shown_with("190", "4");
  EXPECT_EQ(shown.count, 2);
  EXPECT_EQ(gpu_at("/dev/dri/renderD192", shown), -1);
}

TEST(ShownNodes, HaveNoOtherPath) {
  const Shown shown = shown_with("128", "2");
  for (const char* path :
       {"", "/dev/dri", "/dev/dri/card0", "/dev/dri/renderD", "renderD128", "/dev/dri/renderD128/",
        "/dev/dri/renderD128x", "/dev/dri/renderD-128", "/dev/dri/renderD99999999999999999999"}) {
    EXPECT_EQ(gpu_at(path, shown), -1) << path;
  }
  EXPECT_EQ(gpu_at("/dev/dri/renderD128", Shown{}), -1);
}

}  // namespace
}  // namespace gdr::render
