#include "host/foreign_devices.h"

#include <stdio.h>

#include <algorithm>
#include <string_view>

#include "host/classify.h"
#include "host/pci/vendors.h"

namespace gdr::host {
namespace {

struct Maker {
  std::uint16_t vendor;
  const char* name;
};
constexpr Maker kMakers[] = {
    {0x1002, "AMD"},           {0x1022, "AMD"},         {0x8086, "Intel"},
    {0x1da3, "Habana"},        {0x17db, "HPE Cray"},    {0x14e4, "Broadcom"},
    {0x1dd8, "AMD Pensando"},  {0x1077, "QLogic"},      {0x1425, "Chelsio"},
    {0x434e, "Cornelis"},      {0x1ded, "Alibaba"},     {0x1414, "Microsoft"},
    {0x19e5, "Huawei"},        {0x1ae0, "Google"},      {0x1d94, "Hygon"},
    {0x1ed5, "Moore Threads"}, {0x9999, "MetaX"},       {0x1e3e, "Iluvatar"},
    {0xcabc, "Cambricon"},     {0x1ee0, "Biren"},       {0x1d0f, "Amazon"},
    {0x17cb, "Qualcomm"},      {0x1e52, "Tenstorrent"}, {0x10ee, "Xilinx"},
    {0x1f67, "Yunsilicon"},    {0x10df, "Emulex"},      {0x1d93, "Graphcore"},
    {0x119f, "Bull"}};

// Displays of the console, real and emulated.
constexpr std::uint16_t kXgi = 0x18ca, kSiliconMotion = 0x126f;
constexpr std::uint16_t kConsoles[] = {kXgi, kSiliconMotion, vendor::kAmazon, vendor::kGoogle};
constexpr std::uint16_t kHuaweiConsole = 0x1711;

bool has(const PciFunction& function, std::string_view word) {
  return function.name.find(word) != std::string::npos;
}

bool is_console(const PciFunction& function) {
  const auto has_maker = [&](auto maker) { return maker == function.vendor; };
  if (std::ranges::any_of(vendor::kMadeUp, has_maker)) return true;
  if (std::ranges::any_of(kConsoles, has_maker)) return true;
  return function.device == kHuaweiConsole && function.vendor == vendor::kHuawei;
}

// The graphics of a desktop processor sits at this place of the root bus.
bool is_processors_own(const PciFunction& function) {
  return function.vendor == vendor::kIntel && function.class_code >> 8 == 0x0300 &&
         function.address.ends_with(":00:02.0");
}

bool is_foreign_gpu(const PciFunction& function) {
  if (function.vendor == vendor::kNvidia) return false;
  const std::uint32_t base = function.class_code >> 16;
  if (base == 0x12) return true;  // processing accelerators
  // A file without makers: no GPU of NVIDIA's has this class.
  if (function.class_code >> 8 == 0x0380 && function.vendor == 0) return true;
  if (base == 0x03) {
    return function.vendor != 0 && !is_console(function) && !is_processors_own(function);
  }
  if (function.class_code != 0) return false;
  for (const char* word : {"Instinct", "Radeon", "Data Center GPU", "Ponte Vecchio", "Gaudi",
                           "Habana", "Aldebaran", "Aqua Vanjaram", "Arcturus"}) {
    if (has(function, word) && !has(function, "Audio")) return true;
  }
  return function.vendor == vendor::kHabana;
}

struct NicFamily {
  std::uint16_t vendor, first, last;  // device numbers
  std::string_view name;              // in text without numbers; empty: none
};
// From the tables of the kernel's drivers: bnxt_en, ice, idpf, i40e, ionic, cxi, hfi1, qede, cxgb4,
// hns3, erdma, mana.
constexpr NicFamily kFamilies[] = {{vendor::kBroadcom, 0x16ce, 0x16da, "BCM573"},
                                   {vendor::kBroadcom, 0x16dc, 0x16f1, "BCM574"},
                                   {vendor::kBroadcom, 0x16c8, 0x16cd, "NetXtreme-E"},
                                   {vendor::kBroadcom, 0x1604, 0x1614, "BCM575"},
                                   {vendor::kBroadcom, 0x1750, 0x17ff, "BCM576"},
                                   {vendor::kBroadcom, 0x1800, 0x1809, ""},
                                   {vendor::kBroadcom, 0xd802, 0xd804, "BCM588"},
                                   {vendor::kIntel, 0x1590, 0x159b, "E810"},
                                   {vendor::kIntel, 0x1888, 0x189f, "E82"},
                                   {vendor::kIntel, 0x12d0, 0x12df, "E83"},
                                   {vendor::kIntel, 0x37cc, 0x37d3, "X722"},
                                   {vendor::kIntel, 0x1452, 0x1453, "Infrastructure"},
                                   {vendor::kIntel, 0x24f0, 0x24f1, "Omni-Path"},
                                   {vendor::kPensando, 0x1002, 0x100f, "DSC"},
                                   {vendor::kCray, 0, 0xffff, "Cassini"},
                                   {vendor::kCray, 0, 0xffff, "Slingshot"},
                                   {vendor::kCornelis, 0, 0xffff, "Cornelis"},
                                   {vendor::kQlogic, 0x1629, 0x1670, "FastLinQ"},
                                   {vendor::kQlogic, 0x8070, 0x8090, "QL41000"},
                                   {vendor::kChelsio, 0x4400, 0x6fff, "T6"},
                                   {vendor::kHuawei, 0xa222, 0xa22f, "HNS"},
                                   {vendor::kAlibaba, 0x107f, 0x107f, "Elastic RDMA"},
                                   {vendor::kMicrosoft, 0x00ba, 0x00ba, ""},
                                   {0x1f67, 0, 0xffff, ""},
                                   {0x119f, 0, 0xffff, "BXI"},
                                   {vendor::kAmazon, 0xefa0, 0xefaf, "EFA"}};

bool is_foreign_nic(const PciFunction& function) {
  const std::uint32_t base = function.class_code >> 16;
  if (base != 0x02 && function.class_code != 0) return false;
  if (is_likely_rdma_nic(function)) return false;
  return std::ranges::any_of(kFamilies, [&](const NicFamily& one) {
    if (function.vendor != one.vendor) return false;
    // A number decides; a name where there is none.
    if (function.device == 0) return !one.name.empty() && has(function, one.name);
    return function.device >= one.first && function.device <= one.last;
  });
}

std::string full_name(const PciFunction& function, UnsupportedDevice::Kind kind) {
  const std::string maker = maker_of(function.vendor);
  const std::string noun = kind == UnsupportedDevice::Kind::kGpu ? "GPU" : "NIC";
  if (function.vendor == 0 && function.name.empty()) return noun + " of an unknown vendor";
  std::string name = function.name;
  if (name.empty() && function.device == 0) name = noun;
  if (name.empty()) {
    char numbers[32];
    snprintf(numbers, sizeof numbers, " %04x:%04x", function.vendor, function.device);
    name = noun + numbers;
  }
  return maker.empty() || name.starts_with(maker) ? name : maker + " " + name;
}

}  // namespace

const char* maker_of(std::uint16_t vendor) {
  const auto* found = std::ranges::find(kMakers, vendor, &Maker::vendor);
  return found == std::end(kMakers) ? "" : found->name;
}

std::optional<UnsupportedDevice> foreign_device(const PciFunction& function) {
  using Kind = UnsupportedDevice::Kind;
  const bool gpu = is_foreign_gpu(function);
  if (!gpu && !is_foreign_nic(function)) return std::nullopt;
  const Kind kind = gpu ? Kind::kGpu : Kind::kNic;
  return UnsupportedDevice{kind, full_name(function, kind), function};
}

}  // namespace gdr::host
