// A kernel module's file, as far as its reader looks at it: sections, symbols and their versions as
// the kernel's build leaves them, in each of the ways that it has had.
//
//   ModuleMaker driver("nvidia", "6.1.0");
//   driver.export_symbol("nvidia_p2p_get_pages", 0x219924d1);
//   folder.write("lib/modules/6.1.0/updates/nvidia.ko", driver.bytes());
#pragma once

#include <elf.h>

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <vector>

namespace gdr::test {

class ModuleMaker {
 public:
  enum class Crcs { kInSection, kAbsolute, kRelative };  // from 5.19 on; before; MODULE_REL_CRCS
  enum class Versions { kRecords, kExtended };           // kExtended: from 6.14 on

  ModuleMaker(std::string name, const std::string& kernel) : name_(std::move(name)) {
    vermagic = kernel + " SMP preempt mod_unload modversions ";
  }

  std::string vermagic, license = "Dual MIT/GPL", version = "1.0", srcversion = "ABCDEF0123456789";
  std::uint16_t machine = EM_X86_64;
  unsigned char elf_class = ELFCLASS64;
  std::uint16_t type = ET_REL;
  Crcs crcs = Crcs::kInSection;
  Versions versions = Versions::kRecords;
  bool is_signed = false;

  // Without a CRC: its builder made no symbol versions.
  void export_symbol(const std::string& name, std::optional<std::uint32_t> crc, bool gpl = false) {
    exports_.push_back({name, crc, gpl});
  }
  void import_symbol(const std::string& name, std::optional<std::uint32_t> crc) {
    imports_.push_back({name, crc, false});
  }

  std::string bytes() {
    sections_.clear();
    symbols_.assign(sizeof(Elf64_Sym), '\0');
    strings_.assign(1, '\0');
    add(std::string(), "", SHT_NULL);
    add(".modinfo", info());
    add_exports(false);
    add_exports(true);
    add_imports();
    const std::size_t symbols = add(".symtab", symbols_, SHT_SYMTAB);
    sections_[symbols].link = add(".strtab", strings_, SHT_STRTAB);
    return whole();
  }

 private:
  struct Symbol {
    std::string name;
    std::optional<std::uint32_t> crc;
    bool gpl;
  };
  struct Section {
    std::string name, content;
    std::uint32_t type;
    std::size_t link = 0;
  };

  template <typename T>
  static std::string raw(const T& value) {
    return {reinterpret_cast<const char*>(&value), sizeof value};
  }

  std::size_t add(const std::string& name, const std::string& content,
                  std::uint32_t type = SHT_PROGBITS) {
    sections_.push_back({name, content, type});
    return sections_.size() - 1;
  }

  void symbol(const std::string& name, std::size_t section, std::uint64_t value) {
    Elf64_Sym one{};
    one.st_name = static_cast<std::uint32_t>(strings_.size());
    one.st_shndx = static_cast<std::uint16_t>(section);
    one.st_value = value;
    strings_ += name + '\0';
    symbols_ += raw(one);
  }

  std::string info() const {
    std::string text;
    for (const auto& [key, value] : {std::pair<std::string, std::string>{"version=", version},
                                     {"license=", license},
                                     {"srcversion=", srcversion},
                                     {"name=", name_},
                                     {"vermagic=", vermagic}}) {
      if (!value.empty()) text += key + value + '\0';
    }
    return text;
  }

  void add_exports(bool gpl) {
    std::string table, crc_table;
    const std::string end = gpl ? "_gpl" : "";
    const std::size_t here = add("__ksymtab" + end, "");
    const std::size_t crcs_here =
        add(crcs == Crcs::kRelative ? ".rodata" + end : "__kcrctab" + end, "");
    for (const Symbol& one : exports_) {
      if (one.gpl != gpl) continue;
      symbol("__ksymtab_" + one.name, here, table.size());
      table.append(12, '\0');
      if (!one.crc) continue;
      if (crcs == Crcs::kAbsolute) {
        symbol("__crc_" + one.name, SHN_ABS, *one.crc);
      } else {
        symbol("__crc_" + one.name, crcs_here, crc_table.size());
      }
      crc_table += raw(*one.crc);
    }
    sections_[here].content = table;
    sections_[crcs_here].content = crc_table;
  }

  void add_imports() {
    std::string records, ext_crcs, ext_names;
    for (const Symbol& one : imports_) {
      symbol(one.name, SHN_UNDEF, 0);
      if (!one.crc) continue;
      std::string record = raw(std::uint64_t{*one.crc}) + one.name;
      record.resize(64, '\0');
      records += record;
      ext_crcs += raw(*one.crc);
      ext_names += one.name + '\0';
    }
    if (versions == Versions::kRecords) {
      add("__versions", records);
    } else {
      add("__version_ext_crcs", ext_crcs);
      add("__version_ext_names", ext_names);
    }
  }

  std::string whole() {
    std::string names(1, '\0');
    const std::size_t names_here = add(".shstrtab", "", SHT_STRTAB);
    std::vector<Elf64_Shdr> headers;
    for (const Section& one : sections_) {
      Elf64_Shdr header{};
      header.sh_name = static_cast<std::uint32_t>(names.size());
      header.sh_type = one.type;
      header.sh_link = static_cast<std::uint32_t>(one.link);
      names += one.name + '\0';
      headers.push_back(header);
    }
    sections_[names_here].content = names;
    std::string content;
    for (std::size_t i = 0; i < sections_.size(); ++i) {
      headers[i].sh_offset = sizeof(Elf64_Ehdr) + content.size();
      headers[i].sh_size = sections_[i].content.size();
      content += sections_[i].content;
    }
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = elf_class;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_type = type;
    header.e_machine = machine;
    header.e_shoff = sizeof header + content.size();
    header.e_shentsize = sizeof(Elf64_Shdr);
    header.e_shnum = static_cast<std::uint16_t>(headers.size());
    header.e_shstrndx = static_cast<std::uint16_t>(names_here);
    std::string bytes = raw(header) + content;
    for (const Elf64_Shdr& one : headers) bytes += raw(one);
    return is_signed ? bytes + "~Module signature appended~\n" : bytes;
  }

  std::string name_, symbols_, strings_;
  std::vector<Symbol> exports_, imports_;
  std::vector<Section> sections_;
};

}  // namespace gdr::test
