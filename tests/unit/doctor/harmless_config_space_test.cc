// What a capture leaves out of configuration space.
#include <gtest/gtest.h>

#include "doctor/capture/harmless.h"
#include "machine.h"

namespace gdr::doctor {
namespace {

using gdr::test::Machine;

TEST(Harmless, IsOfConfigurationSpaceWhatChecksRead) {
  gdr::test::MachineFunction function;
  function.acs_control = 0x1d;
  function.ats = true;
  std::string whole = Machine::config(function);
  // Product data (VPD), a vendor's own structure, and what is in no structure.
  whole[0x41] = 0x60;
  whole.replace(0x60, 8, std::string("\x03\x70\x00\x80SN01", 8));
  whole.replace(0x70, 8, std::string("\x09\x00\x10\x00SN02", 8));
  whole.replace(0x90, 4, "SN03");
  whole.replace(0x800, 4, "SN04");
  const std::string kept = harmless_config_space(whole);
  EXPECT_EQ(kept.find("SERIAL!!"), std::string::npos);
  EXPECT_EQ(kept.find("SN0"), std::string::npos);
  for (const auto& [at, count] : {std::pair(0x00, 0x40),
                                  {0x40, 0x14},
                                  {0x60, 2},
                                  {0x70, 2},
                                  {0x100, 4},
                                  {0x170, 8},
                                  {0x220, 8}}) {
    EXPECT_EQ(kept.substr(at, count), whole.substr(at, count)) << at;
  }
  for (std::size_t size : {0u, 1u, 64u, 65u, 0x100u, 0x103u, 0x104u, 0x10bu, 0x10cu, 0xfffu}) {
    EXPECT_EQ(harmless_config_space(whole.substr(0, size)).size(), size);
  }
  for (const char byte : {'\x10', '\xff', '\x40', '\x15'}) {
    EXPECT_EQ(harmless_config_space(std::string(4096, byte)).size(), 4096u) << "a circle";
  }
}

}  // namespace
}  // namespace gdr::doctor
