#include "participants/stand_in_package.h"

#include <gtest/gtest.h>

#include "scratch_folder.h"

namespace gdr::participants {
namespace {

constexpr const char* kPackaged = "/usr/bin/gdr";

TEST(StandInPackage, IsInstalledByTheManagerThatInstalledTheProgram) {
  const test::ScratchFolder debian, fedora;
  debian.make("var/lib/dpkg/info/gdrkit.list");
  debian.make("var/lib/rpm");
  EXPECT_EQ(command_for_stand_ins(debian.root(), kPackaged).text(),
            "apt-get install ./gdrkit-standins_*.deb");
  fedora.make("usr/lib/sysimage/rpm");
  EXPECT_EQ(command_for_stand_ins(fedora.root(), kPackaged).text(),
            "dnf install ./gdrkit-standins-*.rpm");
}

TEST(StandInPackage, IsNotNamedWhereNoPackageBroughtTheProgram) {
  const test::ScratchFolder debian;
  debian.make("var/lib/dpkg/info/gdrkit.list");
  EXPECT_EQ(command_for_stand_ins(debian.root(), "/opt/gdrkit/bin/gdr").text(), "");
  EXPECT_EQ(command_for_stand_ins(test::ScratchFolder().root(), kPackaged).text(), "");
}

TEST(StandInPackage, MissesAFileInOneLine) {
  const std::string line = missing_stand_in("/nowhere/libcuda.so.1");
  EXPECT_EQ(line, "/nowhere/libcuda.so.1 is missing; build or install gdrkit as a whole");
}

}  // namespace
}  // namespace gdr::participants
