// What the two kinds of lspci text say of one function in the same words: its address, and who made
// it and what it is.
//
//   PciFunction function;
//   take_description("NVIDIA Corporation Device 2330 [10de:2330] (rev a1)", function);
#pragma once

#include <string_view>

#include "host/pci/function.h"

namespace gdr::host {

// Vendor, device and name. Only the numbers of vendors that matter here are known by their names;
// lspci -nn prints them all.
void take_description(std::string_view text, PciFunction& function);

// "[10de:2330]" at the end of a text, which then is cut off; false: none there.
bool take_ids(std::string_view& text, std::uint16_t& vendor, std::uint16_t& device);

// "Ethernet controller", "Ethernet controller [0200]" and "0200"; 0: none that matters here.
std::uint32_t class_of(std::string_view text);

}  // namespace gdr::host
