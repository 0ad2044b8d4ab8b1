#include "host/archive.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/clock.h"
#include "host/files.h"
#include "host/inventory.h"
#include "machine.h"
#include "scratch_folder.h"
#include "tar_maker.h"

namespace gdr::host {
namespace {

namespace fs = std::filesystem;
using gdr::test::compressed;
using gdr::test::TarMaker;

// A small machine: a NIC with a netdev, and links as sysfs has them.
TarMaker small_machine(const std::string& before = "") {
  TarMaker tar;
  const std::string device = before + "sys/devices/pci0000:00/0000:00:01.0";
  tar.folder(before + "sys/");
  tar.file(device + "/vendor", "0x15b3\n");
  tar.file(device + "/class", "0x020000\n");
  tar.link(before + "sys/bus/pci/devices/0000:00:01.0", "../../../devices/pci0000:00/0000:00:01.0");
  tar.link(before + "sys/class/infiniband/mlx5_0/device",
           "../../../devices/pci0000:00/0000:00:01.0");
  tar.file(before + "sys/class/infiniband/mlx5_0/fw_ver", "28.39.1002\n");
  tar.file(before + "proc/cmdline", "iommu=pt\n");
  return tar;
}

std::string refusal(const std::string& bytes, const ArchiveLimits& limits = {}) {
  const auto read = parse_archive(bytes, limits);
  return read ? "taken" : read.error().message;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// Files of an archive that lies in a folder of its own.
class ArchiveFile : public testing::Test {
 protected:
  std::string write(const std::string& bytes) {
    return scratch_.write("host" + std::to_string(++count_) + ".tar", bytes);
  }
  // What lies beside the archives: nothing may have come there.
  std::size_t files_in_folder() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  test::ScratchFolder scratch_;
  fs::path folder_ = scratch_.root();
  int count_ = 0;
};

TEST_F(ArchiveFile, IsReadAsTheFolderThatItWasMadeOf) {
  const Files files(write(small_machine().bytes()));
  EXPECT_EQ(files.problem(), "");
  EXPECT_FALSE(files.is_live());
  EXPECT_EQ(files.line("sys/bus/pci/devices/0000:00:01.0/vendor"), "0x15b3");
  EXPECT_EQ(files.line("/sys/class/infiniband/mlx5_0/device/class"), "0x020000");
  EXPECT_EQ(files.entries("sys/class/infiniband"), std::vector<std::string>{"mlx5_0"});
  EXPECT_EQ(files.link_name("sys/class/infiniband/mlx5_0/device"), "0000:00:01.0");
  EXPECT_EQ(files.kind("sys/class/infiniband/mlx5_0/device"), FileKind::kLink);
  EXPECT_TRUE(files.exists("sys/class/infiniband/mlx5_0/device"));
  EXPECT_FALSE(files.exists("sys/class/infiniband/mlx5_1"));
  EXPECT_EQ(files.lines_with("proc/cmdline", "iommu"), std::vector<std::string>{"iommu=pt"});
  EXPECT_EQ(files.part("proc/cmdline", 6, 2), "pt");
  const Inventory inventory = take_inventory(files);
  ASSERT_EQ(inventory.nics.size(), 1u);
  EXPECT_EQ(inventory.nics[0].pci_address, "0000:00:01.0");
  EXPECT_EQ(inventory.nics[0].firmware, "28.39.1002");
}

TEST_F(ArchiveFile, MayBeCompressedAndMayHaveAFolderAroundIt) {
  for (const char* before : {"", "./", "/", "host/", "./captures/node17/"}) {
    const std::string plain = small_machine(before).bytes();
    for (const char* filter : {"none", "gzip", "bzip2", "xz", "zstd"}) {
      const std::string bytes = std::string(filter) == "none" ? plain : compressed(plain, filter);
      if (bytes.empty()) continue;  // this libarchive has none
      const Files files(write(bytes));
      EXPECT_EQ(files.problem(), "") << before << filter;
      EXPECT_EQ(files.line("proc/cmdline"), "iommu=pt") << before << filter;
    }
  }
}

TEST_F(ArchiveFile, ReachesNoFileOfThisMachine) {
  const std::string outside = folder_ / "outside";
  std::ofstream(outside) << "secret\n";
  TarMaker tar = small_machine();
  tar.link("absolute", outside);
  tar.link("upwards", std::string("../../../../../../../../../..") + outside);
  tar.link("proc/self", "/proc/self");
  tar.link("folder", folder_);
  const Files files(write(tar.bytes()));
  ASSERT_EQ(files.problem(), "");
  for (const char* path : {"absolute", "upwards", "folder/outside", "proc/self/environ",
                           "../../../../etc/passwd", "sys/../../../etc/passwd"}) {
    EXPECT_EQ(files.text(path), "") << path;
    EXPECT_FALSE(files.exists(path)) << path;
    EXPECT_FALSE(files.folder().open(path, O_RDONLY)) << path;
  }
}

TEST_F(ArchiveFile, WritesNothingAnywhere) {
  TarMaker tar = small_machine();
  tar.link("out", folder_);
  tar.file("sys/fine", "fine\n");
  const std::string archive = write(tar.bytes());
  const std::size_t before = files_in_folder();
  EXPECT_EQ(Files(archive).line("sys/fine"), "fine");
  EXPECT_EQ(files_in_folder(), before);
}

TEST(Archive, IsRefusedWhereAPathLeadsOutOfIt) {
  for (const char* path : {"../evil", "sys/../../evil", "/../evil", "sys/.."}) {
    TarMaker tar = small_machine();
    tar.file(path, "evil");
    EXPECT_TRUE(has(refusal(tar.bytes()), "leaves its folder")) << path;
  }
  // Through a link, to a place that only this machine has.
  TarMaker tar = small_machine();
  tar.link("out", "/tmp");
  tar.file("out/evil", "evil");
  EXPECT_TRUE(has(refusal(tar.bytes()), "leads through a link or a file"));
  TarMaker through_file = small_machine();
  through_file.file("proc/cmdline/evil", "evil");
  EXPECT_TRUE(has(refusal(through_file.bytes()), "leads through a link or a file"));
  TarMaker circle = small_machine();
  circle.link("circle", "circle");
  circle.file("circle/evil", "evil");
  EXPECT_TRUE(has(refusal(circle.bytes()), "leads through a link or a file"));
}

TEST(Archive, FollowsLinksOfItsOwn) {
  TarMaker tar = small_machine();
  tar.file("sys/class/infiniband/mlx5_0/device/vpd", "below");
  tar.hard_link("proc/again", "proc/cmdline");
  const auto tree = parse_archive(tar.bytes());
  ASSERT_TRUE(tree) << tree.error().message;
  const auto* real = (*tree)->find("sys/devices/pci0000:00/0000:00:01.0/vpd", true);
  ASSERT_NE(real, nullptr);
  EXPECT_EQ(real->content, "below");
  EXPECT_EQ((*tree)->find("proc/again", true)->content, "iommu=pt\n");
  EXPECT_EQ((*tree)->find("proc/missing", true), nullptr);
}

TEST(Archive, MakesNamesAloneOfDevicesAndPipes) {
  TarMaker tar = small_machine();
  for (const char type : {'3', '4', '6'}) {
    tar.add(type, std::string("dev/nvidia") + type, "", "", 0);
  }
  const auto tree = parse_archive(tar.bytes());
  ASSERT_TRUE(tree) << tree.error().message;
  for (const char* name : {"dev/nvidia3", "dev/nvidia4", "dev/nvidia6"}) {
    const auto* node = (*tree)->find(name, true);
    ASSERT_NE(node, nullptr) << name;
    EXPECT_EQ(node->kind, FileKind::kOther);
  }
}

TEST(Archive, IsRefusedIfLargerThanAMachinesCapture) {
  const std::string unpack = "; unpack it and give the folder";
  TarMaker tar = small_machine();
  tar.file("sys/a", std::string(100'000, 'a'));
  tar.file("sys/b", std::string(100'000, 'b'));
  ArchiveLimits limits;
  limits.kept = 150'000;
  EXPECT_TRUE(has(refusal(tar.bytes(), limits), unpack));
  limits = {};
  limits.entries = 5;
  EXPECT_TRUE(has(refusal(tar.bytes(), limits), "too many entries"));
  // A name alone: too large to be one that is read.
  limits = {};
  limits.file = 50'000;
  const auto tree = parse_archive(tar.bytes(), limits);
  ASSERT_TRUE(tree) << tree.error().message;
  EXPECT_EQ((*tree)->find("sys/a", true)->content, "");
  // Second names count as often as they are given.
  TarMaker names = small_machine();
  names.file("sys/a", std::string(100'000, 'a'));
  for (int i = 0; i < 20; ++i) names.hard_link("sys/a" + std::to_string(i), "sys/a");
  limits = {};
  limits.kept = 1'000'000;
  EXPECT_TRUE(has(refusal(names.bytes(), limits), unpack));
}

TEST(Archive, DoesNotUnpackABomb) {
  // A file of 512 MiB of nothing is some kilobytes: it is passed over, and three are too many.
  ArchiveLimits limits;
  limits.unpacked = 64 << 20;
  const std::string nothing(24 << 20, '\0');
  for (const char* filter : {"gzip", "bzip2", "xz", "zstd"}) {
    TarMaker tar = small_machine();
    for (int i = 0; i < 4; ++i) tar.file("sys/zero" + std::to_string(i), nothing);
    const std::string bomb = compressed(tar.bytes(), filter);
    if (bomb.empty()) continue;
    EXPECT_LT(bomb.size(), std::size_t{1} << 20);
    limits.file = std::size_t{1} << 20;  // so that what is kept is not what stops it
    EXPECT_TRUE(has(refusal(bomb, limits), "is too large for a captured machine")) << filter;
  }
  // One that claims to be larger than any disk.
  TarMaker tar = small_machine();
  tar.add('0', "sys/huge", "", "", 0777'7777'7777ULL);
  EXPECT_TRUE(has(refusal(tar.bytes()), "is too large for a captured machine"));
}

TEST(Archive, IsRefusedWhereItIsCompressedTwice) {
  const std::string once = compressed(small_machine().bytes(), "gzip");
  EXPECT_EQ(refusal(once), "taken");
  EXPECT_EQ(refusal(compressed(once, "gzip")), "is compressed twice");
}

TEST(Archive, IsRefusedWhereItTakesTooLong) {
  ArchiveLimits limits;
  limits.seconds = 0;
  EXPECT_TRUE(has(refusal(small_machine().bytes(), limits), "takes too long to unpack"));
}

TEST(Archive, IsRefusedWhereItIsDeeperThanAMachine) {
  TarMaker tar = small_machine();
  std::string deep = "sys";
  for (int i = 0; i < 45; ++i) deep += "/d";
  tar.file(deep, "fine");
  EXPECT_EQ(refusal(tar.bytes()), "taken");
  ArchiveTree tree;
  for (int i = 0; i < 300; ++i) deep += "/d";
  EXPECT_FALSE(tree.add(deep, FileKind::kRegular, {}));
  EXPECT_FALSE(tree.add(std::string(5000, 'x'), FileKind::kRegular, {}));
}

TEST(Archive, SaysWhatIsNone) {
  EXPECT_TRUE(has(refusal("just a text, no archive\n"), "is not a readable tar archive"));
  EXPECT_TRUE(has(refusal(""), "is not a readable tar archive") ||
              has(refusal(""), "neither a sys"));
  TarMaker tar;
  tar.file("readme", "hello\n");
  EXPECT_TRUE(has(refusal(tar.bytes()), "neither a sys nor a proc folder"));
  EXPECT_TRUE(has(refusal(TarMaker().bytes()), "neither a sys nor a proc folder") ||
              has(refusal(TarMaker().bytes()), "is not a readable tar archive"));
}

TEST(Archive, EndsWhereverItIsCutOff) {
  const std::string whole = small_machine().bytes();
  for (std::size_t size = 0; size < whole.size(); size += 97) {
    static_cast<void>(refusal(whole.substr(0, size)));  // taken or refused, and nothing else
  }
  const std::string packed = compressed(whole, "gzip");
  for (std::size_t size = 0; size < packed.size(); ++size) {
    EXPECT_NE(refusal(packed.substr(0, size)), "taken") << size;
  }
}

TEST_F(ArchiveFile, IsNamedInWhatIsWrongWithIt) {
  const std::string path = write("no archive at all, but text that is long enough to be looked at");
  EXPECT_EQ(Files(path).problem().find(path), 0u) << Files(path).problem();
  const Inventory inventory = take_inventory(Files(path));
  EXPECT_TRUE(inventory.nics.empty() && inventory.gpus.empty());
  const std::string pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_TRUE(has(Files(pipe).problem(), "neither a folder nor a tar archive"));
  EXPECT_TRUE(has(Files(folder_ / "missing").problem(), "no folder"));
  EXPECT_EQ(Files(folder_.string()).problem(), "");
}

}  // namespace
}  // namespace gdr::host
