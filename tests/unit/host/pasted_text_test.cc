// Text of lspci as people paste it: every wrapping gives the machine that the bare text gives, and
// says what was skipped.
#include "host/source/pasted_text.h"

#include <gtest/gtest.h>

#include "described_machine.h"
#include "host/grade.h"
#include "host/source/hwloc_xml.h"
#include "host/source/lspci.h"
#include "host/source/nccl_xml.h"

namespace gdr::host {
namespace {

test::DescribedMachine machine() {
  test::DescribedMachine made;
  made.nodes = 2;
  made.gpu("0000:41:00.0", "0000:40:01.0", 0);
  made.nic("mlx5_0", "0000:81:00.0", "0000:80:01.0", 1);
  made.nic("mlx5_1", "0000:c1:00.0", "0000:c0:01.0", 1);
  return made;
}

std::string each_line(const std::string& text, const std::string& prefix,
                      const std::string& end = "\n") {
  std::string changed;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t stop = text.find('\n', at);
    changed += prefix + text.substr(at, stop - at) + end;
    at = stop + 1;
  }
  return changed;
}

struct Wrapping {
  const char* what;
  std::string text;
  std::size_t skipped;
};

std::vector<Wrapping> wrappings(const std::string& bare, const std::string& command) {
  return {
      {"bare", bare, 0},
      {"bash", "$ " + command + "\n" + bare, 1},
      {"root", "[root@node01 ~]# sudo " + command + "\n" + bare + "[root@node01 ~]#\n", 2},
      {"Debian", "root@node01:~# " + command + "\n" + bare + "root@node01:~# exit\n", 2},
      {"zsh", "node01% " + command + "\n" + bare, 1},
      {"fish", "user@node01 ~> " + command + "\n" + bare, 1},
      {"PowerShell", "PS C:\\> ssh node01 " + command + "\r\n" + each_line(bare, "", "\r\n"), 1},
      {"starship", "❯ " + command + "\n" + bare, 1},
      {"trace", "+ " + command + "\n" + bare, 1},
      {"fence", "```\n" + bare + "```\n", 2},
      {"fence with a language",
       "Here it is:\n\n```console\n$ " + command + "\n" + bare + "```\n\nThanks!\n", 5},
      {"tildes", "~~~text\n" + bare + "~~~\n", 2},
      {"quoted", each_line("$ " + command + "\n" + bare, "> "), 1},
      {"quoted twice", each_line(bare, ">> "), 0},
      {"quoted fence", each_line("```\n" + bare + "```\n", "> "), 2},
      {"moved in", each_line(bare, "    "), 0},
      {"moved in by a tab", each_line(bare, "\t"), 0},
      {"Windows", each_line(bare, "", "\r\n"), 0},
      {"empty lines around", "\n\n" + bare + "\n\n", 0},
      {"colours", "\x1b[01;32m$\x1b[0m " + command + "\n" + bare, 1},
      {"warnings", "pcilib: sysfs_read_vpd: read failed: Input/output error\n" + bare, 1},
      {"mark of Windows", "\xef\xbb\xbf" + bare, 0},
  };
}

std::string in_utf16(const std::string& text) {
  std::string wide = "\xff\xfe";
  for (const char c : text) wide += std::string(1, c) + '\0';
  return wide;
}

void expect_machine(const std::string& text, std::size_t skipped, const char* what) {
  const auto found = read_lspci({{"a.txt", text}});
  ASSERT_TRUE(found) << what << ": " << found.error().message;
  EXPECT_EQ(found->gpus.size(), 1u) << what;
  EXPECT_EQ(found->nics.size(), 2u) << what;
  EXPECT_EQ(found->pci.functions().size(), 6u) << what;
  EXPECT_EQ(found->pci.find("0000:81:00.0")->path.size(), 3u) << what;
  EXPECT_EQ(found->notes.size(), skipped == 0 ? 0u : 1u) << what;
  if (skipped == 0 || found->notes.empty()) return;
  const std::string number =
      std::to_string(skipped) + (skipped == 1 ? " line skipped" : " lines skipped");
  EXPECT_NE(found->notes[0].find(number), std::string::npos) << what << ": " << found->notes[0];
}

TEST(PastedText, IsTheTreeInAnyWrapping) {
  for (const Wrapping& one : wrappings(machine().lspci_tree(), "lspci -tv")) {
    expect_machine(one.text, one.skipped, one.what);
  }
  expect_machine(in_utf16(machine().lspci_tree()), 0, "UTF-16");
}

TEST(PastedText, IsTheVerboseTextInAnyWrapping) {
  for (const Wrapping& one : wrappings(machine().lspci_verbose(), "lspci -vvv")) {
    expect_machine(one.text, one.skipped, one.what);
  }
  expect_machine(in_utf16(machine().lspci_verbose()), 0, "UTF-16");
}

void expect_xml(const Result<Inventory>& found, const Wrapping& one) {
  ASSERT_TRUE(found) << one.what << ": " << found.error().message;
  EXPECT_EQ(found->gpus.size(), 1u) << one.what;
  EXPECT_EQ(found->nics.size(), 2u) << one.what;
  ASSERT_EQ(found->notes.size(), one.skipped == 0 ? 0u : 1u) << one.what;
  if (one.skipped == 0) return;
  const std::string number = std::to_string(one.skipped) + (one.skipped == 1 ? " line" : " lines");
  EXPECT_TRUE(found->notes[0].starts_with(number + " skipped that ")) << found->notes[0];
}

TEST(PastedText, IsTheXmlOfHwlocAndOfNcclInAnyWrapping) {
  const std::string declared = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  for (const std::string& head : {std::string(), declared}) {
    for (const Wrapping& one : wrappings(head + machine().hwloc(), "lstopo --of xml")) {
      expect_xml(read_hwloc_xml(one.text), one);
    }
    for (const Wrapping& one : wrappings(head + machine().nccl(), "cat topo.xml")) {
      expect_xml(read_nccl_xml(one.text), one);
    }
  }
  expect_xml(read_hwloc_xml(in_utf16(machine().hwloc())), {"UTF-16", {}, 0});
}

TEST(PastedText, NamesTheLineOfTheFileWhereAnErrorOfItsXmlIs) {
  const auto found =
      read_nccl_xml("```xml\n$ cat topo.xml\n<system>\n<cpu numaid='x'/>\n</system>\n```");
  ASSERT_FALSE(found);
  EXPECT_TRUE(found.error().message.starts_with("line 4: ")) << found.error().message;
}

TEST(PastedText, KeepsDetailsOfAVerboseTextInItsWrapping) {
  for (const Wrapping& one : wrappings(machine().lspci_verbose(), "lspci -vvv")) {
    const auto found = read_lspci({{"a.txt", one.text}});
    ASSERT_TRUE(found) << one.what;
    const PciFunction* nic = found->pci.find("0000:81:00.0");
    ASSERT_NE(nic, nullptr) << one.what;
    EXPECT_EQ(nic->numa_node, 1) << one.what;
    EXPECT_EQ(nic->links.at(0).width, 16u) << one.what;
  }
}

TEST(PastedText, MayHaveLostTheTabsInFrontOfDetails) {
  std::string text = machine().lspci_verbose();
  for (std::size_t at = text.find('\t'); at != std::string::npos; at = text.find('\t', at)) {
    if (at == 0 || text[at - 1] == '\n')
      text.erase(at, 1);
    else
      ++at;
  }
  expect_machine("```\n" + text + "```\n", 2, "without tabs");
  const auto found = read_lspci({{"a.txt", text}});
  EXPECT_EQ(found->pci.find("0000:81:00.0")->numa_node, 1);
}

TEST(PastedText, MayHoldBothTextsInOneFile) {
  const std::string tree = machine().lspci_tree(), verbose = machine().lspci_verbose();
  for (const std::string& text : {"$ lspci -tv\n" + tree + "$ lspci -vvv\n" + verbose,
                                  "$ lspci -vvv\n" + verbose + "$ lspci -tv\n" + tree}) {
    expect_machine(text, 2, "both");
    EXPECT_EQ(read_lspci({{"a.txt", text}})->pci.find("0000:81:00.0")->numa_node, 1);
  }
}

TEST(PastedText, SaysWhatWasSkippedFirst) {
  const auto found = read_lspci({{"a.txt", "user@h:~$ lspci -tv\n" + machine().lspci_tree()}});
  ASSERT_TRUE(found && found->notes.size() == 1);
  EXPECT_EQ(found->notes[0], "a.txt: 1 line skipped that is not from lspci: 'user@h:~$ lspci -tv'");
}

TEST(PastedText, IsNoneWhereNothingIsOfLspci) {
  for (const char* text :
       {"", "$ lspci -tv\n", "```\nhello\n```\n", "- [ ] task\n", "> quoted\n"}) {
    const PastedLspci found = unwrap_lspci(text);
    EXPECT_TRUE(found.tree.empty() && found.verbose.empty()) << text;
  }
}

}  // namespace
}  // namespace gdr::host
