#include "elf_file.h"

#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <stdexcept>

namespace gdr::test {
namespace {

class Reader {
 public:
  explicit Reader(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw std::runtime_error("cannot open " + path);
    bytes_.assign(std::istreambuf_iterator<char>(file), {});
    header_ = at<Elf64_Ehdr>(0);
    if (std::memcmp(header_.e_ident, ELFMAG, SELFMAG) != 0) {
      throw std::runtime_error(path + " is no ELF file");
    }
  }

  template <typename T>
  T at(std::size_t offset) const {
    if (offset + sizeof(T) > bytes_.size()) throw std::runtime_error("ELF file ends early");
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }
  std::string text(std::size_t offset) const { return &bytes_.at(offset); }

  // The section of a type, or an empty one.
  Elf64_Shdr section(Elf64_Word type) const {
    for (unsigned i = 0; i < header_.e_shnum; ++i) {
      const auto found = at<Elf64_Shdr>(header_.e_shoff + i * sizeof(Elf64_Shdr));
      if (found.sh_type == type) return found;
    }
    return {};
  }
  Elf64_Shdr linked(const Elf64_Shdr& section) const {
    return at<Elf64_Shdr>(header_.e_shoff + section.sh_link * sizeof(Elf64_Shdr));
  }

 private:
  std::vector<char> bytes_;
  Elf64_Ehdr header_{};
};

std::map<unsigned, std::string> version_names(const Reader& file) {
  std::map<unsigned, std::string> names;
  const Elf64_Shdr section = file.section(SHT_GNU_verdef);
  const std::size_t strings = file.linked(section).sh_offset;
  std::size_t offset = section.sh_offset;
  for (unsigned left = section.sh_info; left > 0; --left) {
    const auto entry = file.at<Elf64_Verdef>(offset);
    const auto name = file.at<Elf64_Verdaux>(offset + entry.vd_aux);
    names[entry.vd_ndx] = file.text(strings + name.vda_name);
    offset += entry.vd_next;
  }
  return names;
}

void read_dynamic(const Reader& file, ElfFile& result) {
  const Elf64_Shdr section = file.section(SHT_DYNAMIC);
  const std::size_t strings = file.linked(section).sh_offset;
  for (std::size_t i = 0; i < section.sh_size / sizeof(Elf64_Dyn); ++i) {
    const auto entry = file.at<Elf64_Dyn>(section.sh_offset + i * sizeof(Elf64_Dyn));
    if (entry.d_tag == DT_NEEDED) result.needed.push_back(file.text(strings + entry.d_un.d_val));
    if (entry.d_tag == DT_SONAME) result.soname = file.text(strings + entry.d_un.d_val);
  }
}

}  // namespace

ElfFile read_elf_file(const std::string& path) {
  constexpr unsigned kHidden = 0x8000;  // of a version index: not the default one
  const Reader file(path);
  ElfFile result;
  read_dynamic(file, result);
  const auto versions = version_names(file);
  for (const auto& [index, name] : versions) {
    if (index > 1) result.version_nodes.push_back(name);
  }
  const Elf64_Shdr symbols = file.section(SHT_DYNSYM);
  const std::size_t strings = file.linked(symbols).sh_offset;
  const Elf64_Shdr indices = file.section(SHT_GNU_versym);
  for (std::size_t i = 1; i < symbols.sh_size / sizeof(Elf64_Sym); ++i) {
    const auto symbol = file.at<Elf64_Sym>(symbols.sh_offset + i * sizeof(Elf64_Sym));
    const std::string name = file.text(strings + symbol.st_name);
    if (symbol.st_shndx == SHN_UNDEF) result.imports.insert(name);
    if (symbol.st_shndx == SHN_UNDEF || symbol.st_shndx == SHN_ABS) continue;
    const unsigned index = file.at<Elf64_Half>(indices.sh_offset + i * sizeof(Elf64_Half));
    const auto version = versions.find(index & ~kHidden);
    if (version == versions.end() || version->first <= 1) {
      result.unversioned_exports.insert(name);
      continue;
    }
    const bool object = ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT;
    result.exports.insert(name + ' ' + version->second +
                          (index & kHidden ? " compat " : " default ") +
                          (object ? "OBJECT " + std::to_string(symbol.st_size) : "FUNC -"));
  }
  return result;
}

}  // namespace gdr::test
