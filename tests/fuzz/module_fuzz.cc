// A stranger's kernel module: read or refused, without reaching outside of its bytes. What is read
// is one line of text each, and symbols that the file has names for.
//
// Input: the file's bytes.
#include <cstdint>
#include <string>
#include <string_view>

#include "input.h"
#include "peermem/elf.h"
#include "peermem/module_file.h"

namespace {

using gdr::test::require;

bool is_inside(std::string_view part, std::string_view bytes) {
  return part.empty() ||
         (part.data() >= bytes.data() && part.data() + part.size() <= bytes.data() + bytes.size());
}

bool is_a_line(const std::string& text) {
  constexpr std::size_t kMost = 1000;  // a byte that is no letter is shown as several
  for (const char c : text) {
    if (c == '\n' || c == '\x1b' || c == '\0') return false;
  }
  return text.size() <= kMost;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace gdr::peermem;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto elf = Elf::parse(bytes);
  if (elf) {
    for (const Elf::Symbol& symbol : elf->symbols()) {
      require(is_inside(symbol.name, bytes));
      const Elf::Section* section = elf->section(symbol.section);
      if (section == nullptr) continue;
      require(is_inside(section->name, bytes) && is_inside(section->content, bytes));
    }
  }
  const auto module = parse_module(bytes);
  require(!module || elf);
  if (!module) return 0;
  for (const std::string& text :
       {module->name, module->version, module->srcversion, module->license, module->vermagic}) {
    require(is_a_line(text));
  }
  for (const auto& [name, symbol] : module->exports) {
    require(bytes.find(name) != std::string_view::npos);
  }
  return 0;
}
