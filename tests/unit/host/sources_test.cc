// Where a description of a machine comes from.
#include <gtest/gtest.h>

#include "captured_host.h"
#include "described.h"
#include "host/source/source.h"

namespace gdr::host {
namespace {

TEST(Source, IsOneKindOnly) {
  Source source;
  source.hwloc_xml = "a.xml";
  source.lspci = {"b.txt"};
  EXPECT_EQ(read_inventory(source).error().code, EINVAL);
  Source three;
  three.lspci = {"a", "b", "c"};
  EXPECT_NE(error_of(read_inventory(three)).find("3 files of lspci"), std::string::npos);
}

TEST(Source, NamesTheFileThatCannotBeRead) {
  Source source;
  source.nccl_xml = "/no/such/file.xml";
  EXPECT_EQ(error_of(read_inventory(source)), "/no/such/file.xml: No such file or directory");
  source.nccl_xml = "/";
  EXPECT_EQ(error_of(read_inventory(source)), "/: Is a directory");
}

TEST(Source, NamesTheFileThatIsMalformed) {
  test::CapturedHost scratch;
  scratch.write("bad.xml", "<system>\n<cpu>");
  Source source;
  source.nccl_xml = scratch.root() + "/bad.xml";
  EXPECT_EQ(error_of(read_inventory(source)), source.nccl_xml + ": line 2: <cpu> has no end");
}

}  // namespace
}  // namespace gdr::host
