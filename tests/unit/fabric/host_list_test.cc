// Where Slurm 22.05 was asked, what `scontrol show hostnames` and `show hostlistsorted` answered.
#include "fabric/host_list.h"

#include <gtest/gtest.h>

namespace gdr::fabric {
namespace {

using Names = std::vector<std::string>;

Names expanded(std::string_view text) {
  Result<Names> names = expand_host_list(text);
  return names ? *names : Names{"error: " + names.error().message};
}

TEST(FabricHostList, ExpandsAsSlurmDoes) {
  EXPECT_EQ(expanded("n[01-03,07],login1"), (Names{"n01", "n02", "n03", "n07", "login1"}));
  EXPECT_EQ(expanded("n[9-11]"), (Names{"n9", "n10", "n11"}));
  EXPECT_EQ(expanded("n[09-11]"), (Names{"n09", "n10", "n11"}));
  EXPECT_EQ(expanded("n[8-010]"), (Names{"n8", "n9", "n10"}));
  EXPECT_EQ(expanded("n[1-2,1]"), (Names{"n1", "n2", "n1"}));
  EXPECT_EQ(expanded("n1,,n2"), (Names{"n1", "n2"}));
  EXPECT_EQ(expanded("n1 n2\n"), (Names{"n1", "n2"}));
  EXPECT_EQ(expanded("[1-3]"), (Names{"1", "2", "3"}));
  EXPECT_EQ(expanded(""), Names{});
}

TEST(FabricHostList, SeveralBracketsAreEachCombinationWithTheLastOneFastest) {
  EXPECT_EQ(expanded("rack[1-2]n[01-02]"), (Names{"rack1n01", "rack1n02", "rack2n01", "rack2n02"}));
}

TEST(FabricHostList, TakesStepsAndSuffixes) {
  EXPECT_EQ(expanded("n[0-6:2]"), (Names{"n0", "n2", "n4", "n6"}));
  EXPECT_EQ(expanded("n[01-02]-ib.example"), (Names{"n01-ib.example", "n02-ib.example"}));
}

TEST(FabricHostList, MalformedListIsAnErrorOfOneLine) {
  for (const char* text : {"n[1-3", "n[3-1]", "n[]", "n[1,,2]", "n[1x]", "n1]", "n[[1]]", "n[1-]",
                           "n[-1]", "n[1:0]", "n[1-4:]", "n[\n", "n[99999999999999999999]"}) {
    const Result<Names> names = expand_host_list(text);
    ASSERT_FALSE(names) << text;
    EXPECT_EQ(names.error().message.find('\n'), std::string::npos) << text;
    EXPECT_NE(names.error().message.find("write it as n[01-08,12],login1"), std::string::npos);
  }
}

TEST(FabricHostList, HugeListIsRefusedBeforeItTakesMemory) {
  EXPECT_FALSE(expand_host_list("n[1-999999999]"));
  EXPECT_FALSE(expand_host_list("n[1-999999999999999999:1]"));
  EXPECT_FALSE(expand_host_list("a[1-60000]b[1-60000]c[1-60000]"));
  EXPECT_FALSE(expand_host_list("n[1-60000],m[1-60000]"));
  EXPECT_FALSE(expand_host_list("n[1-60000,1-60000]"));
  EXPECT_FALSE(expand_host_list(std::string(100'000, 'n')));
  EXPECT_EQ(expanded("n[1-65536]").size(), 65'536U);
}

TEST(FabricHostList, CompressesAsScontrolDoes) {
  EXPECT_EQ(compress_host_list({"n03", "n01", "n02", "n07"}), "n[01-03,07]");
  EXPECT_EQ(compress_host_list({"rack1n01", "rack1n02", "rack2n01"}), "rack1n[01-02],rack2n01");
  EXPECT_EQ(compress_host_list({"n9", "n10", "n11"}), "n[9-11]");
  EXPECT_EQ(compress_host_list({"n09", "n10", "n8"}), "n[8,09-10]");
  EXPECT_EQ(compress_host_list({"n01", "n1", "n2", "n02"}), "n[1-2,01-02]");
  EXPECT_EQ(compress_host_list({"login", "login1", "n1", "n3"}), "login,login1,n[1,3]");
  EXPECT_EQ(compress_host_list({"b1", "a1", "b2"}), "a1,b[1-2]");
  EXPECT_EQ(compress_host_list({"7", "8", "9"}), "[7-9]");
  EXPECT_EQ(compress_host_list({"n099", "n100"}), "n[099-100]");
  EXPECT_EQ(compress_host_list({"a1-ib", "a2-ib"}), "a1-ib,a2-ib");
  EXPECT_EQ(compress_host_list({}), "");
}

TEST(FabricHostList, NameThatIsListedTwiceComesOutOnce) {
  EXPECT_EQ(compress_host_list({"n1", "n1", "n2"}), "n[1-2]");
}

TEST(FabricHostList, CompressedListExpandsToTheSameNames) {
  Names names;
  for (std::uint32_t number = 0; number < 3000; number = number * 5 / 4 + 1) {
    names.push_back("n" + std::to_string(number));
    names.push_back("n0" + std::to_string(number));
    names.push_back("rack" + std::to_string(number % 7) + "-" + std::to_string(number));
    names.push_back(std::to_string(number) + "x");
    names.push_back("long" + std::string(19, '1') + std::to_string(number));
  }
  Names again = expanded(compress_host_list(names));
  std::ranges::sort(again);
  std::ranges::sort(names);
  names.erase(std::unique(names.begin(), names.end()), names.end());
  EXPECT_EQ(again, names);
}

}  // namespace
}  // namespace gdr::fabric
