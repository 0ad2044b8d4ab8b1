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

// "name node" of each function that came later.
std::set<std::string> later_list() {
  std::ifstream file(GDR_LATER_SYMBOLS);
  std::set<std::string> symbols;
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line[0] != '#') symbols.insert(line);
  }
  return symbols;
}

std::string name_and_node(const std::string& symbol) {
  return symbol.substr(0, symbol.find(' ', symbol.find(' ') + 1));
}

std::set<std::string> names_and_nodes() {
  std::set<std::string> all;
  for (const std::string& symbol : stand_in().exports) all.insert(name_and_node(symbol));
  return all;
}

TEST(Exports, ContainEveryFunctionThatLaterReleasesAdded) {
  const std::set<std::string> later = later_list();
  ASSERT_EQ(later.size(), 111u);
  EXPECT_EQ(difference(later, names_and_nodes()), std::set<std::string>{});
}

// What is neither rdma-core's nor named in the private nodes is our own.
TEST(Exports, ContainNothingMoreThanRdmaCoresAndQueuePairOne) {
  const std::set<std::string> golden = golden_list(), later = later_list();
  std::set<std::string> more;
  for (const std::string& symbol : stand_in().exports) {
    const std::string name = name_and_node(symbol);
    const bool known = golden.count(symbol) != 0 || later.count(name) != 0;
    if (!known && name.find(" IBVERBS_PRIVATE_") == std::string::npos) more.insert(name);
  }
  EXPECT_EQ(more, (std::set<std::string>{"gdr_gsi_close GDRKIT_1", "gdr_gsi_count GDRKIT_1",
                                         "gdr_gsi_id_prefix GDRKIT_1", "gdr_gsi_listen GDRKIT_1",
                                         "gdr_gsi_open GDRKIT_1", "gdr_gsi_send GDRKIT_1",
                                         "gdr_gsi_unlisten GDRKIT_1"}));
  EXPECT_EQ(stand_in().unversioned_exports, std::set<std::string>{});
}

// Debian 11's and 13's perftest is linked to provider libraries, which want these at once.
TEST(Exports, ContainWhatProvidersOfReleases33And56Import) {
  const std::set<std::string> all = names_and_nodes();
  const std::string node34 = " IBVERBS_PRIVATE_34", node33 = " IBVERBS_PRIVATE_33";
  int found = 0;
  for (const std::string& symbol : golden_list()) {
    const std::string known = name_and_node(symbol);
    if (!known.ends_with(node34) || known.starts_with("verbs_register_driver_34")) continue;
    const std::string wanted = known.substr(0, known.size() - node34.size()) + node33;
    EXPECT_EQ(all.count(wanted), 1u) << wanted;
    ++found;
  }
  EXPECT_GT(found, 60);
  EXPECT_EQ(all.count("verbs_register_driver_33" + node33), 1u);
  EXPECT_EQ(all.count("ibv_cmd_create_cq_ex2" + node34), 1u);
}

TEST(Exports, HaveTheVersionNodesOfOtherReleases) {
  for (const char* node :
       {"IBVERBS_1.14", "IBVERBS_1.15", "IBVERBS_1.16", "IBVERBS_1.17", "IBVERBS_1.18",
        "IBVERBS_PRIVATE_33", "IBVERBS_PRIVATE_34", "IBVERBS_PRIVATE_57", "IBVERBS_PRIVATE_59",
        "IBVERBS_PRIVATE_64", "IBVERBS_PRIVATE_65"}) {
    EXPECT_EQ(std::count(stand_in().version_nodes.begin(), stand_in().version_nodes.end(), node), 1)
        << node;
  }
}

// rdma-core's librspreload.so would make an rsocket of the one and a repoll instance of the other,
// or take a kernel's epoll instance for one of its own.
TEST(Imports, AreNeitherSocketNorEpollThatAPreloadedLibraryAnswers) {
  for (const char* path : {GDR_SOFT_NIC_LIBRARY, GDR_RDMACM_LIBRARY}) {
    const std::set<std::string> imports = read_elf_file(path).imports;
    EXPECT_EQ(imports.count("poll"), 1u) << path;
    for (const char* name : {"socket", "epoll_create", "epoll_create1", "epoll_ctl", "epoll_wait",
                             "epoll_pwait", "epoll_pwait2"}) {
      EXPECT_EQ(imports.count(name), 0u) << path << ": " << name << "; see base/system_calls.h";
    }
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
