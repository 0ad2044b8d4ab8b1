#include "text/command.h"

#include <gtest/gtest.h>

namespace gdr::text {
namespace {

std::string with_word(const std::string& foreign) {
  return Command("sudo ip link set {} up", foreign).text();
}

TEST(Command, KeepsAForeignWordOneWord) {
  EXPECT_EQ(with_word("ens1np0"), "sudo ip link set ens1np0 up");
  EXPECT_EQ(with_word(";id>N1;#"), "sudo ip link set ';id>N1;#' up");
  EXPECT_EQ(with_word("$(id) `id`"), "sudo ip link set '$(id) `id`' up");
  EXPECT_EQ(with_word("it's"), "sudo ip link set 'it'\\''s' up");
  EXPECT_EQ(with_word("=ls"), "sudo ip link set '=ls' up") << "zsh looks for a program";
  EXPECT_EQ(with_word("~root"), "sudo ip link set '~root' up");
  EXPECT_EQ(with_word(""), "sudo ip link set '' up");
}

TEST(Command, QuotesForShellsThatReadMoreWithinQuotes) {
  EXPECT_EQ(with_word("a\\"), "sudo ip link set 'a'\\\\'' up") << "fish reads \\' there";
  EXPECT_EQ(with_word("a!b"), "sudo ip link set 'a'\\!'b' up") << "csh has a history there";
}

TEST(Command, LeavesAWordThatCannotBeTypedToTheReader) {
  for (const char* foreign : {"-rf", "a\nreboot", "a\x1b[2J", "a\xff",
                              "a\xe2\x80\xae"
                              "b",
                              "\x01"}) {
    EXPECT_EQ(with_word(foreign), "sudo ip link set NAME up") << foreign;
  }
  EXPECT_EQ(with_word(std::string(5000, 'a')), "sudo ip link set NAME up");
}

TEST(Command, TakesADashWhereItBeginsNoWord) {
  EXPECT_EQ(Command("rm /{}", "-rf").text(), "rm /-rf");
  EXPECT_EQ(Command("gdr perf --nic={}", "-x").text(), "gdr perf --nic=-x");
  EXPECT_EQ(Command("a;{} $({}) b={}", "-x", "-x", "-x").text(), "a;NAME $(NAME) b=-x");
}

TEST(Command, TakesNumbersListsAndOtherCommands) {
  const Command inner("gdr perf {}", "a b");
  EXPECT_EQ(Command("srun -N{} {}", 2, inner).text(), "srun -N2 gdr perf 'a b'");
  EXPECT_EQ(Command("sysctl -w {}", std::vector<std::string>{"a=1", "b c=2", "-d"}).text(),
            "sysctl -w a=1 'b c=2' NAME");
}

TEST(Command, GoesOnInTheSameLineAndInTheNext) {
  Command command("mkdir {}", "a b");
  command.with(Command("-p")).then(Command("cd {}", "a b"));
  EXPECT_EQ(command.text(), "mkdir 'a b' -p\ncd 'a b'");
  EXPECT_EQ(Command().then(Command("id")).with(Command()).text(), "id");
}

TEST(Command, PutsAWordBehindItsBeginning) {
  EXPECT_EQ(Command("gdr prove --soft").with_behind("gdr prove", "a b").text(),
            "gdr prove 'a b' --soft");
  EXPECT_EQ(Command("gdr prove").with_behind("gdr prove", "-x").text(), "gdr prove NAME");
  EXPECT_EQ(Command("gdr doctor").with_behind("gdr prove", "n1").text(), "gdr doctor");
}

TEST(Command, RunsForEachDeviceInALoop) {
  const Command each = Command::of_each("up {}\ntee /sys/{}/a /sys/{}/b");
  EXPECT_EQ(each.for_each({"e0"}).text(), "up e0\ntee /sys/e0/a /sys/e0/b");
  EXPECT_EQ(each.for_each({"e0", "e1", "e0"}).text(),
            "for d in e0 e1; do up $d; done\n"
            "for d in e0 e1; do tee /sys/$d/a /sys/$d/b; done");
  EXPECT_EQ(each.for_each({"e0", "a b"}).text(),
            "for d in e0 'a b'; do up \"$d\"; done\n"
            "for d in e0 'a b'; do tee /sys/\"$d\"/a /sys/\"$d\"/b; done");
  EXPECT_EQ(Command::of_each("up {}").for_each({"-x", "\n"}).text(), "up NAME");
  EXPECT_EQ(Command("reboot").for_each({"a", "b"}).text(), "reboot");
}

TEST(Command, IsNoneOfALineThatCannotBeShown) {
  EXPECT_EQ(Command::known("ip link; rdma link").text(), "ip link; rdma link");
  EXPECT_TRUE(Command::known("id\n").empty());
  EXPECT_TRUE(Command::known("id\x1b[8m; reboot").empty());
}

TEST(PlainName, MeansItselfInListsAndSettings) {
  for (const char* name : {"n07", "0000:19:00.0", "ens1f0np0", "mlx5_0", "a.b-c"}) {
    EXPECT_TRUE(is_plain_name(name)) << name;
  }
  for (const char* name : {"", "-x", "a b", "n[1-9]", "a,b", "a/b", "*", "\xc3\xa9", "a\n"}) {
    EXPECT_FALSE(is_plain_name(name)) << name;
  }
}

}  // namespace
}  // namespace gdr::text
