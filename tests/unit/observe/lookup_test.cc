// What a program sees of the observer: nothing. In this process, which starts itself again with the
// observer preloaded in front of others.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

namespace {

using Number = int();

TEST(ObservedLookup, LeavesTheCallersPlaceInTheOrderOfLibraries) {
  void* hooked = dlsym(RTLD_DEFAULT, "gdr_test_chain");
  ASSERT_NE(hooked, nullptr);
  EXPECT_EQ(reinterpret_cast<Number*>(hooked)(), 11);
}

TEST(ObservedLookup, AsksAnotherDlsymThatIsPreloaded) {
  EXPECT_NE(dlsym(RTLD_DEFAULT, "gdr_test_secret"), nullptr);
}

TEST(ObservedLookup, FindsNoDriverWhereNoneIsLoaded) {
  ASSERT_EQ(dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), nullptr);
  void* program = dlopen(nullptr, RTLD_LAZY);
  for (void* scope : {RTLD_DEFAULT, program}) {
    dlerror();
    EXPECT_EQ(dlsym(scope, "cuMemGetHandleForAddressRange"), nullptr);
    const char* words = dlerror();
    EXPECT_NE(std::string(words != nullptr ? words : "").find("cuMemGetHandleForAddressRange"),
              std::string::npos);
  }
}

std::string library_of(void* function) {
  Dl_info where{};
  return function != nullptr && dladdr(function, &where) != 0 ? where.dli_fname : "nowhere";
}

bool is_observed(void* function) {
  return library_of(function).find("libgdr-observe.so") != std::string::npos;
}

TEST(ObservedLookup, LeavesAFunctionOfThatNameWhichIsNotTheDrivers) {
  void* other = dlopen(GDR_FIXTURE_OTHER, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(other, nullptr) << dlerror();
  EXPECT_EQ(library_of(dlsym(other, "cuGetProcAddress_v2")), GDR_FIXTURE_OTHER);
}

TEST(ObservedLookup, FindsADriverThatOnlyTheCallerIsLinkedTo) {
  void* user = dlopen(GDR_FIXTURE_USER, RTLD_NOW | RTLD_LOCAL);
  ASSERT_NE(user, nullptr) << dlerror();
  auto* find = reinterpret_cast<void* (*)(const char*)>(dlsym(user, "find_in_own_scope"));
  ASSERT_NE(find, nullptr);
  EXPECT_TRUE(is_observed(find("cuGetProcAddress_v2")));
  EXPECT_EQ(library_of(find("cuInit")), GDR_FIXTURE_DRIVER);
}

class ObservedDriver : public testing::Test {
 protected:
  void SetUp() override {
    driver_ = dlopen(GDR_FIXTURE_DRIVER, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(driver_, nullptr) << dlerror();
  }

  using Get = int(const char*, void**, int, unsigned long long);
  using Get2 = int(const char*, void**, int, unsigned long long, int*);
  using ExportRange = int(void*, unsigned long long, std::size_t, int, unsigned long long);
  using Find = int(std::uint64_t, std::uint64_t, std::uint64_t* found);

  // Whether an export by this function is known afterwards, by its memory.
  static void expect_observed(void* function) {
    constexpr unsigned long long kAddress = 0x10010000, kBytes = 0x20000;
    int file = -1;
    ASSERT_EQ(reinterpret_cast<ExportRange*>(function)(&file, kAddress, kBytes, 1, 0), 0);
    auto* find = reinterpret_cast<Find*>(dlsym(RTLD_DEFAULT, "gdr_find_observed_dma_buf"));
    ASSERT_NE(find, nullptr);
    struct stat status {};
    std::uint64_t found[3] = {};
    ASSERT_EQ(fstat(file, &status), 0);
    EXPECT_EQ(find(status.st_dev, status.st_ino, found), 1);
    EXPECT_EQ(found[0], kAddress);
    EXPECT_EQ(found[1], kBytes);
    close(file);
  }

  void* driver_ = nullptr;
};

TEST_F(ObservedDriver, GivesAFewFunctionsAnotherPlaceAndNoOthers) {
  EXPECT_TRUE(is_observed(dlsym(driver_, "cuMemGetHandleForAddressRange")));
  EXPECT_TRUE(is_observed(dlsym(driver_, "cuGetProcAddress")));
  EXPECT_TRUE(is_observed(dlsym(driver_, "cuGetProcAddress_v2")));
  EXPECT_EQ(library_of(dlsym(driver_, "cuInit")), GDR_FIXTURE_DRIVER);
  EXPECT_EQ(dlsym(driver_, "cuGetProcAddress_v2_ptsz"), nullptr) << "this driver has none";
  EXPECT_EQ(dlsym(driver_, "cuNoSuchFunction"), nullptr);
}

TEST_F(ObservedDriver, IsObservedByDlsym) {
  expect_observed(dlsym(driver_, "cuMemGetHandleForAddressRange"));
}

TEST_F(ObservedDriver, IsObservedByEveryVersionOfGetProcAddress) {
  auto* second = reinterpret_cast<Get2*>(dlsym(driver_, "cuGetProcAddress_v2"));
  auto* first = reinterpret_cast<Get*>(dlsym(driver_, "cuGetProcAddress"));
  ASSERT_NE(first, nullptr);
  ASSERT_NE(second, nullptr);
  void *by_first = nullptr, *by_second = nullptr;
  ASSERT_EQ(first("cuMemGetHandleForAddressRange", &by_first, 11070, 0), 0);
  ASSERT_EQ(second("cuMemGetHandleForAddressRange", &by_second, 12000, 0, nullptr), 0);
  expect_observed(by_first);
  expect_observed(by_second);
}

TEST_F(ObservedDriver, IsObservedThroughAGetProcAddressThatItReturned) {
  auto* get = reinterpret_cast<Get2*>(dlsym(driver_, "cuGetProcAddress_v2"));
  ASSERT_NE(get, nullptr);
  void *first = nullptr, *second = nullptr, *by_first = nullptr, *by_second = nullptr;
  int status = -1;
  ASSERT_EQ(get("cuGetProcAddress", &first, 11030, 0, nullptr), 0);
  ASSERT_EQ(get("cuGetProcAddress", &second, 12000, 0, nullptr), 0);
  ASSERT_EQ(reinterpret_cast<Get*>(first)("cuMemGetHandleForAddressRange", &by_first, 12000, 0), 0);
  ASSERT_EQ(reinterpret_cast<Get2*>(second)("cuMemGetHandleForAddressRange", &by_second, 12000, 0,
                                            &status),
            0);
  EXPECT_EQ(status, 0) << "the fifth parameter, which only the second version has";
  expect_observed(by_first);
  expect_observed(by_second);
}

TEST_F(ObservedDriver, StaysWhereItIsAfterItWasClosed) {
  void* function = dlsym(driver_, "cuMemGetHandleForAddressRange");
  ASSERT_NE(function, nullptr);
  dlclose(driver_);
  expect_observed(function);
  SetUp();
  expect_observed(dlsym(driver_, "cuMemGetHandleForAddressRange"));
}

TEST_F(ObservedDriver, AnswersAsItDoesUnobserved) {
  auto* get = reinterpret_cast<Get2*>(dlsym(driver_, "cuGetProcAddress_v2"));
  auto* make = reinterpret_cast<ExportRange*>(dlsym(driver_, "cuMemGetHandleForAddressRange"));
  ASSERT_NE(get, nullptr);
  ASSERT_NE(make, nullptr);
  void* found = this;
  int status = -1, file = -1;
  EXPECT_EQ(get("cuNoSuchFunction", &found, 12000, 0, &status), 500);
  EXPECT_EQ(found, nullptr);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(get("cuInit", &found, 12000, 0, &status), 0);
  EXPECT_EQ(library_of(found), GDR_FIXTURE_DRIVER);
  EXPECT_EQ(make(&file, 0x1000, 0x1000, 1, 0), 1);
  EXPECT_EQ(file, -1);
}

}  // namespace

int main(int count, char** arguments) {
  constexpr const char* kAgain = "GDR_TEST_PRELOADED";
  if (getenv(kAgain) == nullptr) {
    setenv(kAgain, "1", 1);
    setenv("LD_PRELOAD", GDR_PRELOADS, 1);
    execv("/proc/self/exe", arguments);
    return 1;
  }
  testing::InitGoogleTest(&count, arguments);
  return RUN_ALL_TESTS();
}
