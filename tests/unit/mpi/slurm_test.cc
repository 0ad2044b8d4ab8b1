#include "mpi/slurm.h"

#include <gtest/gtest.h>

namespace gdr::mpi {
namespace {

using Names = std::set<std::string>;

TEST(SlurmInterfaces, AreReadFromOldAndNewReleases) {
  EXPECT_EQ(read_slurm_interfaces("MPI plugin types are...\n\tnone\n\tpmi2\n\tpmix\n"
                                  "specific pmix plugin versions available: pmix_v4\n"),
            (Names{"none", "pmi2", "pmix"}));
  EXPECT_EQ(read_slurm_interfaces("srun: MPI types are...\nsrun: none\nsrun: pmix_v3\n"),
            (Names{"none", "pmix_v3"}));
}

TEST(SlurmInterfaces, OfAnErrorAreNone) {
  EXPECT_TRUE(
      read_slurm_interfaces("srun: fatal: Could not establish a configuration source\n").empty());
  EXPECT_TRUE(read_slurm_interfaces("").empty());
}

TEST(SlurmInterfaces, AreComparedWithWhatAnMpiTakes) {
  for (const auto& [offered, notes] :
       {std::pair(Names{"none", "pmi2"}, 1U), std::pair(Names{"none", "pmix_v4"}, 0U),
        std::pair(Names{}, 0U)}) {
    Judgement judgement;
    judgement.launch = "mpirun (PRRTE), or srun --mpi=pmix: it needs PMIx 4 or later";
    compare_with_slurm(offered, judgement);
    EXPECT_EQ(judgement.notes.size(), notes);
  }
}

}  // namespace
}  // namespace gdr::mpi
