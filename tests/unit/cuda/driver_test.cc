#include "cuda/driver.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <string>

namespace gdr::cuda {
namespace {

TEST(Driver, SaysWhichLibraryCouldNotBeLoaded) {
  Result<const Driver*> driver = Driver::load("/nonexistent/libcuda.so.1");
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code, ENOENT);
  EXPECT_NE(driver.error().message.find("/nonexistent/libcuda.so.1"), std::string::npos);
  EXPECT_EQ(driver.error().message.find('\n'), std::string::npos);
}

TEST(Driver, RefusesALibraryWithoutTheEntryPointsAndNamesTheFirst) {
  Result<const Driver*> driver = Driver::load("libc.so.6");
  ASSERT_FALSE(driver);
  EXPECT_EQ(driver.error().code, ENOSYS);
  EXPECT_NE(driver.error().message.find("cuInit"), std::string::npos);
}

TEST(Driver, NeverBringsCudaIntoAProcessThatHasNone) {
  EXPECT_EQ(Driver::already_loaded(), nullptr);
  EXPECT_EQ(dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD), nullptr);
}

}  // namespace
}  // namespace gdr::cuda
