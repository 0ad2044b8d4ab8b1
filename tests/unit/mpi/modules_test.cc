#include "mpi/modules.h"

#include <gtest/gtest.h>

namespace gdr::mpi {
namespace {

using Folders = std::vector<std::string>;

TEST(Module, OfTclPutsItsFolderIntoPath) {
  EXPECT_EQ(folders_of_module("#%Module1.0\n"
                              "set root /opt/openmpi/4.1.5\n"
                              "prepend-path PATH $root/bin\n"
                              "prepend-path LD_LIBRARY_PATH $root/lib\n"),
            (Folders{"/opt/openmpi/4.1.5/bin"}));
  EXPECT_EQ(folders_of_module("set version 2.3\nset prefix \"/opt/mpich-${version}\"\n"
                              "prepend-path\tPATH\t[file join $prefix bin]\n"),
            (Folders{"/opt/mpich-2.3/bin"}));
}

TEST(Module, OfLuaPutsItsFolderIntoPath) {
  EXPECT_EQ(folders_of_module("local root = \"/sw/OpenMPI/4.0.5\"\n"
                              "prepend_path(\"PATH\", pathJoin(root, \"bin\"))\n"),
            (Folders{"/sw/OpenMPI/4.0.5/bin"}));
  EXPECT_EQ(folders_of_module("local base = \"/opt/x\"\nprepend_path('PATH', base .. '/bin')\n"),
            (Folders{"/opt/x/bin"}));
  EXPECT_EQ(folders_of_module("prepend_path(\"PATH\", pathJoin(\"/opt/z\", \"bin\"), \":\")\n"),
            (Folders{"/opt/z/bin"}));
  EXPECT_EQ(folders_of_module("prepend_path{\"PATH\",\"/opt/y/bin\",delim=\":\",priority=\"0\"}\n"),
            (Folders{"/opt/y/bin"}));
}

TEST(Module, ThatDependsOnWhatIsNotKnownIsLeftOut) {
  EXPECT_TRUE(folders_of_module("prepend-path PATH $env(HOME)/bin\n").empty());
  EXPECT_TRUE(folders_of_module("prepend-path PATH\n").empty());
  EXPECT_TRUE(folders_of_module("prepend-path PATH ${root\n").empty());
  EXPECT_TRUE(folders_of_module("# prepend-path PATH /opt/x/bin\n").empty());
}

}  // namespace
}  // namespace gdr::mpi
