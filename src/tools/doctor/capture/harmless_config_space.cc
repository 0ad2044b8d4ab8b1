// Section numbers: PCI Express Base Specification 6.0.
#include <algorithm>

#include "doctor/capture/harmless.h"

namespace gdr::doctor {
namespace {

constexpr std::size_t kHeader = 0x40, kConventional = 0x100;
constexpr std::size_t kFirstPointer = 0x34;
constexpr int kMostCapabilities = (0x100 - 0x40) / 4, kMostExtended = (0x1000 - 0x100) / 8;

unsigned byte_of(const std::string& space, std::size_t at) {
  return at < space.size() ? static_cast<unsigned char>(space[at]) : 0;
}

// How many bytes of this capability the checks read.
std::size_t bytes_of_capability(unsigned id) {
  return id == 0x10 ? 0x14 : 2;  // PCI Express, as far as Link Status (7.5.3)
}

std::size_t bytes_of_extended(const std::string& space, std::size_t at, unsigned id) {
  switch (id) {
    case 0x000d:  // Access Control Services (7.7.11)
    case 0x000f:  // Address Translation Services (10.5.1)
      return 8;
    case 0x0015:  // Resizable BAR: eight bytes for each of up to six (7.8.6)
      return 4 + 8 * std::clamp<std::size_t>(byte_of(space, at + 8) >> 5, 1, 6);
    default:
      return 4;  // number, version and where the next one stands
  }
}

class Copy {
 public:
  explicit Copy(const std::string& space) : from_(space), to_(space.size(), '\0') {}
  void keep(std::size_t at, std::size_t count) {
    if (at >= from_.size()) return;
    count = std::min(count, from_.size() - at);
    to_.replace(at, count, from_, at, count);
  }
  std::string take() { return std::move(to_); }

 private:
  const std::string& from_;
  std::string to_;
};

}  // namespace

std::string harmless_config_space(const std::string& space) {
  Copy copy(space);
  copy.keep(0, kHeader);
  std::size_t at = byte_of(space, kFirstPointer) & 0xfc;
  for (int i = 0; i < kMostCapabilities && at >= kHeader && at < kConventional; ++i) {
    copy.keep(at, std::min(bytes_of_capability(byte_of(space, at)), kConventional - at));
    at = byte_of(space, at + 1) & 0xfc;
  }
  at = kConventional;
  for (int i = 0; i < kMostExtended && at >= kConventional; ++i) {
    const unsigned id = byte_of(space, at) | byte_of(space, at + 1) << 8;
    copy.keep(at, bytes_of_extended(space, at, id));
    at = (byte_of(space, at + 2) >> 4 | byte_of(space, at + 3) << 4) & 0xffc;
  }
  return copy.take();
}

}  // namespace gdr::doctor
