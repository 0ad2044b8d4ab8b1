#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "base/counter_file.h"
#include "cli/subcommands.h"
#include "ports/port_file.h"
#include "ports/port_folder.h"
#include "scratch_folder.h"

namespace gdr::cli {
namespace {

constexpr const char* kNames[] = {"packets_sent", "wrong_icrc"};

class CountersCommand : public testing::Test {
 protected:
  std::string file(const std::string& name, std::uint64_t sent, std::uint64_t wrong) {
    const std::string path = folder_ + "/" + name;
    const auto values = map_counters(path, kNames);
    EXPECT_TRUE(values);
    (*values)[0] = sent;
    (*values)[1] = wrong;
    return path;
  }

  // The exit status of `gdr counters WORDS...`; what it printed is in `printed_`.
  int run(std::vector<std::string> words) {
    CLI::App program("", "gdr");
    Action chosen;
    add_counters(program, chosen);
    words.insert(words.begin(), "counters");
    std::reverse(words.begin(), words.end());
    program.parse(words);
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    const int status = chosen();
    printed_ = testing::internal::GetCapturedStdout();
    said_ = testing::internal::GetCapturedStderr();
    return status;
  }

  test::ScratchFolder scratch_;
  std::string folder_ = scratch_.root(), printed_, said_;
};

TEST_F(CountersCommand, PrintsWhatIsNotZero) {
  EXPECT_EQ(run({file("a", 7, 0)}), 0);
  EXPECT_EQ(printed_, "packets_sent                7\n");
}

TEST_F(CountersCommand, PrintsEveryCounterWhereAskedTo) {
  EXPECT_EQ(run({"--all", file("a", 7, 0)}), 0);
  EXPECT_EQ(printed_,
            "packets_sent                7\n"
            "wrong_icrc                  0\n");
}

TEST_F(CountersCommand, SaysThatNothingWasCounted) {
  EXPECT_EQ(run({file("a", 0, 0)}), 0);
  EXPECT_EQ(printed_, "nothing counted yet\n");
}

TEST_F(CountersCommand, NamesTheFilesWhereThereAreSeveral) {
  const std::string a = file("a", 7, 0), b = file("b", 0, 2);
  EXPECT_EQ(run({a, b}), 0);
  EXPECT_EQ(printed_,
            a + ":\npackets_sent                7\n\n" + b + ":\nwrong_icrc                  2\n");
}

TEST_F(CountersCommand, PrintsTheSameAsJson) {
  const std::string a = file("a", 7, 0), b = file("b", ~std::uint64_t{0}, 2);
  EXPECT_EQ(run({"--json", a, b}), 0);
  const auto json = nlohmann::json::parse(printed_)["sources"];
  ASSERT_EQ(json.size(), 2u);
  EXPECT_EQ(json[0]["file"], a);
  EXPECT_EQ(json[0]["counters"], (nlohmann::json{{"packets_sent", 7}}));
  EXPECT_EQ(json[1]["counters"]["packets_sent"], ~std::uint64_t{0});
  EXPECT_EQ(run({"--json", "--all", a}), 0);
  EXPECT_EQ(nlohmann::json::parse(printed_)["sources"][0]["counters"]["wrong_icrc"], 0);
}

TEST_F(CountersCommand, RefusesAFileThatHoldsNoCountersAndPrintsNothing) {
  const std::string other = folder_ + "/other";
  std::ofstream(other) << "not counters";
  EXPECT_EQ(run({file("a", 7, 0), other}), 2);
  EXPECT_EQ(printed_, "");
  EXPECT_NE(said_.find(other + ": not a file of counters"), std::string::npos);
  EXPECT_EQ(run({folder_ + "/missing"}), 2);
  EXPECT_EQ(run({folder_}), 2);
}

TEST_F(CountersCommand, PrintsWithoutAFileWhatTheSoftwareNicsPortsHaveCounted) {
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
  setenv("XDG_RUNTIME_DIR", folder_.c_str(), 1);
  EXPECT_EQ(run({}), 2);
  EXPECT_NE(said_.find("no software NIC has counted anything"), std::string::npos) << said_;
  ports::PortFiles files(ports::port_folder(folder_));
  files.port("mlx5_0", 1).add(ports::PortCount::kXmitPackets, 12);
  EXPECT_EQ(run({}), 0);
  EXPECT_EQ(printed_.substr(0, printed_.find('\n')), "software NIC mlx5_0:");
  EXPECT_NE(printed_.find("counters/port_xmit_packets "), std::string::npos) << printed_;
  EXPECT_EQ(printed_.find("port_rcv_packets"), std::string::npos) << printed_;
  EXPECT_EQ(run({"--json"}), 0);
  const auto json = nlohmann::json::parse(printed_)["sources"];
  EXPECT_EQ(json[0]["port"], "software NIC mlx5_0");
  EXPECT_EQ(json[0]["counters"]["hw_counters/sent_pkts"], 12);
  unsetenv("XDG_RUNTIME_DIR");
}

}  // namespace
}  // namespace gdr::cli
