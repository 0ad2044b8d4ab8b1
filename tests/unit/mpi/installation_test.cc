#include "mpi/installation.h"

#include <gtest/gtest.h>

#include "mpi/mpich.h"

namespace gdr::mpi {
namespace {

TEST(Version, IsTheFirstNumberWithADot) {
  EXPECT_EQ(parse_version("4.1.4"), (Version{4, 1, 4}));
  EXPECT_EQ(parse_version("v5.0"), (Version{5, 0, 0}));
  EXPECT_EQ(parse_version("4.1.7rc1"), (Version{4, 1, 7}));
  EXPECT_EQ(parse_version("MVAPICH2-GDR 2.3.7"), (Version{2, 3, 7}));
  EXPECT_EQ(parse_version("8.1.28.15"), (Version{8, 1, 28}));
}

TEST(Version, IsUnknownWhereThereIsNone) {
  for (const char* text : {"", "4", "4.", ".4", "none", "4.x", "..", "1..", "1.x.2.3"}) {
    EXPECT_FALSE(parse_version(text).known()) << text;
  }
}

TEST(Version, SurvivesNumbersOfAnyLength) {
  EXPECT_TRUE(parse_version(std::string(100000, '9') + ".1").known());
}

TEST(Mpichversion, GivesVersionDeviceAndOptions) {
  Installation one;
  ASSERT_TRUE(
      read_mpich_version("MPICH Version:    \t4.0.2\n"
                         "MPICH Device:    \tch4:ucx\n"
                         "MPICH configure: \t--with-ucx=/usr --without-yaksa\n",
                         one));
  EXPECT_EQ(one.version, "4.0.2");
  EXPECT_EQ(one.device, "ch4:ucx");
  EXPECT_EQ(one.configure, "--with-ucx=/usr --without-yaksa");
}

TEST(Mpiname, GivesProductAndTheOptionsBehindItsHeading) {
  Installation one;
  ASSERT_TRUE(read_mpich_version(
      "MVAPICH2-GDR 2.3.7 Sun May 29 22:00:00 EDT 2022 ch3:mrail\n\n"
      "Compilation\nCC: gcc\n\nConfiguration\n--enable-cuda --with-core-direct\n",
      one));
  EXPECT_EQ(one.title(), "MVAPICH2-GDR 2.3.7");
  EXPECT_EQ(one.device, "ch3:mrail");
  EXPECT_EQ(one.configure, "--enable-cuda --with-core-direct");
}

TEST(Mpichversion, OfAnotherProgramIsNone) {
  Installation one;
  EXPECT_FALSE(read_mpich_version("usage: mpichversion\n", one));
  EXPECT_TRUE(one.version.empty());
}

TEST(IntelVersion, IsOfOneApiAndOfBefore) {
  Installation one;
  ASSERT_TRUE(read_intel_version(
      "Intel(R) MPI Library for Linux* OS, Version 2021.11 Build 20231005 (id: 74c4a23)\n", one));
  EXPECT_EQ(one.version, "2021.11");
  ASSERT_TRUE(read_intel_version(
      "Intel(R) MPI Library for Linux* OS, Version 2019 Update 8 Build 20200624\n", one));
  EXPECT_EQ(one.number(), (Version{2019, 8, 0}));
  EXPECT_FALSE(read_intel_version("HYDRA build details:\n    Version: 4.0.2\n", one));
}

}  // namespace
}  // namespace gdr::mpi
