#include "mpi/run/toolchain.h"

#include <gtest/gtest.h>

namespace gdr::mpi_run {
namespace {

TEST(MpiRunToolchain, LaunchersAreKnownByTheirVersionText) {
  const std::pair<const char*, Identity> known[] = {
      {"mpirun.openmpi (OpenRTE) 4.1.4\n\nReport bugs to http://www.open-mpi.org/",
       {Family::kOpenMpi, "4.1.4"}},
      {"mpirun (Open MPI) 5.0.3\n", {Family::kOpenMpi, "5.0.3"}},
      {"HYDRA build details:\n    Version:                                 4.0.2\n",
       {Family::kMpich, "4.0.2"}},
      {"Intel(R) MPI Library for Linux* OS, Version 2021.9 Build 20230307\n",
       {Family::kIntel, "2021.9"}},
      {"slurm 22.05.8\n", {}},
      {"", {}}};
  for (const auto& [text, identity] : known)
    EXPECT_EQ(identity_of_launcher(text), identity) << text;
}

TEST(MpiRunToolchain, CompilersAreKnownByTheMacrosOfTheirHeader) {
  EXPECT_EQ(identity_of_compiler("#define OPEN_MPI 1\n#define OMPI_MAJOR_VERSION 4\n#define "
                                 "OMPI_MINOR_VERSION 1\n#define OMPI_RELEASE_VERSION 4\n"),
            (Identity{Family::kOpenMpi, "4.1.4"}));
  EXPECT_EQ(identity_of_compiler("#define MPICH_VERSION \"4.0.2\"\n"),
            (Identity{Family::kMpich, "4.0.2"}));
  EXPECT_EQ(identity_of_compiler("#define MPICH_VERSION \"3.4a2\"\n#define MVAPICH2_VERSION "
                                 "\"2.3.7\"\n"),
            (Identity{Family::kMpich, ""}));
  EXPECT_EQ(identity_of_compiler("#define I_MPI_VERSION \"2021.9.0\"\n#define MPICH_VERSION "
                                 "\"3.4\"\n")
                .family,
            Family::kIntel);
  EXPECT_EQ(identity_of_compiler("#define __linux__ 1\n"), Identity{});
}

TEST(MpiRunToolchain, OnlyToolsOfOneMpiBelongTogether) {
  const Identity open{Family::kOpenMpi, "4.1.4"}, mpich{Family::kMpich, "4.0.2"};
  EXPECT_TRUE(belong_together(open, open));
  EXPECT_FALSE(belong_together(open, mpich));
  EXPECT_FALSE(belong_together(open, {Family::kOpenMpi, "5.0.3"}));
  EXPECT_FALSE(belong_together(mpich, {Family::kIntel, "2021.9.0"}));
  EXPECT_TRUE(belong_together(mpich, {Family::kMpich, ""}));  // MVAPICH
  EXPECT_TRUE(belong_together({Family::kIntel, "2021.9"}, {Family::kIntel, "2021.9.0"}));
}

TEST(MpiRunToolchain, AMissingLauncherIsToldWithWhatToInstall) {
  ToolchainWishes wishes;
  wishes.find = [](const std::string& name) -> Result<std::string> {
    return Error{ENOENT, name + ": not found"};
  };
  Result<Toolchain> mpi = find_toolchain(wishes, "/tmp");
  ASSERT_FALSE(mpi);
  EXPECT_EQ(mpi.error().code, ENOENT);
  EXPECT_NE(mpi.error().message.find("install an MPI"), std::string::npos);
  wishes.launcher = Launcher::kSrun;
  EXPECT_NE(find_toolchain(wishes, "/tmp").error().message.find("install Slurm"),
            std::string::npos);
}

}  // namespace
}  // namespace gdr::mpi_run
