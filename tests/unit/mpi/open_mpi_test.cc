#include "mpi/open_mpi.h"

#include <gtest/gtest.h>

namespace gdr::mpi {
namespace {

TEST(OmpiInfo, ReadsParsableLines) {
  Installation one;
  ASSERT_TRUE(read_ompi_info(
      "ompi:version:full:4.1.4\n"
      "config:cli: '--with-ucx' '--with-cuda=/usr/local/cuda'\n"
      "mca:pml:ucx:version:\"component:4.1.4\"\n"
      "mca:pml:base:param:pml:value:^ucx\n"
      "mca:pml:base:param:pml:source:file (/etc/openmpi/openmpi-mca-params.conf:69)\n"
      "mca:mpi:base:param:mpi_built_with_cuda_support:value:true\n",
      one));
  EXPECT_EQ(one.version, "4.1.4");
  EXPECT_TRUE(one.has("pml", "ucx"));
  EXPECT_FALSE(one.has("btl", "openib"));
  EXPECT_EQ(one.parameter("pml"), "^ucx");
  EXPECT_EQ(one.parameters["pml"].source, "file (/etc/openmpi/openmpi-mca-params.conf:69)");
  EXPECT_EQ(one.configure, "'--with-ucx' '--with-cuda=/usr/local/cuda'");
  EXPECT_EQ(one.cuda, Tri::kYes);
}

TEST(OmpiInfo, ReadsLinesForReaders) {
  Installation one;
  ASSERT_TRUE(read_ompi_info(
      "                Open MPI: 1.10.7\n"
      "                 MCA btl: openib (MCA v2.0.0, API v2.0.0, Component v1.10.7)\n"
      "                 MCA mpi: informational \"mpi_built_with_cuda_support\" (current value: "
      "\"true\", data source: default, level: 4 tuner/basic, type: bool)\n"
      "                 MCA btl: parameter \"btl_openib_want_cuda_gdr\" (current value: \"false\", "
      "data source: environment, level: 9 dev/all, type: bool)\n",
      one));
  EXPECT_EQ(one.version, "1.10.7");
  EXPECT_TRUE(one.has("btl", "openib"));
  EXPECT_EQ(one.flag("btl_openib_want_cuda_gdr"), Tri::kNo);
  EXPECT_EQ(one.parameters["btl_openib_want_cuda_gdr"].source, "environment");
  EXPECT_EQ(one.cuda, Tri::kYes);
}

TEST(OmpiInfo, KnowsCudaByTheComponentOfOpenMpi5) {
  Installation one;
  ASSERT_TRUE(
      read_ompi_info("ompi:version:full:5.0.6\n"
                     "mca:accelerator:cuda:version:\"component:5.0.6\"\n"
                     "mca:mpi:base:param:mpi_built_with_cuda_support:value:false\n",
                     one));
  EXPECT_EQ(one.cuda, Tri::kYes);
}

TEST(OmpiInfo, OfBeforeCudaHasNone) {
  Installation one;
  ASSERT_TRUE(read_ompi_info("ompi:version:full:1.6.5\n", one));
  EXPECT_EQ(one.cuda, Tri::kNo);
}

TEST(OmpiInfo, LeavesCudaUnknownWhereNothingSaysIt) {
  Installation one;
  ASSERT_TRUE(read_ompi_info("ompi:version:full:4.1.4\n", one));
  EXPECT_EQ(one.cuda, Tri::kUnknown);
}

TEST(OmpiInfo, SurvivesLinesThatEndAnywhere) {
  const std::string whole =
      "mca:btl:openib:param:btl_openib_want_cuda_gdr:value:true\n"
      "  MCA btl: parameter \"btl_openib_want_cuda_gdr\" (current value: \"false\", data source: "
      "default)\n";
  for (std::size_t size = 0; size <= whole.size(); ++size) {
    Installation one;
    read_ompi_info(whole.substr(0, size), one);
    read_ompi_info(whole.substr(size), one);
  }
}

}  // namespace
}  // namespace gdr::mpi
