// Why the kernel would refuse a module.
#include "peermem/judge.h"

#include <gtest/gtest.h>

#include "module_maker.h"

namespace gdr::peermem {
namespace {

using gdr::test::ModuleMaker;

constexpr const char* kKernel = "6.1.0-56-amd64";

ModuleMaker maker_of_client() {
  ModuleMaker maker("nvidia_peermem", kKernel);
  maker.import_symbol("nvidia_p2p_get_pages", 0x219924d1);
  maker.import_symbol("ib_register_peer_memory_client", 0x11111111);
  maker.import_symbol("printk", 0x92997ed8);
  return maker;
}

class Judge : public testing::Test {
 protected:
  Judge() {
    driver_.exports["nvidia_p2p_get_pages"] = {0x219924d1, false};
    driver_.license = "Dual MIT/GPL";
    driver_.machine = EM_X86_64;
    driver_.vermagic = std::string(kKernel) + " SMP preempt mod_unload modversions ";
    rdma_["ib_register_peer_memory_client"] = {0x11111111, false};
    kernel_["printk"] = {0x92997ed8, false};
  }
  std::vector<Refusal> of(ModuleMaker maker) const {
    const Result<ModuleFile> module = parse_module(maker.bytes());
    EXPECT_TRUE(module);
    return refusals(*module, {&driver_, &rdma_, &kernel_, kKernel});
  }
  // The one refusal.
  Refusal only(const ModuleMaker& maker) const {
    const std::vector<Refusal> all = of(maker);
    EXPECT_EQ(all.size(), 1U);
    return all.empty() ? Refusal{} : all.front();
  }

  ModuleFile driver_;
  Exports rdma_, kernel_;
};

TEST_F(Judge, LetsInWhatFitsOnEverySide) { EXPECT_TRUE(of(maker_of_client()).empty()); }

TEST_F(Judge, SaysWhichVersionIsWantedAndWhichIsThere) {
  driver_.exports["nvidia_p2p_get_pages"].crc = 0x00000010;
  const Refusal refusal = only(maker_of_client());
  EXPECT_EQ(refusal.reason, Reason::kVersion);
  EXPECT_EQ(refusal.text,
            "disagrees about version of symbol nvidia_p2p_get_pages: it wants 0x219924d1, the GPU "
            "driver has 0x00000010");
  EXPECT_EQ(refusal.modprobe, "Invalid argument");
}

TEST_F(Judge, NamesTheSideThatDoesNotExportASymbol) {
  rdma_.clear();
  const Refusal refusal = only(maker_of_client());
  EXPECT_EQ(refusal.reason, Reason::kUnknown);
  EXPECT_EQ(refusal.text,
            "Unknown symbol ib_register_peer_memory_client: the RDMA stack does not export it");
}

TEST_F(Judge, FindsAModuleThatWasBuiltWithoutTheRdmaStack) {
  ModuleMaker maker("nvidia_peermem", kKernel);
  maker.import_symbol("nvidia_p2p_get_pages", 0x219924d1);
  const Refusal refusal = only(maker);
  EXPECT_EQ(refusal.reason, Reason::kNoInterface);
  EXPECT_EQ(refusal.modprobe, "Invalid argument");
}

TEST_F(Judge, KeepsGplOnlySymbolsFromOtherLicences) {
  driver_.exports["nvidia_p2p_get_pages"].gpl_only = true;
  EXPECT_TRUE(of(maker_of_client()).empty());
  ModuleMaker maker = maker_of_client();
  maker.license = "Linux-OpenIB";
  EXPECT_EQ(only(maker).reason, Reason::kGplOnly);
}

TEST_F(Judge, KeepsTheKernelsGplOnlySymbolsFromModulesBesideTheProprietaryDriver) {
  kernel_["printk"].gpl_only = true;
  EXPECT_TRUE(of(maker_of_client()).empty());
  driver_.license = "NVIDIA";
  const Refusal refusal = only(maker_of_client());
  EXPECT_EQ(refusal.reason, Reason::kGplOnly);
  EXPECT_NE(refusal.text.find("licence NVIDIA"), std::string::npos) << refusal.text;
}

TEST_F(Judge, RefusesAnotherArchitectureBeforeAnySymbol) {
  ModuleMaker maker = maker_of_client();
  maker.machine = EM_AARCH64;
  driver_.exports.clear();
  EXPECT_EQ(only(maker).reason, Reason::kMachine);
}

TEST_F(Judge, RefusesAnotherKernelsModuleOnlyIfNoVersionsDecide) {
  ModuleMaker with("nvidia_peermem", "6.1.0-1-amd64");
  with.import_symbol("ib_register_peer_memory_client", 0x11111111);
  EXPECT_TRUE(of(with).empty());
  ModuleMaker without("nvidia_peermem", "6.1.0-1-amd64");
  without.import_symbol("ib_register_peer_memory_client", std::nullopt);
  EXPECT_EQ(only(without).reason, Reason::kKernel);
}

TEST_F(Judge, RefusesAKernelOfAnotherConfiguration) {
  ModuleMaker maker = maker_of_client();
  maker.vermagic = std::string(kKernel) + " SMP mod_unload modversions ";
  EXPECT_EQ(only(maker).reason, Reason::kKernel);
}

TEST_F(Judge, RefusesAModuleWithoutVersionsOfVersionedSymbols) {
  ModuleMaker maker("nvidia_peermem", kKernel);
  maker.import_symbol("nvidia_p2p_get_pages", std::nullopt);
  maker.import_symbol("ib_register_peer_memory_client", std::nullopt);
  EXPECT_EQ(only(maker).reason, Reason::kNoVersions);
}

TEST_F(Judge, SaysNothingAboutASideThatItDoesNotKnow) {
  const Result<ModuleFile> module = parse_module(maker_of_client().bytes());
  ASSERT_TRUE(module);
  EXPECT_TRUE(refusals(*module, {nullptr, nullptr, nullptr, kKernel}).empty());
}

}  // namespace
}  // namespace gdr::peermem
