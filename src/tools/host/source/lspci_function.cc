#include "host/source/lspci_function.h"

#include <algorithm>

#include "host/pci/vendors.h"
#include "host/source/draft.h"

namespace gdr::host {
namespace {

struct NamedVendor {
  std::string_view name;
  std::uint16_t number;
};
// Names from pci.ids, newer ones first.
constexpr NamedVendor kVendors[] = {
    {"NVIDIA Corporation", vendor::kNvidia},
    {"Mellanox Technologies", vendor::kMellanox},
    {"Amazon.com, Inc.", vendor::kAmazon},
    {"Broadcom / LSI", vendor::kLsi},
    {"LSI Logic / Symbios Logic", vendor::kLsi},
    {"Broadcom Inc. and subsidiaries", vendor::kBroadcom},
    {"Broadcom Limited", vendor::kBroadcom},
    {"Broadcom Corporation", vendor::kBroadcom},
    {"Advanced Micro Devices, Inc. [AMD/ATI]", vendor::kAmdGraphics},
    {"Advanced Micro Devices, Inc. [AMD]", vendor::kAmd},
    {"Intel Corporation", vendor::kIntel},
    {"Habana Labs Ltd.", vendor::kHabana},
    {"Cray Inc", vendor::kCray},
    {"AMD Pensando Systems", vendor::kPensando},
    {"Pensando Systems Inc", vendor::kPensando},
    {"Pensando Systems", vendor::kPensando},
    {"QLogic Corp.", vendor::kQlogic},
    {"Chelsio Communications Inc", vendor::kChelsio},
    {"Cornelis Networks", vendor::kCornelis},
    {"Huawei Technologies Co., Ltd.", vendor::kHuawei},
    {"Alibaba (China) Co., Ltd.", vendor::kAlibaba},
    {"Google, Inc.", vendor::kGoogle},
    {"VMware", vendor::kVmware},
    {"XenSource, Inc.", vendor::kXen},
    {"InnoTek Systemberatung GmbH", vendor::kVirtualBox},
    {"Microsoft Corporation", vendor::kMicrosoft},
    {"ASPEED Technology, Inc.", vendor::kAspeed},
    {"Matrox Electronics Systems Ltd.", vendor::kMatrox}};
// This maker has two numbers: for what QEMU has of its own (kQemu), and for virtio.
constexpr std::string_view kRedHat = "Red Hat, Inc.";

struct NamedClass {
  std::string_view name;
  std::uint32_t code;
};
constexpr NamedClass kClasses[] = {{"PCI bridge", 0x060400},
                                   {"Host bridge", 0x060000},
                                   {"Bridge", 0x068000},
                                   {"VGA compatible controller", 0x030000},
                                   {"3D controller", 0x030200},
                                   {"Display controller", 0x038000},
                                   {"Ethernet controller", 0x020000},
                                   {"Infiniband controller", 0x020700},
                                   {"InfiniBand controller", 0x020700},
                                   {"Fabric controller", 0x020800},
                                   {"Processing accelerators", 0x120000},
                                   {"Network controller", 0x028000}};

bool is_four_hex(std::string_view text) {
  return text.size() == 4 &&
         text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

// "10de:2330"
bool read_ids(std::string_view text, std::uint16_t& vendor, std::uint16_t& device) {
  if (text.size() != 9 || text[4] != ':' || !is_four_hex(text.substr(0, 4)) ||
      !is_four_hex(text.substr(5))) {
    return false;
  }
  vendor = static_cast<std::uint16_t>(to_number(text.substr(0, 4), 16));
  device = static_cast<std::uint16_t>(to_number(text.substr(5), 16));
  return true;
}

void trim_right(std::string_view& text) {
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
}

}  // namespace

bool take_ids(std::string_view& text, std::uint16_t& vendor, std::uint16_t& device) {
  trim_right(text);
  if (text.size() < 11 || text.back() != ']' || text[text.size() - 11] != '[') return false;
  if (!read_ids(text.substr(text.size() - 10, 9), vendor, device)) return false;
  text.remove_suffix(11);
  trim_right(text);
  return true;
}

void take_description(std::string_view text, PciFunction& function) {
  for (const std::string_view end : {" (rev ", " (prog-if "}) {
    text = text.substr(0, std::min(text.find(end), text.size()));
  }
  trim_right(text);
  if (read_ids(text, function.vendor, function.device)) return;  // lspci -n
  const bool numbered = take_ids(text, function.vendor, function.device);
  for (const auto& [name, number] : kVendors) {
    if (!text.starts_with(name)) continue;
    if (!numbered) function.vendor = number;
    text.remove_prefix(name.size());
    while (text.starts_with(' ')) text.remove_prefix(1);
    break;
  }
  if (text.starts_with(kRedHat)) {
    text.remove_prefix(kRedHat.size());
    while (text.starts_with(' ')) text.remove_prefix(1);
    if (!numbered) {
      const bool qemu =
          text.find("QEMU") != std::string_view::npos || text.find("QXL") != std::string_view::npos;
      function.vendor = qemu ? vendor::kQemu : vendor::kVirtio;
    }
  }
  // What the list of its time did not know may be known by now: the name is looked up again.
  if (text.starts_with("Device ") && is_four_hex(text.substr(7))) {
    if (!numbered) function.device = static_cast<std::uint16_t>(to_number(text.substr(7), 16));
    return;
  }
  function.name = text;
}

std::uint32_t class_of(std::string_view text) {
  if (is_four_hex(text)) return to_number(text, 16) << 8;
  if (text.size() > 6 && text.back() == ']' && text[text.size() - 6] == '[' &&
      is_four_hex(text.substr(text.size() - 5, 4))) {
    return to_number(text.substr(text.size() - 5, 4), 16) << 8;
  }
  for (const auto& [name, code] : kClasses) {
    if (text == name) return code;
  }
  return 0;
}

}  // namespace gdr::host
