// Reading kernel modules' files.
#include "peermem/module_file.h"

#include <gtest/gtest.h>

#include "module_maker.h"
#include "peermem/symvers.h"
#include "scratch_folder.h"
#include "tar_maker.h"

namespace gdr::peermem {
namespace {

using gdr::test::ModuleMaker;

ModuleMaker driver() {
  ModuleMaker maker("nvidia", "6.1.0-56-amd64");
  maker.export_symbol("nvidia_p2p_get_pages", 0x219924d1, true);
  maker.export_symbol("nvidia_p2p_put_pages", 0x27de5e0f);
  maker.export_symbol("nvidia_p2p_free", std::nullopt);
  maker.import_symbol("printk", 0x92997ed8);
  maker.import_symbol("unversioned", std::nullopt);
  return maker;
}

TEST(ModuleFile, TellsVersionsOfItsExportsInEachWayThatKernelsKeepThem) {
  for (const auto crcs : {ModuleMaker::Crcs::kInSection, ModuleMaker::Crcs::kAbsolute,
                          ModuleMaker::Crcs::kRelative}) {
    ModuleMaker maker = driver();
    maker.crcs = crcs;
    const Result<ModuleFile> module = parse_module(maker.bytes());
    ASSERT_TRUE(module) << module.error().message;
    ASSERT_EQ(module->exports.size(), 3U);
    EXPECT_EQ(module->exports.at("nvidia_p2p_get_pages").crc, 0x219924d1U);
    EXPECT_TRUE(module->exports.at("nvidia_p2p_get_pages").gpl_only);
    EXPECT_EQ(module->exports.at("nvidia_p2p_put_pages").crc, 0x27de5e0fU);
    EXPECT_FALSE(module->exports.at("nvidia_p2p_put_pages").gpl_only);
    EXPECT_EQ(module->exports.at("nvidia_p2p_free").crc, std::nullopt);
  }
}

TEST(ModuleFile, TellsVersionsThatItWantsFromBothKindsOfTable) {
  for (const auto kind : {ModuleMaker::Versions::kRecords, ModuleMaker::Versions::kExtended}) {
    ModuleMaker maker = driver();
    maker.versions = kind;
    const Result<ModuleFile> module = parse_module(maker.bytes());
    ASSERT_TRUE(module) << module.error().message;
    EXPECT_EQ(module->imports.at("printk"), 0x92997ed8U);
    EXPECT_EQ(module->imports.at("unversioned"), std::nullopt);
    EXPECT_TRUE(module->has_versions);
  }
}

TEST(ModuleFile, TellsItsKernelLicenceAndSignature) {
  ModuleMaker maker = driver();
  maker.is_signed = true;
  const Result<ModuleFile> module = parse_module(maker.bytes());
  ASSERT_TRUE(module) << module.error().message;
  EXPECT_EQ(module->kernel(), "6.1.0-56-amd64");
  EXPECT_EQ(module->name, "nvidia");
  EXPECT_EQ(module->license, "Dual MIT/GPL");
  EXPECT_TRUE(module->is_signed);
  EXPECT_TRUE(is_gpl_compatible(module->license));
  EXPECT_FALSE(is_gpl_compatible("NVIDIA"));
}

TEST(ModuleFile, IsReadPackedByEveryCompressionThatDistributionsUse) {
  const test::ScratchFolder folder;
  const host::Files files(folder.root());
  const std::string bytes = driver().bytes();
  folder.write("nvidia.ko", bytes);
  for (const auto& [end, filter] : {std::pair{".gz", "gzip"}, {".xz", "xz"}, {".zst", "zstd"}}) {
    const std::string packed = test::compressed(bytes, filter);
    ASSERT_NE(packed, "") << filter;
    folder.write(std::string("nvidia.ko") + end, packed);
    const Result<ModuleFile> module = read_module(files, std::string("nvidia.ko") + end);
    ASSERT_TRUE(module) << module.error().message;
    EXPECT_EQ(module->exports.size(), 3U) << filter;
    folder.write("damaged.ko", packed.substr(0, packed.size() / 2));
    const Result<ModuleFile> damaged = read_module(files, "damaged.ko");
    ASSERT_FALSE(damaged) << filter;
    EXPECT_NE(damaged.error().message.find("damaged.ko is "), std::string::npos)
        << damaged.error().message;
  }
}

TEST(ModuleFile, OfTheWrongKindIsOneLineThatSaysWhich) {
  const auto complaint = [](const std::string& bytes) {
    const Result<ModuleFile> module = parse_module(bytes);
    return module ? "none" : module.error().message;
  };
  EXPECT_EQ(complaint("#!/bin/sh\n"), "is not an ELF file");
  EXPECT_EQ(complaint("\x7f"
                      "ELF"),
            "is truncated; copy it again");
  ModuleMaker maker = driver();
  maker.elf_class = ELFCLASS32;
  EXPECT_EQ(complaint(maker.bytes()), "is not for a 64-bit little-endian machine");
  maker = driver();
  maker.type = ET_DYN;
  EXPECT_EQ(complaint(maker.bytes()), "is a program or a library, not a kernel module");
  maker = driver();
  maker.vermagic.clear();
  EXPECT_EQ(complaint(maker.bytes()), "is an object file, not a kernel module");
}

TEST(ModuleFile, CutOffOrAlteredAnywhereHarmsNothing) {
  const std::string bytes = driver().bytes();
  for (std::size_t size = 0; size < bytes.size(); ++size) {
    EXPECT_FALSE(parse_module(bytes.substr(0, size))) << size;
  }
  std::size_t read = 0;
  for (std::size_t at = 0; at < bytes.size(); ++at) {
    for (const char value : {'\xff', '\x80', '\x00'}) {
      std::string altered = bytes;
      altered[at] = value;
      if (parse_module(altered)) ++read;
    }
  }
  EXPECT_GT(read, 0U);
}

TEST(ModuleFile, SaysInOneLineWhichFileIsMissing) {
  const test::ScratchFolder folder;
  const Result<ModuleFile> module = read_module(host::Files(folder.root()), "lib/nvidia.ko");
  ASSERT_FALSE(module);
  EXPECT_EQ(module.error().message, folder.at("lib/nvidia.ko") + ": no such file");
}

TEST(ModuleStem, IsTheNameWithoutWhatPackingAdds) {
  EXPECT_EQ(module_stem("updates/dkms/nvidia-peermem.ko.zst"), "nvidia-peermem");
  EXPECT_EQ(module_stem("nvidia.ko"), "nvidia");
  EXPECT_EQ(module_stem("nvidia.ko.bak"), "");
}

TEST(Symvers, AreReadAndWrittenAlike) {
  const test::ScratchFolder folder;
  const std::string text =
      "0x219924d1\tnvidia_p2p_get_pages\tnvidia\tEXPORT_SYMBOL_GPL\t\n"
      "0x27de5e0f\tnvidia_p2p_put_pages\tnvidia\tEXPORT_SYMBOL\t\n";
  folder.write("Module.symvers", text + "no line of it\n0xzz\tx\ty\tEXPORT_SYMBOL\t\n");
  const Exports exports = read_symvers(host::Files(folder.root()), "Module.symvers");
  EXPECT_EQ(exports.size(), 2U);
  EXPECT_EQ(symvers_text(exports, "nvidia"), text);
}

}  // namespace
}  // namespace gdr::peermem
