#include "peermem/elf.h"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace gdr::peermem {
namespace {

const Error kTruncated{EINVAL, "is truncated; copy it again"};

template <typename T>
std::optional<T> at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof value);
  return value;
}

std::optional<std::string_view> range(std::string_view bytes, std::uint64_t offset,
                                      std::uint64_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) return std::nullopt;
  return bytes.substr(offset, size);
}

// Empty for one that begins outside of the table or does not end in it.
std::string_view name_in(std::string_view table, std::uint64_t offset) {
  if (offset >= table.size()) return {};
  const std::size_t end = table.find('\0', offset);
  return end == table.npos ? std::string_view() : table.substr(offset, end - offset);
}

}  // namespace

std::string machine_name(std::uint16_t machine) {
  if (machine == kX86) return "x86-64";
  return machine == kArm ? "AArch64" : "machine " + std::to_string(machine);
}

std::uint16_t machine_here() {
#if defined(__aarch64__)
  return kArm;
#else
  return kX86;
#endif
}

Result<Elf> Elf::parse(std::string_view bytes) {
  if (!bytes.starts_with(ELFMAG)) return Error{EINVAL, "is not an ELF file"};
  const auto header = at<Elf64_Ehdr>(bytes, 0);
  if (!header) return kTruncated;
  if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB) {
    return Error{EINVAL, "is not for a 64-bit little-endian machine"};
  }
  Elf elf;
  elf.machine_ = header->e_machine;
  if (header->e_type != ET_REL) {
    return Error{EINVAL, "is a program or a library, not a kernel module"};
  }
  if (Result<void> read = elf.read_sections(bytes); !read) return read.error();
  return elf;
}

Result<void> Elf::read_sections(std::string_view bytes) {
  const auto header = *at<Elf64_Ehdr>(bytes, 0);
  if (header.e_shentsize != sizeof(Elf64_Shdr)) return Error{EINVAL, "has no sections"};
  std::vector<Elf64_Shdr> headers;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto one = at<Elf64_Shdr>(bytes, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (!one) return kTruncated;
    headers.push_back(*one);
  }
  if (header.e_shstrndx >= headers.size()) return Error{EINVAL, "has no names of sections"};
  const Elf64_Shdr& named = headers[header.e_shstrndx];
  const auto names = range(bytes, named.sh_offset, named.sh_size);
  if (!names) return kTruncated;
  std::optional<std::size_t> table;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const Elf64_Shdr& one = headers[i];
    const bool has_bytes = one.sh_type != SHT_NOBITS && one.sh_type != SHT_NULL;
    const auto content = range(bytes, one.sh_offset, has_bytes ? one.sh_size : 0);
    if (has_bytes && !content) return kTruncated;
    sections_.push_back({name_in(*names, one.sh_name), has_bytes ? *content : ""});
    if (one.sh_type == SHT_SYMTAB) table = i;
  }
  if (!table) return {};
  const Elf64_Shdr& symbols = headers[*table];
  if (symbols.sh_link >= sections_.size()) return Error{EINVAL, "has no names of symbols"};
  return read_symbols(sections_[symbols.sh_link].content, *table);
}

Result<void> Elf::read_symbols(std::string_view names, std::size_t table) {
  const std::string_view content = sections_[table].content;
  const std::size_t count = content.size() / sizeof(Elf64_Sym);
  symbols_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto one = *at<Elf64_Sym>(content, i * sizeof(Elf64_Sym));
    const std::string_view name = name_in(names, one.st_name);
    if (!name.empty()) symbols_.push_back({name, one.st_shndx, one.st_value});
  }
  return {};
}

const Elf::Section* Elf::section(std::string_view name) const {
  const auto found = std::ranges::find(sections_, name, &Section::name);
  return found == sections_.end() ? nullptr : &*found;
}

const Elf::Section* Elf::section(std::uint16_t index) const {
  return index < sections_.size() ? &sections_[index] : nullptr;
}

std::string_view Elf::content(std::string_view name) const {
  const Section* found = section(name);
  return found == nullptr ? std::string_view() : found->content;
}

}  // namespace gdr::peermem
