// Elf: the sections and symbols of a 64-bit little-endian ELF file in memory, as kernel modules of
// x86-64 and AArch64 are. The file may be anybody's: every offset is checked against its size.
//
//   Result<Elf> elf = Elf::parse(bytes);
//   std::string_view info = elf->content(".modinfo");
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace gdr::peermem {

inline constexpr std::uint16_t kX86 = 62, kArm = 183;  // e_machine
// "x86-64", "machine 21"
std::string machine_name(std::uint16_t machine);
// What this program was built for.
std::uint16_t machine_here();

class Elf {
 public:
  struct Section {
    std::string_view name;
    std::string_view content;  // empty for one without bytes in the file
  };
  struct Symbol {
    std::string_view name;
    std::uint16_t section = 0;  // its index, or one of those below
    std::uint64_t value = 0;
  };
  static constexpr std::uint16_t kUndefined = 0, kAbsolute = 0xfff1;

  // The error is for a sentence about the file: "is not an ELF file". `bytes` must outlive it.
  static Result<Elf> parse(std::string_view bytes);

  std::uint16_t machine() const { return machine_; }
  // Null: there is no such section.
  const Section* section(std::string_view name) const;
  const Section* section(std::uint16_t index) const;
  std::string_view content(std::string_view name) const;
  const std::vector<Symbol>& symbols() const { return symbols_; }

 private:
  Result<void> read_sections(std::string_view bytes);
  Result<void> read_symbols(std::string_view bytes, std::size_t table);

  std::uint16_t machine_ = 0;
  std::vector<Section> sections_;
  std::vector<Symbol> symbols_;
};

}  // namespace gdr::peermem
