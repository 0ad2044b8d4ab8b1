#include "cli/run_plan.h"

#include <gtest/gtest.h>

#include <map>

namespace gdr::cli {
namespace {

using VariableMap = std::map<std::string, std::string>;

PlanInputs inputs_with(Hardware hardware, VariableMap environment = {}) {
  PlanInputs inputs;
  inputs.hardware = hardware;
  inputs.stand_ins = "/opt/lib/gdrkit";
  inputs.program.path = "/usr/bin/program";
  inputs.program.kind = ProgramKind::kDynamic;
  inputs.environment = [environment](const char* name) -> std::optional<std::string> {
    auto found = environment.find(name);
    if (found == environment.end()) return std::nullopt;
    return found->second;
  };
  return inputs;
}

VariableMap variables_of(const Plan& plan) {
  return {plan.variables.begin(), plan.variables.end()};
}

constexpr Hardware kNothing{false, false};
constexpr Hardware kNicOnly{true, false};
constexpr Hardware kGpuOnly{false, true};
constexpr Hardware kBoth{true, true};

TEST(RunPlan, ReplacesWhatIsMissing) {
  Result<Plan> plan = make_plan(inputs_with(kNothing));
  ASSERT_TRUE(plan);
  EXPECT_EQ(variables_of(*plan),
            (VariableMap{{"LD_LIBRARY_PATH", "/opt/lib/gdrkit/soft-nic:/opt/lib/gdrkit/soft-gpu"},
                         {"NCCL_NET_GDR_LEVEL", "SYS"},
                         {"NCCL_GIN_TYPE", "0"},
                         {"NCCL_IB_GID_INDEX", "3"}}));
  EXPECT_EQ(plan->summary,
            "software NIC (no real one found), software GPU (no real one found); set "
            "LD_LIBRARY_PATH, NCCL_NET_GDR_LEVEL=SYS, NCCL_GIN_TYPE=0, NCCL_IB_GID_INDEX=3");
}

TEST(RunPlan, LeavesARealGpuAlone) {
  Result<Plan> plan = make_plan(inputs_with(kGpuOnly));
  ASSERT_TRUE(plan);
  EXPECT_EQ(variables_of(*plan)["LD_LIBRARY_PATH"], "/opt/lib/gdrkit/soft-nic");
  EXPECT_FALSE(plan->soft_gpu);
}

TEST(RunPlan, TellsNcclWhereSoftwareNicsAreBesideRealGpus) {
  PlanInputs inputs = inputs_with(kGpuOnly, {{"NCCL_BUFFSIZE", "1"}});
  inputs.gpus = {"0000:17:00.0"};
  const Result<Plan> plan = make_plan(inputs);
  ASSERT_TRUE(plan);
  EXPECT_NE(plan->nccl_topology.find("0000:17:00.0"), std::string::npos);
  EXPECT_NE(plan->nccl_topology.find("soft1"), std::string::npos);
  EXPECT_EQ(variables_of(*plan)["NCCL_MIN_NCHANNELS"], "16");
  EXPECT_EQ(variables_of(*plan).count("NCCL_BUFFSIZE"), 0u);
  EXPECT_NE(plan->summary.find("set NCCL_TOPO_FILE (NICs beside the GPUs), "), std::string::npos);
  EXPECT_NE(plan->summary.find("; kept your NCCL_BUFFSIZE=1"), std::string::npos);
}

TEST(RunPlan, HasNcclUseFewChannelsByPackets) {
  PlanInputs inputs = inputs_with(kGpuOnly, {{"GDR_SOFT_PATH", "packets"}});
  inputs.gpus = {"0000:17:00.0"};
  const Result<Plan> by_variable = make_plan(inputs);
  ASSERT_TRUE(by_variable);
  EXPECT_EQ(variables_of(*by_variable)["NCCL_MAX_NCHANNELS"], "4");
  PlanInputs asked = inputs_with(kGpuOnly, {{"NCCL_MIN_NCHANNELS", "8"}});
  asked.gpus = {"0000:17:00.0"};
  asked.settings = {{"--packets", "GDR_SOFT_PATH", "packets"}};
  const Result<Plan> by_option = make_plan(asked);
  ASSERT_TRUE(by_option);
  EXPECT_EQ(variables_of(*by_option)["NCCL_BUFFSIZE"], "8388608");
  EXPECT_EQ(variables_of(*by_option).count("NCCL_MIN_NCHANNELS"), 0u);
  EXPECT_NE(by_option->summary.find("kept your NCCL_MIN_NCHANNELS=8"), std::string::npos);
}

// Chunks of 4 MiB for 32 channels are 2 GiB, which NCCL cannot count: it ends with "out of memory".
TEST(RunPlan, CutsNcclsChunksSmallerForMoreChannelsOfTheUsers) {
  const auto set_beside = [](const VariableMap& users) {
    PlanInputs inputs = inputs_with(kGpuOnly, users);
    inputs.gpus = {"0000:17:00.0"};
    const Result<Plan> plan = make_plan(inputs);
    EXPECT_TRUE(plan);
    return variables_of(*plan);
  };
  const char* const kChunk = "NCCL_P2P_NET_CHUNKSIZE";
  EXPECT_EQ(set_beside({})[kChunk], "4194304");
  EXPECT_EQ(set_beside({{"NCCL_MIN_NCHANNELS", "32"}})["NCCL_MAX_P2P_NCHANNELS"], "16");
  EXPECT_EQ(set_beside({{"NCCL_MIN_NCHANNELS", "32"}})[kChunk], "4194304");
  EXPECT_EQ(set_beside({{"NCCL_MIN_P2P_NCHANNELS", "32"}})[kChunk], "2097152");
  EXPECT_EQ(set_beside({{"NCCL_MAX_P2P_NCHANNELS", "64"}})[kChunk], "1048576");
  EXPECT_EQ(set_beside({{"NCCL_MAX_P2P_NCHANNELS", "many"}})[kChunk], "1048576");
  EXPECT_EQ(set_beside({{"GDR_SOFT_PATH", "packets"}, {"NCCL_MAX_P2P_NCHANNELS", "32"}})[kChunk],
            "2097152");
  EXPECT_EQ(set_beside({{kChunk, "65536"}}).count(kChunk), 0u);
}

TEST(RunPlan, KeepsAllOfNcclsChunksInFlightBelowTwoGibibytesAndInItsBuffers) {
  for (const VariableMap& users : {VariableMap{}, VariableMap{{"GDR_SOFT_PATH", "packets"}}}) {
    PlanInputs inputs = inputs_with(kGpuOnly, users);
    inputs.gpus = {"0000:17:00.0"};
    const Result<Plan> plan = make_plan(inputs);
    ASSERT_TRUE(plan);
    VariableMap set = variables_of(*plan);
    const long long chunk = std::stoll(set["NCCL_P2P_NET_CHUNKSIZE"]);
    const long long channels = std::stoll(set["NCCL_MIN_NCHANNELS"]);
    ASSERT_GT(chunk, 0);
    ASSERT_GT(channels, 0);
    EXPECT_LT(chunk * 16 * channels, 2LL << 30);
    EXPECT_GE(std::stoll(set["NCCL_BUFFSIZE"]), chunk);
  }
}

TEST(RunPlan, LeavesATopologyFileOfTheUsers) {
  PlanInputs inputs = inputs_with(kGpuOnly, {{"NCCL_TOPO_FILE", "/my.xml"}});
  inputs.gpus = {"0000:17:00.0"};
  const Result<Plan> plan = make_plan(inputs);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->nccl_topology, "");
  EXPECT_NE(plan->summary.find("kept your NCCL_TOPO_FILE=/my.xml"), std::string::npos);
}

TEST(RunPlan, LetsNcclSeeForItselfWhereSoftwareNicsAreThatHavePlaces) {
  constexpr const char* kPlaced = "a/pci=0000:18:00.0/speed=200,b/mac=02::1/pci=0000:19:00.0";
  const auto plan_for = [](const char* devices, bool shown) {
    PlanInputs inputs = inputs_with(kGpuOnly, {{"GDR_SOFT_DEVICES", devices}});
    inputs.gpus = {"0000:17:00.0"};
    inputs.devices.are_shown = shown;
    Result<Plan> plan = make_plan(inputs);
    EXPECT_TRUE(plan);
    return *plan;
  };
  const Plan placed = plan_for(kPlaced, true);
  EXPECT_EQ(placed.nccl_topology, "");
  EXPECT_EQ(variables_of(placed).count("NCCL_NET_GDR_LEVEL"), 0u);
  EXPECT_EQ(variables_of(placed)["NCCL_MIN_NCHANNELS"], "16");
  // Where NCCL would find some of them only, or none.
  for (const Plan& partly : {plan_for("a/pci=0000:18:00.0,b", true), plan_for(kPlaced, false)}) {
    EXPECT_NE(partly.nccl_topology, "");
    EXPECT_EQ(variables_of(partly)["NCCL_NET_GDR_LEVEL"], "SYS");
  }
}

TEST(RunPlan, TellsNcclNothingAboutTheSoftwareGpu) {
  PlanInputs inputs = inputs_with(kGpuOnly);
  inputs.gpus = {"0000:17:00.0"};
  inputs.soft_gpu = true;
  const Result<Plan> plan = make_plan(inputs);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->nccl_topology, "");
  EXPECT_EQ(variables_of(*plan).count("NCCL_MIN_NCHANNELS"), 0u);
}

TEST(RunPlan, ReplacesNothingOnACompleteHost) {
  Result<Plan> plan = make_plan(inputs_with(kBoth));
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->variables.empty());
  EXPECT_EQ(plan->summary, "real NIC, real GPU; nothing replaced, nothing set");
}

TEST(RunPlan, SaysThatTheSoftwareNicHidesARealOne) {
  PlanInputs inputs = inputs_with(kBoth);
  inputs.soft_nic = true;
  Result<Plan> plan = make_plan(inputs);
  ASSERT_TRUE(plan);
  EXPECT_NE(plan->summary.find("software NIC (the real one is hidden), real GPU"),
            std::string::npos);
}

TEST(RunPlan, RefusesARealNicWithTheSoftwareGpu) {
  Result<Plan> plan = make_plan(inputs_with(kNicOnly));
  ASSERT_FALSE(plan);
  EXPECT_NE(plan.error().message.find("use --soft-nic, or --no-soft-gpu"), std::string::npos);

  PlanInputs soft_nic = inputs_with(kNicOnly);
  soft_nic.soft_nic = true;
  EXPECT_TRUE(make_plan(soft_nic));
  PlanInputs no_gpu = inputs_with(kNicOnly);
  no_gpu.soft_gpu = false;
  EXPECT_TRUE(make_plan(no_gpu));
}

TEST(RunPlan, KeepsWhatTheUserHasSetAndSaysSo) {
  Result<Plan> plan = make_plan(
      inputs_with(kNothing, {{"NCCL_NET_GDR_LEVEL", "PIX"}, {"LD_LIBRARY_PATH", "/a:/b"}}));
  ASSERT_TRUE(plan);
  VariableMap set = variables_of(*plan);
  EXPECT_EQ(set.count("NCCL_NET_GDR_LEVEL"), 0u);
  EXPECT_EQ(set["NCCL_GIN_TYPE"], "0");
  EXPECT_EQ(set["LD_LIBRARY_PATH"], "/opt/lib/gdrkit/soft-nic:/opt/lib/gdrkit/soft-gpu:/a:/b");
  EXPECT_NE(plan->summary.find("; kept your NCCL_NET_GDR_LEVEL=PIX"), std::string::npos);
}

TEST(RunPlan, OptionsOverrideTheEnvironment) {
  PlanInputs inputs = inputs_with(kGpuOnly, {{"GDR_SOFT_PCAP", "/mine.pcap"}});
  inputs.settings = {{"--pcap", "GDR_SOFT_PCAP", "/run.pcap"}};
  Result<Plan> plan = make_plan(inputs);
  ASSERT_TRUE(plan);
  EXPECT_EQ(variables_of(*plan)["GDR_SOFT_PCAP"], "/run.pcap");
  EXPECT_NE(plan->summary.find("GDR_SOFT_PCAP=/run.pcap"), std::string::npos);
}

TEST(RunPlan, RefusesOptionsOfTheSoftwareNicForARealOne) {
  PlanInputs inputs = inputs_with(kBoth);
  inputs.settings = {{"--pcap", "GDR_SOFT_PCAP", "/run.pcap"}};
  Result<Plan> plan = make_plan(inputs);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().message,
            "--pcap needs the software NIC, but the real one is used; add --soft-nic");
  inputs.soft_nic = true;
  EXPECT_TRUE(make_plan(inputs));
}

TEST(RunPlan, NeitherRepeatsAFolderNorAddsTheCurrentOne) {
  Result<Plan> plan =
      make_plan(inputs_with(kGpuOnly, {{"LD_LIBRARY_PATH", "/opt/lib/gdrkit/soft-nic::/a:"}}));
  ASSERT_TRUE(plan);
  EXPECT_EQ(variables_of(*plan)["LD_LIBRARY_PATH"], "/opt/lib/gdrkit/soft-nic:/a");
}

TEST(RunPlan, PreloadsForAProgramWithDtRpath) {
  PlanInputs inputs = inputs_with(kNothing, {{"LD_PRELOAD", "/mine.so"}});
  inputs.program.has_rpath = true;
  inputs.program.needed = {"libcudart.so.12", "libc.so.6"};
  Result<Plan> plan = make_plan(inputs);
  ASSERT_TRUE(plan);
  EXPECT_EQ(variables_of(*plan)["LD_PRELOAD"],
            "/opt/lib/gdrkit/soft-nic/libibverbs.so.1:/opt/lib/gdrkit/soft-gpu/libcuda.so.1:"
            "/opt/lib/gdrkit/soft-gpu/libcudart.so.12:/mine.so");
}

constexpr const char* kObserver = "/opt/lib/gdrkit/observe/libgdr-observe.so";

TEST(RunPlan, ObservesDmaBufsOfARealGpuBehindWhatTheUserPreloads) {
  const Result<Plan> plan = make_plan(inputs_with(kGpuOnly, {{"LD_PRELOAD", "/mine.so"}}));
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->observes);
  EXPECT_EQ(variables_of(*plan)["LD_PRELOAD"], std::string("/mine.so:") + kObserver);
  EXPECT_NE(plan->summary.find("LD_PRELOAD (observes dma-bufs)"), std::string::npos);
}

TEST(RunPlan, ObservesOnceInARunWithinARun) {
  const Result<Plan> plan = make_plan(inputs_with(kGpuOnly, {{"LD_PRELOAD", kObserver}}));
  ASSERT_TRUE(plan);
  EXPECT_EQ(variables_of(*plan)["LD_PRELOAD"], kObserver);
}

TEST(RunPlan, ObservesTheSoftwareGpuOnlyWhereItsDmaBufsTellNothing) {
  const Result<Plan> telling = make_plan(inputs_with(kNothing));
  const Result<Plan> anonymous =
      make_plan(inputs_with(kNothing, {{"GDR_SOFT_DMA_BUF", "anonymous"}}));
  ASSERT_TRUE(telling);
  ASSERT_TRUE(anonymous);
  EXPECT_FALSE(telling->observes);
  EXPECT_TRUE(anonymous->observes);
}

TEST(RunPlan, ObservesNothingForARealNic) {
  const Result<Plan> plan = make_plan(inputs_with(kBoth));
  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->observes);
}

TEST(RunPlan, DoesNotObserveWhereItWouldDoHarmAndSaysWhy) {
  PlanInputs told = inputs_with(kGpuOnly, {{"GDR_OBSERVE", "0"}});
  PlanInputs sanitized = inputs_with(kGpuOnly);
  sanitized.program.needed = {"libc.so.6", "libasan.so.8"};
  PlanInputs spaced = inputs_with(kGpuOnly);
  spaced.stand_ins = "/my tools/lib/gdrkit";
  for (const auto& [inputs, reason] :
       {std::pair{told, "GDR_OBSERVE=0"}, std::pair{sanitized, "the address sanitizer wants"},
        std::pair{spaced, "the path of gdrkit has a space"}}) {
    const Result<Plan> plan = make_plan(inputs);
    ASSERT_TRUE(plan);
    EXPECT_EQ(variables_of(*plan).count("LD_PRELOAD"), 0u) << reason;
    EXPECT_NE(plan->summary.find(std::string("; dma-bufs not observed: ") + reason),
              std::string::npos)
        << plan->summary;
  }
}

TEST(RunPlan, RefusesProgramsTheLoaderCannotHelp) {
  const auto refusal = [](void (*change)(ProgramFile&)) {
    PlanInputs inputs = inputs_with(kNothing);
    change(inputs.program);
    Result<Plan> plan = make_plan(inputs);
    return plan ? std::string("accepted") : plan.error().message;
  };
  EXPECT_NE(refusal([](ProgramFile& file) {
              file.kind = ProgramKind::kStatic;
            }).find("/usr/bin/program is statically linked"),
            std::string::npos);
  EXPECT_NE(refusal([](ProgramFile& file) {
              file.kind = ProgramKind::kForeign;
            }).find("another processor"),
            std::string::npos);
  EXPECT_NE(refusal([](ProgramFile& file) { file.privileged = true; }).find("set-user-ID"),
            std::string::npos);
  EXPECT_NE(refusal([](ProgramFile& file) { file.static_cudart = true; }).find("-cudart shared"),
            std::string::npos);
}

TEST(RunPlan, LetsARefusedProgramRunWhereNothingIsReplaced) {
  PlanInputs inputs = inputs_with(kBoth);
  inputs.program.kind = ProgramKind::kStatic;
  EXPECT_TRUE(make_plan(inputs));
  PlanInputs real_gpu = inputs_with(kGpuOnly);
  real_gpu.program.static_cudart = true;
  EXPECT_TRUE(make_plan(real_gpu));
}

}  // namespace
}  // namespace gdr::cli
