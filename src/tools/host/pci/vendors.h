// Makers of PCI functions by their numbers, as pci.ids has them.
//
//   if (function.vendor == vendor::kNvidia) ...
#pragma once

#include <cstdint>

namespace gdr::host::vendor {

inline constexpr std::uint16_t kNvidia = 0x10de, kMellanox = 0x15b3, kAmazon = 0x1d0f;
inline constexpr std::uint16_t kAlibaba = 0x1ded, kAmd = 0x1022, kAmdGraphics = 0x1002,
                               kBroadcom = 0x14e4, kChelsio = 0x1425, kCornelis = 0x434e,
                               kCray = 0x17db, kGoogle = 0x1ae0, kHabana = 0x1da3, kHuawei = 0x19e5,
                               kIntel = 0x8086, kLsi = 0x1000, kMicrosoft = 0x1414,
                               kPensando = 0x1dd8, kQlogic = 0x1077;
// Whose devices a hypervisor emulates, and who makes the graphics of a board's management.
inline constexpr std::uint16_t kAspeed = 0x1a03, kCirrus = 0x1013, kMatrox = 0x102b, kQemu = 0x1b36,
                               kQemuDisplay = 0x1234, kVirtio = 0x1af4, kVirtualBox = 0x80ee,
                               kVmware = 0x15ad, kXen = 0x5853;
inline constexpr std::uint16_t kMadeUp[] = {kQemuDisplay, kVirtio, kQemu,       kCirrus, kVmware,
                                            kMicrosoft,   kXen,    kVirtualBox, kAspeed, kMatrox};

}  // namespace gdr::host::vendor
