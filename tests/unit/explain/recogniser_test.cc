#include "explain/recogniser.h"

#include <gtest/gtest.h>

#include "explained.h"

namespace gdr::explain {
namespace {

constexpr const char* kDisabled =
    "node1:5:9 [0] NCCL INFO NET/IB : GPU Direct RDMA Disabled for HCA 0 'mlx5_0'\n";

TEST(Recogniser, SaysNothingOfAnOrdinaryText) {
  const Explanation explanation = explain("all is well\n\nConnected all rings\n");
  EXPECT_TRUE(explanation.found.empty());
  EXPECT_EQ(explanation.lines, 3u);
}

TEST(Recogniser, ShowsTheLineAndCountsTheOthers) {
  std::string text = "first\n";
  for (int i = 0; i < 9; ++i) text += "Couldn't allocate MR with error=14\n";
  const Explanation explanation = explain(text);
  ASSERT_EQ(ids(explanation), Ids{"mr-bad-address"});
  EXPECT_EQ(explanation.found[0].times, 9u);
  ASSERT_EQ(explanation.found[0].seen.size(), 1u);
  EXPECT_EQ(explanation.found[0].seen[0].line, 2u);
}

TEST(Recogniser, KeepsAFewLinesThatDifferAndNoMore) {
  std::string text;
  for (int i = 0; i < 50; ++i) {
    text += "NET/IB : GPU Direct RDMA Disabled for HCA " + std::to_string(i) + " 'mlx5_0'\n";
  }
  const Explanation explanation = explain(text);
  ASSERT_EQ(ids(explanation), Ids{"nccl-no-peer-memory"});
  EXPECT_EQ(explanation.found[0].seen.size(), kMostSeen);
  EXPECT_EQ(explanation.found[0].times, 50u);
}

TEST(Recogniser, NeedsEveryPartOfASymptomOfSeveralLines) {
  EXPECT_EQ(ids(explain(kDisabled)), Ids{"nccl-no-peer-memory"});
  EXPECT_EQ(ids(explain("nvidia_peermem         12288  0\n")), Ids{});
  EXPECT_EQ(ids(explain(std::string(kDisabled) + "nvidia_peermem         12288  0\n")),
            (Ids{"nccl-before-peermem", "nccl-no-peer-memory"}));
}

// Pairs do not mix: half of one and half of another are nothing.
TEST(Recogniser, NeedsBothHalvesOfOnePair) {
  EXPECT_EQ(ids(explain("NIXL_ERR_BACKEND\n")), Ids{"nixl-error"});
  EXPECT_EQ(ids(explain("NIXL_ERR_BACKEND\nagent.register_memory(descs)\n")),
            (Ids{"nixl-vram", "nixl-error"}));
}

TEST(Recogniser, TakesAnIdeaInAnybodysWords) {
  EXPECT_EQ(ids(explain("my_engine: could not register memory region: Bad address\n")),
            Ids{"mr-bad-address"});
  EXPECT_EQ(ids(explain("my_engine: creating queue pair failed\n")), Ids{"qp-not-created"});
}

// Where one program's own words fit a line, the idea behind them is not said besides.
TEST(Recogniser, LeavesTheIdeaOutWhereTheWordsAreKnown) {
  EXPECT_EQ(ids(explain("Couldn't allocate MR with error=14\n")), Ids{"mr-bad-address"});
}

TEST(Recogniser, TakesNoIdeaFromALineForDevelopers) {
  EXPECT_EQ(ids(explain("[1.2] [n:1:0] ib_md.c:1149 UCX DEBUG mlx5_0: cannot register memory: "
                        "Bad address\n")),
            Ids{});
}

TEST(Recogniser, ShowsOfOneLineTheCauseAlone) {
  EXPECT_EQ(ids(explain("ibv_create_qp failed: Cannot allocate memory\n")), Ids{"nic-resources"});
  EXPECT_EQ(ids(explain("ibv_create_qp failed\nibv_create_qp failed: Cannot allocate memory\n")),
            (Ids{"nic-resources", "qp-not-created"}));
}

TEST(Recogniser, TakesAnIdeaWithoutItsReasonAndThenABareNameOnlyWhereNothingElseFits) {
  EXPECT_EQ(ids(explain("ibv_create_cq failed\n")), Ids{"qp-not-created"});
  EXPECT_EQ(ids(explain("ibv_create_cq failed: Connection timed out\n")),
            Ids{"nic-command-timeout"});
  EXPECT_EQ(ids(explain("ibv_bind_mw failed\n")), Ids{"verbs-call"});
}

TEST(Recogniser, PutsWhatSaysNoReasonBehindWhatSaysOne) {
  EXPECT_EQ(ids(explain("UCX  ERROR something else\nibv_reg_mr failed: Invalid argument\n")),
            (Ids{"mr-invalid-argument", "ucx-call"}));
}

TEST(Recogniser, TakesNoComplaintFromWhatNcclDoesWithout) {
  EXPECT_EQ(ids(explain("n:5:9 [0] NCCL INFO Call to ibv_set_ece failed with error errno 95\n")),
            Ids{});
}

// "-Werror" names no error.
TEST(Recogniser, TakesNoComplaintFromACompilersCommandLine) {
  EXPECT_EQ(ids(explain("make: *** [Makefile:72: gdrdrv] Error 2\n")), Ids{"gdrcopy-build"});
  EXPECT_EQ(ids(explain("nvcc -I/opt/gdrcopy/include -Werror -c net.cu -o net.o\n")), Ids{});
}

TEST(Recogniser, KeepsSilentWhereTheTextItselfSaysThatItIsNotThat) {
  const std::string text = "nvidia_peermem 16384 0\n" + std::string(kDisabled);
  EXPECT_EQ(ids(explain(text)), (Ids{"nccl-before-peermem", "nccl-no-peer-memory"}));
  EXPECT_EQ(ids(explain(text + "/sys/kernel/mm/memory_peers/amdkfd/version\n")),
            (Ids{"amd-peer-memory", "nccl-no-peer-memory"}));
}

TEST(Recogniser, TellsEventsOfANicApart) {
  EXPECT_EQ(ids(explain("NET/IB : Got async event : local catastrophic error\n")),
            Ids{"nic-event"});
  EXPECT_EQ(ids(explain("NET/IB : Got async event : GID table change\n")), Ids{"gid-changed"});
  EXPECT_EQ(ids(explain("NET/IB : Got async event : client reregistration\n")), Ids{});
}

TEST(Recogniser, PutsAnotherTopicBehindThisOne) {
  const Explanation explanation =
      explain("NVRM: Xid (PCI:0000:08:00): 31, Ch 00000001\nCouldn't allocate MR with error=14\n");
  EXPECT_EQ(ids(explanation), (Ids{"mr-bad-address", "gpu-program-fault"}));
}

TEST(Recogniser, PutsWhatFollowsBehindItsCause) {
  const Explanation explanation = explain(
      "modprobe: ERROR: could not insert 'nvidia_peermem': Invalid argument\n"
      "nvidia_peermem: disagrees about version of symbol ib_register_peer_memory_client\n");
  ASSERT_EQ(ids(explanation), (Ids{"peermem-symbol-version", "peermem-invalid-argument"}));
  EXPECT_EQ(explanation.found[0].because_of, nullptr);
  EXPECT_EQ(explanation.found[1].because_of, explanation.found[0].symptom);
}

TEST(Recogniser, GoesBackToTheFirstOfSeveralCauses) {
  const Explanation explanation = explain(
      "Got completion with error 5, opcode 0\nGot completion with error 4, opcode 0\n"
      "ACSCtl: SrcValid+ ReqRedir+\n");
  ASSERT_EQ(ids(explanation), (Ids{"acs-redirect", "gpu-access-fails", "work-flushed"}));
  EXPECT_EQ(explanation.found[1].because_of, explanation.found[0].symptom);
  EXPECT_EQ(explanation.found[2].because_of, explanation.found[0].symptom);
}

TEST(Recogniser, PutsWhatIsSureInFrontOfWhatMayBeHarmless) {
  EXPECT_EQ(ids(explain("ACSCtl: SrcValid+ TransBlk- ReqRedir+ CmpltRedir+\n"
                        "Port number 1 state is Down\n")),
            (Ids{"port-not-active", "acs-redirect"}));
}

TEST(Recogniser, IsNotLedAstrayByColoursTabsAndPadding) {
  EXPECT_EQ(ids(explain("\x1b[31m\tPort   number 1\tstate is \x1b[1mDown\x1b[0m\n")),
            Ids{"port-not-active"});
}

TEST(Recogniser, GivesTheSameForAnyPieces) {
  const std::string text = std::string(kDisabled) + "nvidia_peermem  12288  0\nno newline: MR";
  for (std::size_t piece = 1; piece < 40; ++piece) {
    Recogniser recogniser;
    for (std::size_t at = 0; at < text.size(); at += piece) {
      recogniser.feed(std::string_view(text).substr(at, piece));
    }
    EXPECT_EQ(ids(recogniser.finish()), ids(explain(text))) << piece;
  }
}

TEST(Recogniser, ShowsHostileLinesHarmless) {
  const Explanation explanation =
      explain("Port number 1 state is Down \x9b\xff\x07" + std::string(5000, 'x') + "\n");
  ASSERT_EQ(ids(explanation), Ids{"port-not-active"});
  const std::string& text = explanation.found[0].seen[0].text;
  EXPECT_LT(text.size(), 300u);
  for (const char c : text) EXPECT_NE(c, '\x07');
  EXPECT_EQ(text.find('\xff'), std::string::npos);
}

TEST(Recogniser, KnowsALogOfNccl) {
  EXPECT_TRUE(explain(kDisabled).is_nccl_log);
  EXPECT_FALSE(explain("Couldn't allocate MR\n").is_nccl_log);
}

// There is a UAR in "guard", a uct_ in "struct_output", and so on.
TEST(Recogniser, FindsNoWordWithinAnother) {
  for (const char* line :
       {"Error while creating guard", "test_struct_output failed", "afterwards: failed",
        "ImageSharp error: bad header", "ls /dev/nvidia-caps-imex-channels"}) {
    EXPECT_EQ(causes_in(line), Ids{}) << line;
  }
  EXPECT_EQ(first_of("mlx5: SHARP error"), "sharp");
}

TEST(Recogniser, TakesEverydayWordsOnlyNearANameOfTheField) {
  const std::string slow = "The inference is 5 times slower\n", name = "NCCL_IB_HCA=mlx5_0\n";
  std::string far;
  for (int i = 0; i < 11; ++i) far += "and so on\n";
  EXPECT_EQ(causes_in(slow), Ids{});
  EXPECT_EQ(causes_in(slow + name), Ids{"slow-rdma"});
  EXPECT_EQ(causes_in(name + slow), Ids{"slow-rdma"});
  EXPECT_EQ(causes_in(slow + far + name), Ids{});
  EXPECT_EQ(causes_in(name + far + slow), Ids{});
  for (const char* line :
       {"The installation completed without any errors", "Pin memory is not supported on CPU."}) {
    EXPECT_EQ(causes_in(line), Ids{}) << line;
  }
}

}  // namespace
}  // namespace gdr::explain
