#include "proof/diagnosis.h"

#include <gtest/gtest.h>
#include <infiniband/verbs.h>

namespace gdr::proof {
namespace {

using Kind = Damage::Kind;

Completion success() {
  Completion completion;
  completion.seen = true;
  completion.status_text = "success";
  return completion;
}

Completion error(int status) {
  Completion completion = success();
  completion.status = status;
  completion.status_text = "some error";
  return completion;
}

Observation seen(Kind kind) {
  Observation observation;
  observation.sent = success();
  observation.damage = Damage{};
  observation.damage->kind = kind;
  observation.damage->length = 65;
  return observation;
}

bool mentions(const Advice& advice, const std::string& word) {
  for (const std::string& cause : advice.causes) {
    if (cause.find(word) != std::string::npos) return true;
  }
  return false;
}

TEST(Judge, IsSatisfiedOnlyByCompletionAndEveryByte) {
  EXPECT_EQ(judge(seen(Kind::kIntact)), Symptom::kNone);
  EXPECT_NE(judge(Observation{}), Symptom::kNone) << "nothing observed is nothing proved";
}

TEST(Judge, TellsEveryFindingApart) {
  EXPECT_EQ(judge(seen(Kind::kUnchanged)), Symptom::kCompletionWithoutData);
  EXPECT_EQ(judge(seen(Kind::kDisplaced)), Symptom::kDisplaced);
  EXPECT_EQ(judge(seen(Kind::kStale)), Symptom::kStale);
  EXPECT_EQ(judge(seen(Kind::kBitFlipped)), Symptom::kBitFlipped);
  EXPECT_EQ(judge(seen(Kind::kTailMissing)), Symptom::kTailMissing);
  EXPECT_EQ(judge(seen(Kind::kPartMissing)), Symptom::kPartMissing);
  EXPECT_EQ(judge(seen(Kind::kCorrupted)), Symptom::kCorrupted);
  EXPECT_EQ(judge(seen(Kind::kGuardOverwritten)), Symptom::kGuardOverwritten);
}

TEST(Judge, SeesDataWithoutCompletionOnEitherSide) {
  Observation no_send = seen(Kind::kIntact);
  no_send.sent = Completion{};
  EXPECT_EQ(judge(no_send), Symptom::kDataWithoutCompletion);
  EXPECT_EQ(describe(judge(no_send), no_send),
            "data without completion: the sender's completion never came, yet every byte arrived");
  Observation no_receive = seen(Kind::kIntact);
  no_receive.has_receive = true;
  no_receive.received = Completion{};
  EXPECT_EQ(judge(no_receive), Symptom::kDataWithoutCompletion);
  EXPECT_NE(describe(judge(no_receive), no_receive).find("the receiver's completion"),
            std::string::npos);
}

TEST(Judge, SeesThatNothingHappened) {
  Observation nothing = seen(Kind::kUnchanged);
  nothing.has_receive = true;
  nothing.received = Completion{};
  EXPECT_EQ(judge(nothing), Symptom::kNothingArrived);
  EXPECT_NE(describe(judge(nothing), nothing).find("no completion and no data"), std::string::npos);
}

TEST(Judge, PutsErrorsBeforeWhatTheMemoryShows) {
  Observation send = seen(Kind::kUnchanged);
  send.sent = error(IBV_WC_RETRY_EXC_ERR);
  EXPECT_EQ(judge(send), Symptom::kSendError);
  Observation receive = seen(Kind::kUnchanged);
  receive.has_receive = true;
  receive.received = error(IBV_WC_LOC_LEN_ERR);
  EXPECT_EQ(judge(receive), Symptom::kReceiveError);
  Observation refused = seen(Kind::kIntact);
  refused.refused = Error{EIO, "the receiving process died"};
  EXPECT_EQ(judge(refused), Symptom::kRefused);
}

TEST(Judge, DoesNotForgiveAWrongImmediateWithRightData) {
  Observation wrong = seen(Kind::kIntact);
  wrong.wrong = "the wrong immediate arrived";
  EXPECT_EQ(judge(wrong), Symptom::kWrongMetadata);
}

TEST(Advise, NamesTheKernelsRouteWhenRetriesRunOutBetweenPortsOfOneHost) {
  Observation retries = seen(Kind::kUnchanged);
  retries.sent = error(IBV_WC_RETRY_EXC_ERR);
  Circumstances around;
  around.near = "mlx5_0";
  around.far = "mlx5_1";
  const Advice advice = advise(judge(retries), retries, around);
  ASSERT_FALSE(advice.causes.empty());
  EXPECT_NE(advice.causes.front().find("loop inside mlx5_0"), std::string::npos);
  around.same_nic = true;
  EXPECT_FALSE(mentions(advise(judge(retries), retries, around), "loop inside"));
}

Observation vanished_frame() {
  Observation nothing = seen(Kind::kUnchanged);
  nothing.has_receive = true;
  nothing.received = Completion{};
  return nothing;
}

TEST(Advise, ForFramesThatVanishSaysWhatTheCountersTellAndNotTheOpposite) {
  const Observation nothing = vanished_frame();
  Circumstances around;
  around.queue = QueueKind::kRaw;
  const Advice unknown = advise(judge(nothing), nothing, around);
  EXPECT_TRUE(mentions(unknown, "no flow rule matched"));
  EXPECT_TRUE(mentions(unknown, "no cable"));
  around.counters_known = true;
  around.receiver_moved = false;
  const Advice away = advise(judge(nothing), nothing, around);
  EXPECT_TRUE(mentions(away, "did not move"));
  EXPECT_FALSE(mentions(away, "flow"));
  around.receiver_moved = true;
  const Advice arrived = advise(judge(nothing), nothing, around);
  EXPECT_TRUE(mentions(arrived, "no flow rule matched"));
  EXPECT_TRUE(mentions(arrived, "belongs to the other port"));
  EXPECT_FALSE(mentions(arrived, "cable"));
}

TEST(Advise, OfFramesBetweenStandInsBlamesNoCable) {
  const Observation nothing = vanished_frame();
  Circumstances around;
  around.queue = QueueKind::kRaw;
  around.soft_nic = around.soft_gpu = true;
  const Advice advice = advise(judge(nothing), nothing, around);
  EXPECT_TRUE(mentions(advice, "no flow rule matched"));
  EXPECT_FALSE(mentions(advice, "cable"));
}

TEST(Advise, WhenSuccessLeftTheMemoryUnchangedSaysWhetherTheCountersMoved) {
  const Observation unchanged = seen(Kind::kUnchanged);
  Circumstances around;
  around.far = "mlx5_1";
  EXPECT_FALSE(mentions(advise(judge(unchanged), unchanged, around), "counters"));
  around.counters_known = true;
  const Advice advice = advise(judge(unchanged), unchanged, around);
  EXPECT_NE(advice.causes.front().find("counters of mlx5_1 did not move"), std::string::npos);
  around.receiver_moved = true;
  EXPECT_FALSE(mentions(advise(judge(unchanged), unchanged, around), "counters"));
}

TEST(Advise, BlamesTheGpuPathOnlyWhenHostMemoryWorks) {
  Circumstances around;
  const Observation unchanged = seen(Kind::kUnchanged);
  EXPECT_TRUE(mentions(advise(judge(unchanged), unchanged, around), "ACS"));
  around.host_works = false;
  EXPECT_FALSE(mentions(advise(judge(unchanged), unchanged, around), "ACS"));
  EXPECT_TRUE(mentions(advise(judge(unchanged), unchanged, around), "the GPU is not the cause"));
}

TEST(Advise, OnStandInsSaysFirstThatTheHardwareIsNotToBlame) {
  Circumstances around;
  around.soft_nic = around.soft_gpu = true;
  const Observation unchanged = seen(Kind::kUnchanged);
  const Advice advice = advise(judge(unchanged), unchanged, around);
  EXPECT_NE(advice.causes.front().find("not in your hardware"), std::string::npos);
  EXPECT_EQ(advice.next.text(), "./test");
}

TEST(Advise, AlwaysEndsWithACommandForAFailure) {
  for (Kind kind :
       {Kind::kUnchanged, Kind::kDisplaced, Kind::kStale, Kind::kBitFlipped, Kind::kTailMissing,
        Kind::kPartMissing, Kind::kCorrupted, Kind::kGuardOverwritten}) {
    const Observation observation = seen(kind);
    const Advice advice = advise(judge(observation), observation, Circumstances{});
    EXPECT_FALSE(advice.causes.empty());
    EXPECT_FALSE(advice.next.empty());
  }
}

TEST(Advise, TellsALibraryThatCrashedFromOneThatHangsAndOneThatRefuses) {
  const auto causes_of = [](int code) {
    Observation refused;
    refused.refused = Error{code, "text"};
    return advise(judge(refused), refused, Circumstances{});
  };
  EXPECT_TRUE(mentions(causes_of(ECONNRESET), "crashed"));
  EXPECT_TRUE(mentions(causes_of(ETIMEDOUT), "hangs"));
  EXPECT_TRUE(mentions(causes_of(EIO), "refused a call"));
}

std::string decoded(Registration registration, int code) {
  CreateBuffer::Reply reply;
  reply.stage = RegistrationStage::kRegister;
  reply.code = code;
  reply.detail = "call";
  return decode_registration(registration, reply);
}

TEST(DecodeRegistration, KnowsTheErrorsOfBothWays) {
  EXPECT_NE(decoded(Registration::kPeerMemory, 14).find("no peer-memory module"),
            std::string::npos);
  EXPECT_EQ(decoded(Registration::kDmaBuf, 14).find("no peer-memory module"), std::string::npos);
  EXPECT_NE(decoded(Registration::kDmaBuf, 95).find("no dma-buf"), std::string::npos);
  EXPECT_NE(decoded(Registration::kDmaBuf, 93).find("no dma-buf"), std::string::npos);
  EXPECT_NE(decoded(Registration::kDmaBuf, 12).find("locked-memory limit"), std::string::npos);
  EXPECT_NE(decoded(Registration::kDmaBuf, 12).find("BAR"), std::string::npos);
  EXPECT_NE(decoded(Registration::kDmaBuf, 524).find("peer-to-peer"), std::string::npos);
  EXPECT_EQ(decoded(Registration::kDmaBuf, 5), "call");
}

TEST(DecodeRegistration, SaysWhenTheDriverExportsNothing) {
  CreateBuffer::Reply reply;
  reply.stage = RegistrationStage::kExport;
  reply.code = 801;
  reply.detail = "cuMemGetHandleForAddressRange: CUDA_ERROR_NOT_SUPPORTED (801)";
  EXPECT_NE(decode_registration(Registration::kDmaBuf, reply).find("open kernel modules"),
            std::string::npos);
}

}  // namespace
}  // namespace gdr::proof
