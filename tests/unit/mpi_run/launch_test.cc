#include "mpi/run/launch.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

namespace gdr::mpi_run {
namespace {

std::string command_for(Family family, const LaunchWishes& wishes) {
  const Result<std::vector<std::string>> command =
      launch_command({"/x/launch", "/x/mpicc", {family, ""}}, wishes, {"prog", "-a"});
  return command ? fmt::format("{}", fmt::join(*command, " ")) : command.error().message;
}

TEST(MpiRunLaunch, EachLauncherIsToldInItsOwnWords) {
  LaunchWishes wishes;
  EXPECT_EQ(command_for(Family::kOpenMpi, wishes), "/x/launch -n 2 --oversubscribe prog -a");
  EXPECT_EQ(command_for(Family::kMpich, wishes), "/x/launch -n 2 prog -a");
  wishes.ranks = 3;
  wishes.hosts = {"a", "b"};
  wishes.options = {"-x", "UCX_TLS=rc"};
  wishes.is_root = true;
  EXPECT_EQ(command_for(Family::kOpenMpi, wishes),
            "/x/launch -n 3 --allow-run-as-root --host a:2,b:2 -x UCX_TLS=rc prog -a");
  EXPECT_EQ(command_for(Family::kIntel, wishes),
            "/x/launch -n 3 -hosts a,b -ppn 2 -x UCX_TLS=rc prog -a");
}

TEST(MpiRunLaunch, SrunGetsPmixUnlessToldOtherwise) {
  LaunchWishes wishes;
  wishes.launcher = Launcher::kSrun;
  EXPECT_EQ(command_for(Family::kOpenMpi, wishes),
            "/x/launch -n 2 --kill-on-bad-exit=1 --mpi=pmix prog -a");
  wishes.options = {"--mpi=pmi2"};
  wishes.hosts = {"a", "b"};
  EXPECT_EQ(command_for(Family::kMpich, wishes),
            "/x/launch -n 2 --kill-on-bad-exit=1 -N 2 -w a,b --mpi=pmi2 prog -a");
}

TEST(MpiRunLaunch, ANumberOfRanksBehindTheDashesIsRefused) {
  LaunchWishes wishes;
  wishes.options = {"--mca", "pml", "ucx", "-np", "4"};
  EXPECT_NE(command_for(Family::kOpenMpi, wishes).find("type -n N in front of --"),
            std::string::npos);
}

TEST(MpiRunLaunch, MoreHostsThanRanksAreRefused) {
  LaunchWishes wishes;
  wishes.hosts = {"a", "b", "c"};
  EXPECT_NE(command_for(Family::kOpenMpi, wishes).find("3 hosts for 2 ranks"), std::string::npos);
}

}  // namespace
}  // namespace gdr::mpi_run
