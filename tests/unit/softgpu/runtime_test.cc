// The runtime stand-ins, without CUDA on the machine: by name, as the dynamic linker binds them.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <string>

namespace {

// The two must not meet in one process: each test runs one of them.
class Runtime : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    path_ = std::string(GDR_SOFT_GPU_FOLDER) + "/libcudart.so." + std::to_string(GetParam());
    library_ = dlopen(path_.c_str(), RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(library_, nullptr) << dlerror();
  }
  template <typename... Arguments>
  int call(const char* name, Arguments... arguments) {
    const std::string version = "libcudart.so." + std::to_string(GetParam());
    auto function =
        reinterpret_cast<int (*)(Arguments...)>(dlvsym(library_, name, version.c_str()));
    EXPECT_NE(function, nullptr) << name << "@" << version;
    return function != nullptr ? function(arguments...) : -1;
  }
  std::string path_;
  void* library_ = nullptr;
};

TEST_P(Runtime, CarriesBytesThroughDeviceMemory) {
  int version = 0;
  EXPECT_EQ(call("cudaRuntimeGetVersion", &version), 0);
  EXPECT_EQ(version, GetParam() * 1000);
  int count = 0;
  ASSERT_EQ(call("cudaGetDeviceCount", &count), 0);
  EXPECT_EQ(count, 2);
  void* device = nullptr;
  ASSERT_EQ(call("cudaMalloc", &device, std::size_t{5000}), 0);
  std::string sent(5000, 'x');
  sent[4999] = 'y';
  std::string got(5000, '-');
  const void* from = sent.data();
  ASSERT_EQ(call("cudaMemcpy", device, from, std::size_t{5000}, 1), 0);
  const void* back = device;
  void* to = got.data();
  ASSERT_EQ(call("cudaMemcpy", to, back, std::size_t{5000}, 2), 0);
  EXPECT_EQ(got, sent);
  EXPECT_EQ(call("cudaMemcpy", to, back, std::size_t{5001}, 2), 1);
  EXPECT_EQ(call("cudaGetLastError"), 1);
  EXPECT_EQ(call("cudaFree", device), 0);
  EXPECT_EQ(call("cudaFree", device), 1);
}

TEST_P(Runtime, FillsThePropertiesOfItsOwnVersion) {
  // Name, domain and bus number stand at offsets that differ between the versions.
  const bool is_12 = GetParam() == 12;
  char properties[1100];
  std::memset(properties, 0x77, sizeof properties);
  void* out = properties;
  ASSERT_EQ(call(is_12 ? "cudaGetDeviceProperties_v2" : "cudaGetDeviceProperties", out, 1), 0);
  EXPECT_STREQ(properties, "gdrkit software GPU");
  int bus = 0;
  std::memcpy(&bus, properties + (is_12 ? 584 : 568), sizeof bus);
  EXPECT_EQ(bus, 2);
  const std::size_t size = is_12 ? 1032 : 1008;
  EXPECT_EQ(properties[size - 1], 0);
  EXPECT_EQ(properties[size], 0x77) << "written behind the structure";
}

TEST_P(Runtime, ProgramsWithKernelsStartAndAreToldThatNoneRuns) {
  auto registered = reinterpret_cast<void** (*)(void*)>(dlsym(library_, "__cudaRegisterFatBinary"));
  ASSERT_NE(registered, nullptr);
  EXPECT_NE(registered(nullptr), nullptr);
  EXPECT_NE(call("__cudaPushCallConfiguration"), 0);
  EXPECT_EQ(call("cudaGetLastError"), 801);
  EXPECT_EQ(call("cudaLaunchKernel"), 801);
}

INSTANTIATE_TEST_SUITE_P(Versions, Runtime, ::testing::Values(12, 13));

}  // namespace
