// `gdr prove` on a machine that has an RDMA NIC (a captured tree says so), where the loader was
// told to take the software NIC instead.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>

#include "proof/prove.h"
#include "proof/verdict.h"

namespace gdr::proof {
namespace {

namespace fs = std::filesystem;

TEST(HiddenHardware, IsNeverProvedByAStandInThatTheLoaderFindsFirst) {
  char name[] = "/tmp/gdr-hidden-XXXXXX";
  ASSERT_NE(mkdtemp(name), nullptr);
  const fs::path root(name);
  fs::create_directories(root / "sys/class/infiniband/soft0");
  const fs::path stand_ins = fs::path(GDR_PROGRAM).parent_path().parent_path() / "lib/gdrkit";
  setenv("LD_LIBRARY_PATH", (stand_ins / "soft-nic").c_str(), 1);
  Options options;
  options.program = GDR_PROGRAM;
  options.root = root;
  options.soft_verbs = stand_ins / "soft-nic/libibverbs.so.1";
  options.soft_cuda = stand_ins / "soft-gpu/libcuda.so.1";
  options.sizes = {1};
  options.measure = false;
  Listener silent;
  const Result<Report> report = prove(options, silent);
  fs::remove_all(root);
  ASSERT_TRUE(report);
  EXPECT_EQ(headline(report->verdict), "FAILED");
  ASSERT_FALSE(report->verdict.seen.empty());
  EXPECT_NE(report->verdict.seen.front().find("the stand-in was loaded instead"), std::string::npos)
      << report->verdict.seen.front();
}

}  // namespace
}  // namespace gdr::proof
