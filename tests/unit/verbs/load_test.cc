// Libraries that were linked to rdma-core's libibverbs load on the stand-in with every symbol
// bound.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <infiniband/verbs.h>

#include <string>

namespace gdr::test {
namespace {

class Load : public ::testing::TestWithParam<const char*> {};

TEST_P(Load, BindsEverySymbolAtOnce) {
  // The stand-in is in this process already (it is linked); its name satisfies theirs.
  Dl_info where{};
  ASSERT_NE(dladdr(reinterpret_cast<void*>(&ibv_fork_init), &where), 0);
  ASSERT_NE(std::string(where.dli_fname).find("soft-nic"), std::string::npos) << where.dli_fname;
  void* library = dlopen(GetParam(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const std::string reason = dlerror();
    if (reason.find("cannot open shared object file") != std::string::npos &&
        reason.starts_with(GetParam())) {
      GTEST_SKIP() << reason;
    }
    FAIL() << reason;
  }
  dlclose(library);
}

INSTANTIATE_TEST_SUITE_P(Libraries, Load,
                         ::testing::Values("libmlx5.so.1", "libmlx4.so.1", "libefa.so.1",
                                           "librdmacm.so.1"),
                         [](const auto& name) {
                           const std::string file = name.param;
                           return file.substr(0, file.find('.'));
                         });

// What NCCL and others look up by version.
TEST(LookUp, FindsSymbolsByVersion) {
  void* library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr) << dlerror();
  for (const auto& [name, version] : {std::pair{"ibv_get_device_list", "IBVERBS_1.1"},
                                      {"ibv_reg_mr_iova2", "IBVERBS_1.8"},
                                      {"ibv_query_ece", "IBVERBS_1.10"},
                                      {"ibv_reg_dmabuf_mr", "IBVERBS_1.12"},
                                      {"ibv_query_gid_type", "IBVERBS_PRIVATE_34"},
                                      {"ibv_query_gid_type", "IBVERBS_PRIVATE_59"}}) {
    EXPECT_NE(dlvsym(library, name, version), nullptr) << name << '@' << version;
  }
  EXPECT_NE(dlvsym(library, "ibv_get_device_list", "IBVERBS_1.0"),
            dlvsym(library, "ibv_get_device_list", "IBVERBS_1.1"));
  dlclose(library);
}

TEST(LookUp, FindsTheStandInUnderTheNameThatNcclAsksForFirst) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer's dlopen does not know where this program looks for libraries";
#endif
  void* library = dlopen("libibverbs.so", RTLD_NOW);
  ASSERT_NE(library, nullptr) << dlerror();
  EXPECT_EQ(dlvsym(library, "ibv_fork_init", "IBVERBS_1.1"),
            reinterpret_cast<void*>(&ibv_fork_init));
  dlclose(library);
}

}  // namespace
}  // namespace gdr::test
