// What gdr peermem status finds on made-up hosts.
#include "peermem/survey.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "made_host.h"
#include "peermem/status.h"

namespace gdr::peermem {
namespace {

using host::Tri;

std::string text_of(const Survey& survey) { return to_text(survey, {}); }

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

TEST(Survey, FindsTheDriverOfAContainerWhoseModulesLieInAnotherTree) {
  const MadeHost host;
  host.module("updates/ib_core.ko", MadeHost::ib_core());
  host.write(std::string("run/nvidia/driver/") + MadeHost::kTree + "kernel/drivers/video/nvidia.ko",
             MadeHost::driver().bytes());
  const Result<Survey> survey = host.survey();
  ASSERT_TRUE(survey) << survey.error().message;
  ASSERT_NE(survey->driver(), nullptr);
  EXPECT_EQ(survey->drivers.front().place.origin, "the driver's root /run/nvidia/driver");
  EXPECT_EQ(survey->driver()->exports.at("nvidia_p2p_get_pages").crc, kGetPages);
  EXPECT_EQ(verdict_of(*survey), Verdict::kBuild);
}

TEST(Survey, JudgesByTheDriverThatIsLoadedOfSeveral) {
  const MadeHost host;
  host.module("kernel/nvidia.ko", MadeHost::driver(0x1));
  host.module("updates/dkms/nvidia.ko", MadeHost::driver(0x2));
  host.module("zz/nvidia-current.ko", MadeHost::driver(0x3));
  host.module("updates/ib_core.ko", MadeHost::ib_core());
  host.write("sys/module/nvidia/srcversion", "DRIVER2\n");
  const Result<Survey> survey = host.survey();
  ASSERT_TRUE(survey) << survey.error().message;
  ASSERT_EQ(survey->drivers.size(), 3U);
  EXPECT_EQ(survey->drivers[0].loaded, Tri::kYes);
  EXPECT_EQ(survey->driver()->exports.at("nvidia_p2p_get_pages").crc, 0x2U);
  EXPECT_EQ(survey->drivers[1].loaded, Tri::kNo);
}

TEST(Survey, PredictsThatTheKernelRefusesAModuleOfAnotherDriver) {
  const MadeHost host;
  host.usual();
  host.module("updates/dkms/nvidia-peermem.ko", MadeHost::client(0x10));
  const Result<Survey> survey = host.survey();
  ASSERT_TRUE(survey) << survey.error().message;
  ASSERT_EQ(survey->candidates.size(), 1U);
  ASSERT_EQ(survey->candidates[0].refusals.size(), 1U);
  EXPECT_EQ(survey->candidates[0].refusals[0].reason, Reason::kVersion);
  EXPECT_EQ(verdict_of(*survey), Verdict::kBuild);
  EXPECT_EQ(exit_status(*survey), 1);
  const std::string text = text_of(*survey);
  EXPECT_TRUE(has(text, "would be refused, modprobe: \"Invalid argument\"")) << text;
  EXPECT_TRUE(has(text, "it wants 0x00000010, the GPU driver has 0x219924d1")) << text;
}

TEST(Survey, FindsTheModuleThatFitsAndSaysHowToLoadIt) {
  const MadeHost host;
  host.usual();
  host.module("kernel/nvidia-peermem.ko", MadeHost::client(0x10));
  host.module("updates/gdrkit/nvidia-peermem.ko", MadeHost::client());
  const Result<Survey> survey = host.survey();
  ASSERT_TRUE(survey) << survey.error().message;
  ASSERT_NE(fitting(*survey), nullptr);
  EXPECT_EQ(fitting(*survey)->found.place.path,
            std::string(MadeHost::kTree) + "updates/gdrkit/nvidia-peermem.ko");
  EXPECT_EQ(verdict_of(*survey), Verdict::kFits);
  EXPECT_EQ(exit_status(*survey), 0);
  EXPECT_TRUE(has(text_of(*survey), "sudo gdr fix peer-memory --apply"));
}

TEST(Survey, SaysThatNoModuleHelpsWhereTheRdmaStackHasNoInterface) {
  const MadeHost host;
  host.module("updates/dkms/nvidia.ko", MadeHost::driver());
  host.module("kernel/ib_core.ko", MadeHost::ib_core(false));
  const Result<Survey> survey = host.survey();
  ASSERT_TRUE(survey) << survey.error().message;
  EXPECT_EQ(survey->has_interface, Tri::kNo);
  EXPECT_EQ(verdict_of(*survey), Verdict::kUseless);
  EXPECT_TRUE(has(text_of(*survey), "No module can help here. Use dma-buf")) << text_of(*survey);
}

TEST(Survey, JudgesByTheRdmaModuleThatIsLoadedNotByTheKernelsOwn) {
  const MadeHost host;
  host.module("updates/dkms/nvidia.ko", MadeHost::driver());
  test::ModuleMaker inbox = MadeHost::ib_core(false), ofed = MadeHost::ib_core();
  inbox.srcversion = "INBOX";
  ofed.srcversion = "OFED";
  host.module("kernel/ib_core.ko", inbox);
  host.module("updates/ib_core.ko", ofed);
  host.write("sys/module/ib_core/srcversion", "OFED\n");
  const Result<Survey> survey = host.survey();
  ASSERT_TRUE(survey) << survey.error().message;
  EXPECT_EQ(survey->has_interface, Tri::kYes);
  host.write("sys/module/ib_core/srcversion", "INBOX\n");
  EXPECT_EQ(host.survey()->has_interface, Tri::kNo);
}

TEST(Survey, ReadsTheSymversOfOfedWhereItsModulesAreNotThere) {
  const MadeHost host;
  host.module("updates/dkms/nvidia.ko", MadeHost::driver());
  host.write("usr/src/ofa_kernel/default/Module.symvers",
             "0x0badcafe\tib_register_peer_memory_client\tdrivers/ib_core\tEXPORT_SYMBOL\t\n");
  const Result<Survey> survey = host.survey();
  ASSERT_TRUE(survey) << survey.error().message;
  EXPECT_EQ(survey->has_interface, Tri::kYes);
  EXPECT_EQ(survey->rdma.source, "/usr/src/ofa_kernel/default/Module.symvers");
}

TEST(Survey, TakesADriverThatIsNamedWhereverItLies) {
  const MadeHost host, elsewhere;
  host.module("updates/ib_core.ko", MadeHost::ib_core());
  Choices choices;
  choices.driver_module = elsewhere.write("nvidia.ko", MadeHost::driver(0x77).bytes());
  const Result<Survey> survey = host.survey(choices);
  ASSERT_TRUE(survey) << survey.error().message;
  EXPECT_EQ(survey->driver()->exports.at("nvidia_p2p_get_pages").crc, 0x77U);
  choices.driver_module = elsewhere.write("other.ko", MadeHost::ib_core().bytes());
  const Result<Survey> other = host.survey(choices);
  ASSERT_FALSE(other);
  EXPECT_TRUE(has(other.error().message, "is not the GPU driver")) << other.error().message;
}

TEST(Survey, SaysInOneLineThatASourceTreeHasNoHeader) {
  const MadeHost host;
  host.usual();
  Choices choices;
  choices.driver_source = host.make("usr/src/empty");
  const Result<Survey> survey = host.survey(choices);
  ASSERT_FALSE(survey);
  EXPECT_TRUE(has(survey.error().message, "has no nv-p2p.h")) << survey.error().message;
}

TEST(Survey, UsesTheModuleThatWasBuiltInTheSourceTree) {
  const MadeHost host;
  host.usual();
  host.write("usr/src/nvidia/kernel-open/nvidia/nv-p2p.h",
             "#define NVIDIA_P2P_PAGE_TABLE_VERSION   0x00020000\n");
  host.write("usr/src/nvidia/kernel-open/nvidia.ko", MadeHost::driver(0x55).bytes());
  Choices choices;
  choices.driver_source = host.at("usr/src/nvidia");
  const Result<Survey> survey = host.survey(choices);
  ASSERT_TRUE(survey) << survey.error().message;
  EXPECT_EQ(survey->driver()->exports.at("nvidia_p2p_get_pages").crc, 0x55U);
  host.write("usr/src/nvidia/kernel-open/nvidia/nv-p2p.h",
             "#define NVIDIA_P2P_PAGE_TABLE_VERSION   0x00030000\n");
  EXPECT_TRUE(has(host.survey(choices).error().message, "page tables of version 3"));
}

TEST(Survey, SaysWhatIsWrongWithADriversFile) {
  const MadeHost host;
  host.module("updates/ib_core.ko", MadeHost::ib_core());
  host.write(std::string(MadeHost::kTree) + "nvidia.ko", MadeHost::driver().bytes().substr(0, 700));
  const Result<Survey> survey = host.survey();
  ASSERT_TRUE(survey) << survey.error().message;
  EXPECT_EQ(survey->driver(), nullptr);
  EXPECT_EQ(verdict_of(*survey), Verdict::kUnknown);
  EXPECT_TRUE(has(text_of(*survey), "nvidia.ko is truncated; copy it again")) << text_of(*survey);
}

TEST(Survey, NamesNoKernelThatIsAPath) {
  const MadeHost host;
  host.write("proc/sys/kernel/osrelease", "../../etc\n");
  EXPECT_FALSE(host.survey());
  Choices choices;
  choices.kernel = "..";
  EXPECT_FALSE(host.survey(choices));
}

TEST(StatusJson, HasEveryVersionThatIsWantedAndExported) {
  const MadeHost host;
  host.usual();
  host.module("updates/nvidia-peermem.ko", MadeHost::client(0x10));
  const Result<Survey> survey = host.survey();
  ASSERT_TRUE(survey) << survey.error().message;
  const auto json = nlohmann::json::parse(to_json(*survey));
  EXPECT_EQ(json["verdict"], "build");
  EXPECT_EQ(json["drivers"][0]["exports"]["nvidia_p2p_get_pages"]["crc"], "0x219924d1");
  EXPECT_EQ(json["rdma"]["exports"]["ib_register_peer_memory_client"]["crc"], "0x0badcafe");
  EXPECT_EQ(json["modules"][0]["wants"]["nvidia_p2p_get_pages"], "0x00000010");
  EXPECT_EQ(json["modules"][0]["refusals"][0]["reason"], "version");
}

}  // namespace
}  // namespace gdr::peermem
