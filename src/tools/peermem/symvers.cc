#include "peermem/symvers.h"

#include <fmt/format.h>

#include "base/environment.h"

namespace gdr::peermem {
namespace {

constexpr std::size_t kMostSymbols = 1'000'000;  // a kernel has some 30,000

}  // namespace

Exports read_symvers(const host::Files& files, const std::string& path) {
  Exports exports;
  files.each_line(path, [&](const std::string& line) {
    const auto fields = split(line, '\t');
    if (fields.size() < 4) return true;
    const Result<std::uint64_t> crc = parse_number(fields[0], 0, 0xffff'ffff);
    if (!crc || fields[1].empty()) return true;
    Export& symbol = exports[std::string(fields[1])];
    // 0: the kernel has no symbol versions at all.
    if (*crc != 0) symbol.crc = static_cast<std::uint32_t>(*crc);
    symbol.gpl_only = fields[3].starts_with("EXPORT_SYMBOL_GPL");
    return exports.size() < kMostSymbols;
  });
  return exports;
}

std::string symvers_text(const Exports& exports, const std::string& module) {
  std::string text;
  for (const auto& [name, symbol] : exports) {
    text += fmt::format("0x{:08x}\t{}\t{}\t{}\t\n", symbol.crc.value_or(0), name, module,
                        symbol.gpl_only ? "EXPORT_SYMBOL_GPL" : "EXPORT_SYMBOL");
  }
  return text;
}

}  // namespace gdr::peermem
