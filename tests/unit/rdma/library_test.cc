#include "rdma/library.h"

#include <gtest/gtest.h>

namespace gdr::rdma {
namespace {

TEST(Library, MissingIsAnErrorThatNamesThePathAndThePackage) {
  Result<const Library*> library = Library::load("/no/such/libibverbs.so.1");
  ASSERT_FALSE(library);
  EXPECT_NE(library.error().message.find("/no/such/libibverbs.so.1"), std::string::npos);
  EXPECT_NE(library.error().message.find("apt-get install"), std::string::npos);
}

TEST(Library, WithoutTheFunctionsNamesTheFirstMissingOne) {
  Result<const Library*> library = Library::load("libm.so.6");
  ASSERT_FALSE(library);
  EXPECT_EQ(library.error().code, ENOSYS);
  EXPECT_NE(library.error().message.find("ibv_get_device_list@IBVERBS_1.1"), std::string::npos);
}

TEST(Library, LoadedTwiceIsTheSame) {
  Result<const Library*> first = Library::load("libibverbs.so.1");
  if (!first) GTEST_SKIP() << first.error().message;
  Result<const Library*> second = Library::load("libibverbs.so.1");
  ASSERT_TRUE(second);
  EXPECT_EQ(*first, *second);
}

TEST(VerbsError, NamesCallTextAndNumber) {
  EXPECT_EQ(verbs_error("ibv_reg_mr", 14).message, "ibv_reg_mr: Bad address (errno 14)");
}

}  // namespace
}  // namespace gdr::rdma
