#include "manual/variables.h"

#include <gtest/gtest.h>

#include <set>

#include "manual/page.h"

namespace gdr::manual {
namespace {

TEST(Variables, AreThereOnceEach) {
  std::set<std::string> names;
  for (const Variable& one : all_variables())
    EXPECT_TRUE(names.insert(one.name).second) << one.name;
  EXPECT_GE(names.size(), 20u);
}

TEST(Variables, StandInAPartOfThePage) {
  for (const Variable& one : all_variables()) {
    std::size_t parts = 0;
    for (const ConcernText& concern : all_concerns()) parts += concern.concern == one.concern;
    EXPECT_EQ(parts, 1u) << one.name;
  }
}

TEST(Variables, ThatPagesNameAreInTheTable) {
  for (const Page& page : all_pages()) {
    for (const char* name : page.variables) EXPECT_NE(find_variable(name), nullptr) << name;
  }
}

TEST(Variables, TellTheirValueAndWhatHoldsWithoutThem) {
  EXPECT_EQ(assignment_of(*find_variable("GDR_SOFT_DMA_BUF")), "GDR_SOFT_DMA_BUF=udmabuf");
  EXPECT_EQ(assignment_of(*find_variable("NO_COLOR")), "NO_COLOR");
  EXPECT_NE(brief_of(*find_variable("GDR_SOFT_GPUS")).find("(default: 2:8G)"), std::string::npos);
  EXPECT_EQ(find_variable("NOWHERE"), nullptr);
}

}  // namespace
}  // namespace gdr::manual
