#include "rspreload/config.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <random>
#include <string>

namespace gdr::rspreload {
namespace {

Config config_of(std::string_view text) {
  Config config;
  config.read(text);
  return config;
}

TEST(RspreloadConfig, TakesEverySocketOfTheInternetWithoutRules) {
  const Config config = config_of("");
  for (const int domain : {AF_INET, AF_INET6}) {
    EXPECT_TRUE(config.takes("any", domain, SOCK_STREAM, 0));
    EXPECT_TRUE(config.takes("any", domain, SOCK_DGRAM | SOCK_CLOEXEC, IPPROTO_UDP));
  }
  EXPECT_TRUE(config.concerns("any"));
}

TEST(RspreloadConfig, NeverTakesWhatIsNeitherTcpNorUdp) {
  const Config config = config_of("* * * *\n");
  EXPECT_FALSE(config.takes("any", AF_UNIX, SOCK_STREAM, 0));
  EXPECT_FALSE(config.takes("any", AF_NETLINK, SOCK_RAW, 0));
  EXPECT_FALSE(config.takes("any", AF_INET, SOCK_RAW, IPPROTO_ICMP));
  EXPECT_FALSE(config.takes("any", AF_INET, SOCK_DGRAM, IPPROTO_ICMP));
  EXPECT_FALSE(config.takes("any", AF_INET, SOCK_STREAM, IPPROTO_SCTP));
}

TEST(RspreloadConfig, TakesWhatOneOfItsRulesNames) {
  const Config config = config_of(
      "# program domain type protocol\n"
      "server  *      STREAM  TCP\n"
      "iperf   inet6  *       *\r\n"
      "  mixed\tPF_INET\tSOCK_DGRAM\tIPPROTO_UDP and a remark\n");
  EXPECT_EQ(config.rules(), 3u);
  EXPECT_TRUE(config.takes("server", AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
  EXPECT_FALSE(config.takes("server", AF_INET, SOCK_DGRAM, 0));
  EXPECT_TRUE(config.takes("iperf3", AF_INET6, SOCK_DGRAM, 0)) << "names are beginnings";
  EXPECT_TRUE(config.takes("IPERF", AF_INET6, SOCK_STREAM, 0)) << "in either case";
  EXPECT_FALSE(config.takes("iperf", AF_INET, SOCK_STREAM, 0));
  EXPECT_FALSE(config.takes("iper", AF_INET6, SOCK_STREAM, 0));
  EXPECT_TRUE(config.takes("mixed", AF_INET, SOCK_DGRAM, 0));
  EXPECT_FALSE(config.takes("other", AF_INET, SOCK_STREAM, 0));
  EXPECT_TRUE(config.concerns("iperf3"));
  EXPECT_FALSE(config.concerns("other"));
}

TEST(RspreloadConfig, IgnoresLinesThatMakeNoSense) {
  const Config config = config_of(
      "server * STREAM\n"
      "server INET7 STREAM TCP\n"
      "server * SEQPACKET TCP\n"
      "server * STREAM SCTP\n" +
      std::string(64, 'n') + " * * *\n" +
      "\n#server * * *\n \t \n"
      "good * * *");
  EXPECT_EQ(config.rules(), 1u);
  EXPECT_TRUE(config.takes("good", AF_INET, SOCK_STREAM, 0));
  EXPECT_FALSE(config.takes("server", AF_INET, SOCK_STREAM, 0));
}

TEST(RspreloadConfig, KeepsNoMoreRulesThanItHasRoomFor) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "p" + std::to_string(i) + " * * *\n";
  const Config config = config_of(text);
  EXPECT_EQ(config.rules(), Config::kMostRules);
  EXPECT_TRUE(config.takes("p9", AF_INET, SOCK_STREAM, 0));
}

TEST(RspreloadConfig, SurvivesGarbage) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string text(random() % 4000, '\0');
    for (char& one : text) one = " \t\n#*aSTREAMINTCP\0\xff"[random() % 20];
    const Config config = config_of(text);
    EXPECT_LE(config.rules(), Config::kMostRules);
    config.takes("a", AF_INET, SOCK_STREAM, 0);
  }
}

}  // namespace
}  // namespace gdr::rspreload
