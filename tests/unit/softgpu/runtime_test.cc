// The runtime stand-ins, without CUDA on the machine: by name, as the dynamic linker binds them.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <set>
#include <string>
#include <thread>

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

TEST_P(Runtime, HasPinnedAndPitchedMemory) {
  void* pinned = nullptr;
  ASSERT_EQ(call("cudaHostAlloc", &pinned, std::size_t{4096}, 0u), 0);
  void* device = nullptr;
  EXPECT_EQ(call("cudaHostGetDevicePointer", &device, pinned, 0u), 0);
  EXPECT_EQ(device, pinned);
  unsigned flags = 0;
  EXPECT_EQ(call("cudaHostGetFlags", &flags, pinned), 0);
  EXPECT_EQ(flags, 2u);  // mapped
  std::string plain(8192, '-');
  void* registered = plain.data();
  EXPECT_EQ(call("cudaHostUnregister", registered), 713);
  EXPECT_EQ(call("cudaHostRegister", registered, plain.size(), 0u), 0);
  EXPECT_EQ(call("cudaHostRegister", registered, plain.size(), 0u), 712);
  EXPECT_EQ(call("cudaHostUnregister", registered), 0);
  void* rows = nullptr;
  std::size_t pitch = 9;
  EXPECT_EQ(call("cudaMallocPitch", &rows, &pitch, std::size_t{0}, std::size_t{4}), 0);
  EXPECT_EQ(rows, nullptr);
  ASSERT_EQ(call("cudaMallocPitch", &rows, &pitch, std::size_t{100}, std::size_t{4}), 0);
  EXPECT_EQ(pitch, 512u);
  ASSERT_EQ(call("cudaMemset2D", rows, pitch, int{'y'}, std::size_t{100}, std::size_t{4}), 0);
  const void* from = rows;
  ASSERT_EQ(call("cudaMemcpy2D", registered, std::size_t{100}, from, pitch, std::size_t{100},
                 std::size_t{4}, 2),
            0);
  EXPECT_EQ(plain.substr(0, 401), std::string(400, 'y') + "-");
  EXPECT_EQ(call("cudaMemcpy2D", registered, std::size_t{99}, from, pitch, std::size_t{100},
                 std::size_t{4}, 2),
            12);
  std::size_t free = 0, total = 0;
  EXPECT_EQ(call("cudaMemGetInfo", &free, &total), 0);
  EXPECT_LT(free, total);
  EXPECT_EQ(call("cudaFree", rows), 0);
  EXPECT_EQ(call("cudaFreeHost", pinned), 0);
  EXPECT_EQ(call("cudaFreeHost", pinned), 1);
}

TEST_P(Runtime, TellsWhoseAPointerIs) {
  struct {
    int type, device;
    void *as_device, *as_host;
    long reserved[8];
  } told{};
  void* device = nullptr;
  ASSERT_EQ(call("cudaSetDevice", 1), 0);
  ASSERT_EQ(call("cudaMalloc", &device, std::size_t{64}), 0);
  ASSERT_EQ(
      call("cudaPointerGetAttributes", static_cast<void*>(&told), static_cast<const void*>(device)),
      0);
  EXPECT_EQ(told.type, 2);
  EXPECT_EQ(told.device, 1);
  EXPECT_EQ(told.as_device, device);
  EXPECT_EQ(told.as_host, nullptr);
  ASSERT_EQ(
      call("cudaPointerGetAttributes", static_cast<void*>(&told), static_cast<const void*>(&told)),
      0);
  EXPECT_EQ(told.type, 0);
  EXPECT_EQ(told.device, -2);
  EXPECT_EQ(told.as_device, nullptr);
  EXPECT_EQ(told.as_host, &told);
  EXPECT_EQ(call("cudaFree", device), 0);
  EXPECT_EQ(call("cudaSetDevice", 0), 0);
}

TEST_P(Runtime, CopiesBetweenDevicesWithAndWithoutPeerAccess) {
  void *here = nullptr, *there = nullptr;
  ASSERT_EQ(call("cudaMalloc", &here, std::size_t{100}), 0);
  ASSERT_EQ(call("cudaSetDevice", 1), 0);
  ASSERT_EQ(call("cudaMalloc", &there, std::size_t{100}), 0);
  ASSERT_EQ(call("cudaSetDevice", 0), 0);
  int can = 0;
  EXPECT_EQ(call("cudaDeviceCanAccessPeer", &can, 0, 1), 0);
  EXPECT_EQ(can, 1);
  std::string got(100, '-');
  for (const char letter : {'a', 'b'}) {
    ASSERT_EQ(call("cudaMemset", here, int{letter}, std::size_t{100}), 0);
    const void* from = here;
    ASSERT_EQ(call("cudaMemcpyPeer", there, 1, from, 0, std::size_t{100}), 0);
    const void* back = there;
    ASSERT_EQ(call("cudaMemcpy", static_cast<void*>(got.data()), back, std::size_t{100}, 4), 0);
    EXPECT_EQ(got, std::string(100, letter));
    if (letter == 'a') {
      EXPECT_EQ(call("cudaDeviceEnablePeerAccess", 1, 0u), 0);
    }
  }
  EXPECT_EQ(call("cudaDeviceEnablePeerAccess", 1, 0u), 704);
  EXPECT_EQ(call("cudaDeviceDisablePeerAccess", 1), 0);
  EXPECT_EQ(call("cudaDeviceDisablePeerAccess", 1), 705);
  EXPECT_EQ(call("cudaDeviceEnablePeerAccess", 0, 0u), 217);  // to itself
  EXPECT_EQ(call("cudaDeviceEnablePeerAccess", 9, 0u), 101);
  const void* from = here;
  EXPECT_EQ(call("cudaMemcpyPeer", there, 9, from, 0, std::size_t{1}), 101);
  EXPECT_EQ(call("cudaFree", here), 0);
  EXPECT_EQ(call("cudaFree", there), 0);
}

void wait_for(void* flag) {
  while (!static_cast<std::atomic<bool>*>(flag)->load()) std::this_thread::yield();
}

TEST_P(Runtime, StreamsAndEventsKeepTheirOrder) {
  void *first = nullptr, *second = nullptr, *event = nullptr, *start = nullptr, *memory = nullptr;
  int least = 1, greatest = 1, priority = 1;
  EXPECT_EQ(call("cudaDeviceGetStreamPriorityRange", &least, &greatest), 0);
  ASSERT_EQ(call("cudaStreamCreateWithPriority", &first, 1u, greatest), 0);
  EXPECT_EQ(call("cudaStreamGetPriority", first, &priority), 0);
  EXPECT_EQ(priority, greatest);
  ASSERT_EQ(call("cudaStreamCreateWithFlags", &second, 1u), 0);
  unsigned flags = 0;
  EXPECT_EQ(call("cudaStreamGetFlags", second, &flags), 0);
  EXPECT_EQ(flags, 1u);
  ASSERT_EQ(call("cudaEventCreate", &start), 0);
  ASSERT_EQ(call("cudaEventCreate", &event), 0);
  float milliseconds = -1;
  EXPECT_EQ(call("cudaEventElapsedTime", &milliseconds, start, event), 400);  // not recorded
  ASSERT_EQ(call("cudaEventRecord", start, first), 0);
  std::atomic<bool> open{false};
  ASSERT_EQ(call("cudaLaunchHostFunc", first, &wait_for, static_cast<void*>(&open)), 0);
  ASSERT_EQ(call("cudaMallocAsync", &memory, std::size_t{64}, first), 0);
  ASSERT_EQ(call("cudaMemsetAsync", memory, int{'z'}, std::size_t{64}, first), 0);
  ASSERT_EQ(call("cudaEventRecord", event, first), 0);
  ASSERT_EQ(call("cudaStreamWaitEvent", second, event, 0u), 0);
  EXPECT_EQ(call("cudaEventQuery", event), 600);
  EXPECT_EQ(call("cudaStreamQuery", first), 600);
  EXPECT_EQ(call("cudaGetLastError"), 600);  // kept, though it is no failure
  open = true;
  std::string got(64, '-');
  const void* from = memory;
  ASSERT_EQ(
      call("cudaMemcpyAsync", static_cast<void*>(got.data()), from, std::size_t{64}, 2, second), 0);
  ASSERT_EQ(call("cudaStreamSynchronize", second), 0);
  EXPECT_EQ(got, std::string(64, 'z'));
  EXPECT_EQ(call("cudaEventSynchronize", event), 0);
  EXPECT_EQ(call("cudaEventElapsedTime", &milliseconds, start, event), 0);
  EXPECT_GE(milliseconds, 0.0f);
  EXPECT_EQ(call("cudaFreeAsync", memory, second), 0);
  EXPECT_EQ(call("cudaDeviceSynchronize"), 0);
  void* none = nullptr;
  EXPECT_EQ(call("cudaMallocAsync", &memory, std::size_t{0}, none), 0);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(call("cudaStreamDestroy", none), 400);
  for (void* stream : {first, second}) EXPECT_EQ(call("cudaStreamDestroy", stream), 0);
  for (void* one : {start, event}) EXPECT_EQ(call("cudaEventDestroy", one), 0);
}

TEST_P(Runtime, FindsTheDriversFunctions) {
  void* function = nullptr;
  int status = 7;
  EXPECT_EQ(
      call("cudaGetDriverEntryPointByVersion", "cuMemAlloc", &function, 12000u, 0ull, &status), 0);
  EXPECT_EQ(status, 0);
  EXPECT_NE(function, nullptr);
  EXPECT_EQ(call("cudaGetDriverEntryPointByVersion", "cuNope", &function, 12000u, 0ull, &status),
            0);
  EXPECT_EQ(status, 1);
  EXPECT_EQ(function, nullptr);
  if (GetParam() == 12) {
    EXPECT_EQ(call("cudaGetDriverEntryPoint", "cuMemAlloc", &function, 0ull, &status), 0);
    EXPECT_NE(function, nullptr);
  }
}

INSTANTIATE_TEST_SUITE_P(Versions, Runtime, ::testing::Values(12, 13));

TEST(RuntimeLibrary, IsFoundByItsPlainName) {
  void* library = dlopen(GDR_SOFT_GPU_FOLDER "/libcudart.so", RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(library, nullptr) << dlerror();
  auto version = reinterpret_cast<int (*)(int*)>(dlsym(library, "cudaRuntimeGetVersion"));
  ASSERT_NE(version, nullptr);
  int told = 0;
  EXPECT_EQ(version(&told), 0);
  EXPECT_EQ(told, 13000);
}

// Under the name of the library's version, or the dynamic linker would not bind it.
TEST(RuntimeLibrary, HasEveryNameOfTheGenuineOne) {
  const std::string genuine = GDR_CUDART_LIBRARY;
  if (genuine.empty()) GTEST_SKIP() << "no genuine libcudart when this build was configured";
  auto names = [](const std::string& path) {
    std::set<std::string> found;
    FILE* listing = popen(("nm -D --defined-only '" + path + "'").c_str(), "r");
    char name[256];
    while (listing != nullptr && std::fscanf(listing, "%*s %*s %255s", name) == 1) {
      found.insert(name);
    }
    EXPECT_EQ(listing != nullptr ? pclose(listing) : -1, 0);
    return found;
  };
  const std::set<std::string> wanted = names(genuine);
  if (!wanted.contains("cudaMalloc@@libcudart.so.13")) GTEST_SKIP() << genuine << " is not 13";
  const std::set<std::string> present = names(GDR_SOFT_GPU_FOLDER "/libcudart.so.13");
  for (const std::string& name : wanted) {
    if (name.starts_with("cuda") || name.starts_with("__cuda")) {
      EXPECT_TRUE(present.contains(name)) << name;
    }
  }
}

}  // namespace
