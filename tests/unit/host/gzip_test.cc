#include "host/gzip.h"

#include <gtest/gtest.h>

#include "host/files.h"
#include "machine.h"
#include "tar_maker.h"

namespace gdr::host {
namespace {

using gdr::test::compressed;
using gdr::test::Machine;

TEST(Gzip, IsUnpackedToItsLastByteOrToTheBound) {
  const std::string text(300'000, 'x');
  const std::string packed = compressed(text, "gzip");
  ASSERT_TRUE(is_gzip(packed));
  EXPECT_EQ(unpack_gzip(packed, 1 << 20), text);
  EXPECT_EQ(unpack_gzip(packed, 5000), text.substr(0, 5000));
}

TEST(Gzip, ThatIsDamagedOrNoneGivesNothingBeyondTheDamage) {
  std::string text;
  for (int line = 0; line < 20'000; ++line) text += std::to_string(line * 7919) + "\n";
  const std::string packed = compressed(text, "gzip");
  const std::string part = unpack_gzip(packed.substr(0, packed.size() / 2), 1 << 20);
  EXPECT_LT(part.size(), text.size());
  EXPECT_EQ(part, text.substr(0, part.size()));
  EXPECT_EQ(unpack_gzip("\x1f\x8b", 1 << 20), "");
  EXPECT_FALSE(is_gzip("CONFIG_PCI=y\n"));
}

TEST(Files, ReadLinesOfAPackedFileAsOfAPlainOne) {
  const std::string text = "CONFIG_PCI=y\n# CONFIG_PCI_P2PDMA is not set\nCONFIG_LAST=y";
  Machine machine;
  machine.write("plain", text);
  machine.write("proc/config.gz", compressed(text, "gzip"));
  const Files files(machine.root());
  for (const char* word : {"PCI", "P2PDMA", "LAST", "ABSENT", ""}) {
    EXPECT_EQ(files.lines_with("proc/config.gz", word), files.lines_with("plain", word)) << word;
  }
  EXPECT_EQ(files.lines_with("proc/config.gz", "PCI").size(), 2U);
}

TEST(Files, UnpackABombOnlyToItsBound) {
  Machine machine;
  machine.write("proc/config.gz", compressed(std::string(64 << 20, '\n'), "gzip"));
  std::size_t lines = 0;
  Files(machine.root()).each_line("proc/config.gz", [&](const std::string&) {
    return ++lines > 0;
  });
  EXPECT_EQ(lines, std::size_t{16} << 20);
}

}  // namespace
}  // namespace gdr::host
