#include "mpi/fabrics.h"

#include <gtest/gtest.h>

namespace gdr::mpi {
namespace {

TEST(UcxInfo, GivesItsVersionInTheWordsOfEachRelease) {
  for (const auto& [line, version] : {std::pair("# Version 1.13.1", "1.13.1"),
                                      std::pair("# UCT version=1.8.0 revision c30b7da", "1.8.0"),
                                      std::pair("# Library version: 1.17.0", "1.17.0")}) {
    Ucx ucx;
    read_ucx_version(line, ucx);
    EXPECT_EQ(ucx.version, version);
  }
}

TEST(UcxInfo, TellsCudaByTheOptions) {
  Ucx with, without;
  read_ucx_version("# Configured with: --with-cuda=/usr/local/cuda --with-gdrcopy", with);
  read_ucx_version("# Configured with: --with-verbs --with-cuda=no", without);
  EXPECT_EQ(with.cuda, Tri::kYes);
  EXPECT_EQ(with.gdrcopy, Tri::kYes);
  EXPECT_EQ(without.cuda, Tri::kNo);
  EXPECT_EQ(without.network, Tri::kYes);
}

TEST(UcxInfo, TellsCudaByTheTransports) {
  Ucx ucx;
  read_ucx_devices(
      "# Memory domain: mlx5_0\n#     Component: ib\n"
      "#             register: unlimited, dmabuf, cost: 16000 + 0.060 * N nsec\n"
      "#      Transport: rc_mlx5\n# Memory domain: cuda_cpy\n#      Transport: cuda_copy\n",
      ucx);
  EXPECT_EQ(ucx.cuda, Tri::kYes);
  EXPECT_EQ(ucx.network, Tri::kYes);
  EXPECT_EQ(ucx.dma_buf, Tri::kYes);
  EXPECT_EQ(ucx.gdrcopy, Tri::kUnknown);
}

TEST(UcxInfo, ConcludesNothingFromMissingTransports) {
  Ucx ucx;
  read_ucx_devices("# Memory domain: tcp\n#      Transport: tcp\n", ucx);
  EXPECT_EQ(ucx.cuda, Tri::kUnknown);
  EXPECT_EQ(ucx.network, Tri::kUnknown);
}

TEST(FiInfo, TellsCudaByItsVariables) {
  Ofi with, without, silent;
  read_fi_variables("# FI_HMEM_CUDA_USE_GDRCOPY: Boolean\n", with);
  read_fi_variables("# FI_HMEM_DISABLE_P2P: Boolean\n# FI_MR_CUDA_CACHE_MONITOR_ENABLED: x\n",
                    without);
  read_fi_variables("", silent);
  EXPECT_EQ(with.cuda, Tri::kYes);
  EXPECT_EQ(without.cuda, Tri::kNo);
  EXPECT_EQ(silent.cuda, Tri::kUnknown);
}

TEST(FiInfo, GivesVersionAndProviders) {
  Ofi ofi;
  read_fi_version("fi_info: 1.17.0\nlibfabric: 1.17.0\nlibfabric api: 1.17\n", ofi);
  read_fi_providers("verbs:\n    version: 117.0\nofi_rxm:\n    version: 117.0\n", ofi);
  EXPECT_EQ(ofi.version, "1.17.0");
  EXPECT_EQ(ofi.providers, (std::set<std::string>{"ofi_rxm", "verbs"}));
}

}  // namespace
}  // namespace gdr::mpi
