// What is not offered says so, in the convention of each function, and harms nothing.
#include <dlfcn.h>

#include "verbs_fixture.h"

namespace gdr::test {
namespace {

class UnsupportedTest : public VerbsTest {
 protected:
  void expect_unsupported(const void* result) {
    EXPECT_EQ(result, nullptr);
    EXPECT_EQ(errno, EOPNOTSUPP);
    errno = 0;
  }
};

TEST_F(UnsupportedTest, ObjectsAreNull) {
  errno = 0;
  ibv_counters_init_attr counters{};
  expect_unsupported(ibv_create_counters(context_, &counters));
}

TEST_F(UnsupportedTest, OperationsReturnTheErrorNumber) {
  ibv_qp* qp = create_qp(IBV_QPT_UD);
  ibv_qp_rate_limit_attr rate{};
  EXPECT_EQ(ibv_modify_qp_rate_limit(qp, &rate), EOPNOTSUPP);
  EXPECT_EQ(ibv_query_qp_data_in_order(qp, IBV_WR_RDMA_WRITE, 0), 0);
}

TEST(OldInterface, ListsDevicesButOpensNone) {
  void* library = dlopen("libibverbs.so.1", RTLD_NOW | RTLD_NOLOAD);
  ASSERT_NE(library, nullptr);
  const auto find = [&](const char* name) { return dlvsym(library, name, "IBVERBS_1.0"); };
  auto* get_list = reinterpret_cast<void** (*)(int*)>(find("ibv_get_device_list"));
  auto* free_list = reinterpret_cast<void (*)(void**)>(find("ibv_free_device_list"));
  auto* name_of = reinterpret_cast<const char* (*)(void*)>(find("ibv_get_device_name"));
  auto* guid_of = reinterpret_cast<__be64 (*)(void*)>(find("ibv_get_device_guid"));
  auto* open = reinterpret_cast<void* (*)(void*)>(find("ibv_open_device"));
  int count = 0;
  void** list = get_list(&count);
  ASSERT_NE(list, nullptr);
  ASSERT_EQ(count, 2);
  EXPECT_STREQ(name_of(list[0]), "soft0");
  EXPECT_STREQ(name_of(list[1]), "soft1");
  EXPECT_EQ(list[2], nullptr);
  EXPECT_NE(guid_of(list[0]), 0u);
  EXPECT_EQ(open(list[0]), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  free_list(list);
  dlclose(library);
}

}  // namespace
}  // namespace gdr::test
