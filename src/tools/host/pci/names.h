// PciNames: what the numbers of PCI vendors and devices stand for, from the distribution's pci.ids.
// Without that file there are no names, and nothing else changes.
//
//   PciNames names;
//   std::string name = names.device(0x10de, 0x2330);  // "GH100 [H100 SXM5 80GB]"
//
// Not for several threads at once.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace gdr::host {

class PciNames {
 public:
  PciNames();
  // Reads this file instead of the distribution's.
  explicit PciNames(std::string path) : path_(std::move(path)) {}

  // Empty: not known.
  std::string vendor(std::uint16_t vendor);
  std::string device(std::uint16_t vendor, std::uint16_t device);

 private:
  // Where the line of that vendor begins.
  std::size_t line_of(std::uint16_t vendor);
  std::string find_device(std::uint16_t vendor, std::uint16_t device);

  std::string path_;                 // empty: there is none
  std::optional<std::string> text_;  // of the file, behind a line feed, once a name was asked for
  // What was asked before: a machine has many functions and few kinds of them.
  std::map<std::uint16_t, std::size_t> lines_;
  std::map<std::pair<std::uint16_t, std::uint16_t>, std::string> devices_;
};

}  // namespace gdr::host
