// A vendor's line begins with four digits and two spaces; its devices' lines follow, behind a
// tabulator, and theirs of subsystems behind two.
#include "host/pci/names.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string_view>

namespace gdr::host {
namespace {

// Where distributions keep the file.
constexpr const char* kPlaces[] = {"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids",
                                   "/usr/share/pci.ids", "/var/lib/pciutils/pci.ids"};

std::string rest_of_line(std::string_view text, std::size_t at) {
  return std::string(text.substr(at, text.find('\n', at) - at));
}

}  // namespace

PciNames::PciNames() {
  for (const char* place : kPlaces) {
    if (path_.empty() && access(place, R_OK) == 0) path_ = place;
  }
}

std::size_t PciNames::line_of(std::uint16_t vendor) {
  if (!text_) {
    std::ostringstream all;
    all << '\n';
    if (!path_.empty()) all << std::ifstream(path_, std::ios::binary).rdbuf();
    text_ = std::move(all).str();
  }
  const auto [line, is_new] = lines_.try_emplace(vendor, std::string::npos);
  if (is_new) {
    const std::size_t found = text_->find(fmt::format("\n{:04x}  ", vendor));
    if (found != std::string::npos) line->second = found + 1;
  }
  return line->second;
}

std::string PciNames::vendor(std::uint16_t vendor) {
  const std::size_t line = line_of(vendor);
  return line == std::string::npos ? "" : rest_of_line(*text_, line + 6);
}

std::string PciNames::device(std::uint16_t vendor, std::uint16_t device) {
  const auto [name, is_new] = devices_.try_emplace({vendor, device});
  if (is_new) name->second = find_device(vendor, device);
  return name->second;
}

std::string PciNames::find_device(std::uint16_t vendor, std::uint16_t device) {
  const std::size_t line = line_of(vendor);
  if (line == std::string::npos) return {};
  const std::string begins = fmt::format("\t{:04x}  ", device);
  const std::string_view text = *text_;
  for (std::size_t at = text.find('\n', line); at != text.npos; at = text.find('\n', at + 1)) {
    const std::string_view next = text.substr(at + 1);
    if (next.starts_with(begins)) return rest_of_line(next, begins.size());
    if (!next.starts_with('\t') && !next.starts_with('#')) break;
  }
  return {};
}

}  // namespace gdr::host
