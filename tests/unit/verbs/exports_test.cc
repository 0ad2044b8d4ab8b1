// The symbol table of the stand-in against that of rdma-core 44's libibverbs.so.1.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "elf_file.h"

namespace gdr::test {
namespace {

const ElfFile& stand_in() {
  static const ElfFile file = read_elf_file(GDR_SOFT_NIC_LIBRARY);
  return file;
}

std::set<std::string> golden_list() {
  std::ifstream file(GDR_GOLDEN_SYMBOLS);
  std::set<std::string> symbols;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') symbols.insert(line);
  }
  return symbols;
}

std::set<std::string> difference(const std::set<std::string>& a, const std::set<std::string>& b) {
  std::set<std::string> only_a;
  std::set_difference(a.begin(), a.end(), b.begin(), b.end(), std::inserter(only_a, only_a.end()));
  return only_a;
}

TEST(Exports, ContainEverySymbolOfRdmaCore44InItsVersion) {
  const std::set<std::string> golden = golden_list();
  ASSERT_EQ(golden.size(), 180u);
  EXPECT_EQ(difference(golden, stand_in().exports), std::set<std::string>{});
}

TEST(Exports, ContainNothingMoreThanTheGidTypeInTheLaterPrivateNodesAndOurOwn) {
  EXPECT_EQ(
      difference(stand_in().exports, golden_list()),
      (std::set<std::string>{
          "gdr_gsi_close GDRKIT_1 default FUNC -", "gdr_gsi_id_prefix GDRKIT_1 default FUNC -",
          "gdr_gsi_listen GDRKIT_1 default FUNC -", "gdr_gsi_open GDRKIT_1 default FUNC -",
          "gdr_gsi_send GDRKIT_1 default FUNC -", "gdr_gsi_unlisten GDRKIT_1 default FUNC -",
          "ibv_query_gid_type IBVERBS_PRIVATE_57 compat FUNC -",
          "ibv_query_gid_type IBVERBS_PRIVATE_59 compat FUNC -",
          "ibv_query_gid_type IBVERBS_PRIVATE_64 compat FUNC -",
          "ibv_query_gid_type IBVERBS_PRIVATE_65 compat FUNC -"}));
  EXPECT_EQ(stand_in().unversioned_exports, std::set<std::string>{});
}

TEST(Exports, HaveTheVersionNodesOfLaterReleases) {
  for (const char* node : {"IBVERBS_1.14", "IBVERBS_1.15", "IBVERBS_1.16", "IBVERBS_1.17",
                           "IBVERBS_1.18", "IBVERBS_PRIVATE_34", "IBVERBS_PRIVATE_57",
                           "IBVERBS_PRIVATE_59", "IBVERBS_PRIVATE_64", "IBVERBS_PRIVATE_65"}) {
    EXPECT_EQ(std::count(stand_in().version_nodes.begin(), stand_in().version_nodes.end(), node), 1)
        << node;
  }
}

TEST(SharedObject, IsNamedAsProgramsAskForIt) { EXPECT_EQ(stand_in().soname, "libibverbs.so.1"); }

TEST(SharedObject, NeedsNothingButTheCLibrary) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer build needs the sanitizer's libraries";
#endif
  for (const std::string& needed : stand_in().needed) {
    EXPECT_TRUE(needed == "libc.so.6" || needed.starts_with("ld-linux")) << needed;
  }
}

}  // namespace
}  // namespace gdr::test
