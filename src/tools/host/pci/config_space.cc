#include "host/pci/config_space.h"

#include <algorithm>

namespace gdr::host {
namespace {

constexpr std::size_t kConventional = 256;
constexpr std::size_t kHeader = 64;
constexpr std::uint16_t kFirstCapability = 0x40;
constexpr std::uint16_t kLastCapability = kConventional - 4;
constexpr std::uint16_t kFirstExtended = 0x100;
constexpr std::uint16_t kLastExtended = 0xffc;
// Each capability takes four bytes at least, each extended one eight: a longer list is a circle.
constexpr int kMostCapabilities = (256 - 64) / 4;
constexpr int kMostExtended = (4096 - 256) / 8;

constexpr std::uint8_t kExpressCapability = 0x10;
constexpr std::uint16_t kAccessControlCapability = 0x000d;
constexpr std::uint16_t kAddressTranslationCapability = 0x000f;
constexpr std::uint16_t kResizableBarCapability = 0x0015;
constexpr unsigned kMostBars = 6;
constexpr unsigned kLargestBar = 43;  // 2^43 MiB: more does not fit into 64 bits

// Device/Port Type, 7.5.3.2.
PciKind kind_of(unsigned type) {
  switch (type) {
    case 0x0:  // endpoint
    case 0x1:  // legacy endpoint
    case 0x9:  // integrated endpoint
    case 0xa:  // event collector
      return PciKind::kEndpoint;
    case 0x4:
      return PciKind::kRootPort;
    case 0x5:
      return PciKind::kUpstream;
    case 0x6:
      return PciKind::kDownstream;
    case 0x7:
    case 0x8:
      return PciKind::kBridge;
    default:
      return PciKind::kUnknown;
  }
}

void fill_from_express(PciFunction& function, const ConfigSpace& space, std::uint16_t express) {
  if (const auto flags = space.word(express + 2u)) function.kind = kind_of(*flags >> 4 & 0xf);
  const auto control = space.word(express + 8u);  // Device Control, 7.5.3.4
  if (!control) return;
  function.device_control_offset = static_cast<std::uint16_t>(express + 8);
  function.max_payload = 128u << (*control >> 5 & 7);
  function.max_read_request = 128u << (*control >> 12 & 7);
  function.relaxed_ordering = (*control & 0x10) != 0;
}

std::uint64_t bar_bytes(unsigned power) {
  return std::uint64_t{1} << 20 << std::min(power, kLargestBar);
}

// 7.8.6: for each BAR the sizes it could have, in bits 31:4 of the capability register from 1 MiB
// on and in bits 31:16 of the control register from 2^28 MiB on, and the one it has.
void fill_resizable_bars(PciFunction& function, const ConfigSpace& space, std::uint16_t at) {
  unsigned count = 1;
  for (unsigned i = 0; i < count; ++i) {
    const auto sizes = space.dword(at + 4u + 8 * i), control = space.dword(at + 8u + 8 * i);
    if (!sizes || !control) return;
    if (i == 0) count = std::clamp(*control >> 5 & 7, 1u, kMostBars);
    const std::uint64_t possible = *sizes >> 4 | std::uint64_t{*control >> 16} << 28;
    ResizableBar bar;
    bar.number = *control & 7;
    bar.size = bar_bytes(*control >> 8 & 0x3f);
    for (unsigned power = 0; power <= kLargestBar; ++power) {
      if ((possible >> power & 1) != 0) bar.most = bar_bytes(power);
    }
    function.resizable_bars.push_back(bar);
  }
}

void fill_from_extended(PciFunction& function, const ConfigSpace& space) {
  const std::uint16_t acs = space.extended_capability(kAccessControlCapability).value_or(0);
  const auto acs_capabilities = space.word(acs + 4u), acs_control = space.word(acs + 6u);
  if (acs != 0 && acs_capabilities && acs_control) {  // 7.7.11
    function.acs = AccessControl{acs, *acs_capabilities, *acs_control};
  }
  const std::uint16_t ats = space.extended_capability(kAddressTranslationCapability).value_or(0);
  const auto ats_control = space.word(ats + 6u);
  if (ats != 0 && ats_control) {  // 10.5.1
    function.ats = AddressTranslation{ats, (*ats_control & 0x8000) != 0};
  }
  const std::uint16_t bars = space.extended_capability(kResizableBarCapability).value_or(0);
  if (bars != 0) fill_resizable_bars(function, space, bars);
}

}  // namespace

ConfigSpace::ConfigSpace(std::string bytes)
    : ConfigSpace([whole = std::move(bytes)](std::size_t offset, std::size_t count) {
        return offset < whole.size() ? whole.substr(offset, count) : std::string();
      }) {}

ConfigSpace::ConfigSpace(Read read) : first_(read(0, kConventional)), read_(std::move(read)) {
  // A device that has gone from the bus, or sleeps, answers with ones alone.
  const std::string header = first_.substr(0, kHeader);
  if (header.find_first_not_of('\xff') == std::string::npos) first_.clear();
}

std::optional<std::uint8_t> ConfigSpace::byte(std::size_t at) const {
  if (at >= first_.size()) return std::nullopt;
  return static_cast<std::uint8_t>(first_[at]);
}

std::optional<std::uint16_t> ConfigSpace::word(std::size_t at) const {
  const auto both = dword(at & ~std::size_t{3});
  if ((at & 1) != 0 || !both) return std::nullopt;
  return static_cast<std::uint16_t>(*both >> (8 * (at & 2)));
}

std::optional<std::uint32_t> ConfigSpace::dword(std::size_t at) const {
  const bool beyond = at >= kConventional && first_.size() == kConventional;
  const std::string read = beyond ? read_(at, 4) : std::string();
  const std::string_view bytes =
      beyond ? std::string_view(read)
             : std::string_view(first_).substr(std::min(at, first_.size()), 4);
  if (bytes.size() != 4) return std::nullopt;
  std::uint32_t value = 0;
  for (unsigned i = 4; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::optional<std::uint16_t> ConfigSpace::capability(std::uint8_t id) const {
  auto next = byte(0x34);
  for (int i = 0; next && i < kMostCapabilities; ++i) {
    const std::uint16_t at = *next & 0xfc;
    if (at == 0) return std::uint16_t{0};
    const auto found = byte(at);
    if (at < kFirstCapability || at > kLastCapability || !found) return std::nullopt;
    if (*found == id) return at;
    next = byte(at + 1u);
  }
  return std::nullopt;
}

std::optional<std::uint16_t> ConfigSpace::extended_capability(std::uint16_t id) const {
  std::uint16_t at = kFirstExtended;
  for (int i = 0; i < kMostExtended; ++i) {
    const auto header = dword(at);
    if (!header || *header == 0xffffffff) return std::nullopt;
    // An empty list is one capability with an id of 0, no version and no next one.
    if (*header == 0) return std::uint16_t{0};
    if ((*header & 0xffff) == id) return at;
    at = static_cast<std::uint16_t>(*header >> 20 & 0xffc);
    if (at == 0) return std::uint16_t{0};
    if (at < kFirstExtended || at > kLastExtended) return std::nullopt;
  }
  return std::nullopt;
}

void fill_from_config(PciFunction& function, const ConfigSpace& space) {
  const auto express = space.capability(kExpressCapability);
  if (!express) return;
  if (*express == 0) {  // conventional PCI, which has no extended capabilities
    function.configuration_read = true;
    if (function.is_bridge()) function.kind = PciKind::kBridge;
    return;
  }
  fill_from_express(function, space, *express);
  fill_from_extended(function, space);
  function.configuration_read = space.extended_capability(0xffff).has_value();
}

}  // namespace gdr::host
