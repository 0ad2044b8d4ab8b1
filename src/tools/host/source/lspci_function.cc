#include "host/source/lspci_function.h"

#include <algorithm>

#include "host/source/draft.h"

namespace gdr::host {
namespace {

struct NamedVendor {
  std::string_view name;
  std::uint16_t number;
};
// Names from pci.ids, newer ones first.
constexpr NamedVendor kVendors[] = {{"NVIDIA Corporation", 0x10de},
                                    {"Mellanox Technologies", 0x15b3},
                                    {"Amazon.com, Inc.", 0x1d0f},
                                    {"Broadcom / LSI", 0x1000},
                                    {"LSI Logic / Symbios Logic", 0x1000},
                                    {"Broadcom Inc. and subsidiaries", 0x14e4},
                                    {"Broadcom Limited", 0x14e4},
                                    {"Broadcom Corporation", 0x14e4},
                                    {"Advanced Micro Devices, Inc. [AMD/ATI]", 0x1002},
                                    {"Advanced Micro Devices, Inc. [AMD]", 0x1022},
                                    {"Intel Corporation", 0x8086},
                                    {"Habana Labs Ltd.", 0x1da3},
                                    {"Cray Inc", 0x17db},
                                    {"AMD Pensando Systems", 0x1dd8},
                                    {"Pensando Systems Inc", 0x1dd8},
                                    {"Pensando Systems", 0x1dd8},
                                    {"QLogic Corp.", 0x1077},
                                    {"Chelsio Communications Inc", 0x1425},
                                    {"Cornelis Networks", 0x434e},
                                    {"Huawei Technologies Co., Ltd.", 0x19e5},
                                    {"Alibaba (China) Co., Ltd.", 0x1ded},
                                    {"Google, Inc.", 0x1ae0},
                                    {"VMware", 0x15ad},
                                    {"XenSource, Inc.", 0x5853},
                                    {"InnoTek Systemberatung GmbH", 0x80ee},
                                    {"Microsoft Corporation", 0x1414},
                                    {"ASPEED Technology, Inc.", 0x1a03},
                                    {"Matrox Electronics Systems Ltd.", 0x102b}};
// This maker has two numbers: of what QEMU has of its own, and of virtio.
constexpr std::string_view kRedHat = "Red Hat, Inc.";
constexpr std::uint16_t kQemu = 0x1b36, kVirtio = 0x1af4;

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
      function.vendor = qemu ? kQemu : kVirtio;
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
