#include "fabric/rendezvous/ssh_hosts.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "fabric/rendezvous/member_processes.h"
#include "scratch_folder.h"

namespace gdr::fabric {
namespace {

using Names = std::vector<std::string>;

std::string error_of(const Result<Names>& hosts) {
  return hosts ? "no error" : hosts.error().message;
}

TEST(FabricHosts, AListIsInSlurmsNotationAndMayNameUsers) {
  EXPECT_EQ(*hosts_of_list("n[1-3],root@m7"), (Names{"n1", "n2", "n3", "root@m7"}));
  EXPECT_EQ(*hosts_of_list("root@n[1-2],10.0.0.4"), (Names{"root@n1", "root@n2", "10.0.0.4"}));
}

TEST(FabricHosts, AFileHasAHostALineAndComments) {
  const Result<Names> hosts = hosts_of_file(
      "# the first rack\n\n n1\r\n\tn[2-3]  # two\nroot@n4 slots=8 max_slots=8\n   \nn5", "hosts");
  ASSERT_TRUE(hosts) << hosts.error().message;
  EXPECT_EQ(*hosts, (Names{"n1", "n2", "n3", "root@n4", "n5"}));
}

TEST(FabricHosts, AHostThatIsThereTwiceIsNamedWithItsLine) {
  EXPECT_TRUE(error_of(hosts_of_file("n1\nn2\nn[1-2]\n", "hosts"))
                  .starts_with("hosts line 3: host n1 is there twice; "));
  EXPECT_NE(error_of(hosts_of_list("n1,root@n1")).find("host n1 is there twice"),
            std::string::npos);
}

TEST(FabricHosts, WhatSshOrAShellWouldTakeForSomethingElseIsNoName) {
  for (const char* host : {"-oProxyCommand=x", "root@-x", "@n1", "root@", "a@b@c", "n1;ls", "n1$x",
                           "n1`ls`", "n'1", "n/1"}) {
    EXPECT_NE(error_of(hosts_of_list(host)).find("is no name of a host"), std::string::npos)
        << host << ": " << error_of(hosts_of_list(host));
  }
}

TEST(FabricHosts, FilesWithoutHostsOrWithMoreOnALineAreErrors) {
  EXPECT_EQ(error_of(hosts_of_file("# none\n", "hosts")),
            "hosts names no host; put one on each line");
  EXPECT_EQ(error_of(hosts_of_file("n1\nn2 n3\n", "hosts")),
            "hosts line 2: 'n3' behind n2; put one host on a line");
  EXPECT_TRUE(error_of(hosts_of_file("n[1-\n", "hosts")).starts_with("hosts line 1: "));
}

TEST(FabricHosts, WhatIsGivenIsAFileWhereThereIsOneAndElseAList) {
  const test::ScratchFolder folder;
  const std::string path = folder.write("hosts", "n7\n");
  EXPECT_EQ(*read_hosts(path), Names{"n7"});
  EXPECT_EQ(*read_hosts("n[8-9]"), (Names{"n8", "n9"}));
  EXPECT_NE(error_of(read_hosts("./no-such-file")).find("No such file"), std::string::npos);
  EXPECT_NE(error_of(read_hosts(folder.root())).find("is a folder"), std::string::npos);
}

TEST(FabricMemberCommands, TheShellOfTheOtherHostSeesEachWordAsItIs) {
  const std::vector<MemberCommand> commands =
      over_ssh({"root@n1", "n2"}, "my-ssh  -v", "/opt/my tools/gdr", {"fabric-member", "it's", ""});
  ASSERT_EQ(commands.size(), 2U);
  EXPECT_EQ(commands[0].host, "n1");
  EXPECT_EQ(commands[0].words, (Names{"my-ssh", "-v", "root@n1", "'/opt/my tools/gdr'",
                                      "fabric-member", "'it'\\''s'", "''", "--rank=0"}));
  EXPECT_EQ(commands[1].words.back(), "--rank=1");
}

TEST(FabricMemberCommands, SshAloneIsToldNeverToAsk) {
  const Names words = over_ssh({"n1"}, "ssh", "gdr", {}).front().words;
  EXPECT_NE(std::ranges::find(words, "BatchMode=yes"), words.end());
  EXPECT_EQ(words.at(words.size() - 3), "n1");
}

}  // namespace
}  // namespace gdr::fabric
