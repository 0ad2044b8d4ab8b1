#include "mpi/shared_object.h"

#include <elf.h>

#include <algorithm>
#include <cstring>

#include "base/environment.h"

namespace gdr::mpi {
namespace {

constexpr std::size_t kMostEntries = 4096;                 // of the dynamic section
constexpr std::size_t kMostNames = std::size_t{16} << 20;  // bytes; libmpi's are 0.2 MB
constexpr std::size_t kMostSegments = 128;

template <typename T>
std::vector<T> read_all(const host::Files& files, const std::string& path, std::uint64_t offset,
                        std::size_t count) {
  const std::string bytes = files.part(path, offset, count * sizeof(T));
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!values.empty()) std::memcpy(values.data(), bytes.data(), values.size() * sizeof(T));
  return values;
}

// The place in the file of an address of the loaded library.
std::optional<std::uint64_t> offset_of(const std::vector<Elf64_Phdr>& segments,
                                       std::uint64_t address) {
  for (const Elf64_Phdr& segment : segments) {
    if (segment.p_type != PT_LOAD || address < segment.p_vaddr) continue;
    const std::uint64_t inside = address - segment.p_vaddr;
    if (inside < segment.p_filesz) return segment.p_offset + inside;
  }
  return std::nullopt;
}

std::string name_at(const std::string& names, std::uint64_t offset) {
  if (offset >= names.size()) return {};
  return names.c_str() + offset;  // a std::string ends with a NUL
}

struct Tables {
  std::uint64_t names = 0, size = 0;
  std::vector<std::uint64_t> needed;
  std::optional<std::uint64_t> rpath, runpath;
};

Tables tables_of(const std::vector<Elf64_Dyn>& entries) {
  Tables tables;
  for (const Elf64_Dyn& entry : entries) {
    if (entry.d_tag == DT_NULL) break;
    if (entry.d_tag == DT_STRTAB) tables.names = entry.d_un.d_ptr;
    if (entry.d_tag == DT_STRSZ) tables.size = entry.d_un.d_val;
    if (entry.d_tag == DT_NEEDED) tables.needed.push_back(entry.d_un.d_val);
    if (entry.d_tag == DT_RPATH) tables.rpath = entry.d_un.d_val;
    if (entry.d_tag == DT_RUNPATH) tables.runpath = entry.d_un.d_val;
  }
  return tables;
}

std::optional<std::vector<Elf64_Phdr>> segments_of(const host::Files& files,
                                                   const std::string& path) {
  const std::vector<Elf64_Ehdr> headers = read_all<Elf64_Ehdr>(files, path, 0, 1);
  if (headers.empty()) return std::nullopt;
  const Elf64_Ehdr& header = headers.front();
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_phentsize != sizeof(Elf64_Phdr) ||
      header.e_phnum > kMostSegments) {
    return std::nullopt;
  }
  return read_all<Elf64_Phdr>(files, path, header.e_phoff, header.e_phnum);
}

}  // namespace

bool SharedObject::needs(std::string_view start) const {
  return std::ranges::any_of(needed,
                             [&](const std::string& name) { return name.starts_with(start); });
}

bool SharedObject::mentions(const std::string& symbol) const {
  const std::string whole = std::string(1, '\0') + symbol + std::string(1, '\0');
  return (names + std::string(1, '\0')).find(whole) != std::string::npos;
}

std::optional<SharedObject> read_shared_object(const host::Files& files, const std::string& path) {
  const std::optional<std::vector<Elf64_Phdr>> segments = segments_of(files, path);
  if (!segments) return std::nullopt;
  const auto dynamic = std::ranges::find(*segments, Elf64_Word{PT_DYNAMIC}, &Elf64_Phdr::p_type);
  if (dynamic == segments->end()) return std::nullopt;
  const std::size_t count =
      std::min<std::uint64_t>(dynamic->p_filesz / sizeof(Elf64_Dyn), kMostEntries);
  const Tables tables = tables_of(read_all<Elf64_Dyn>(files, path, dynamic->p_offset, count));
  const std::optional<std::uint64_t> names = offset_of(*segments, tables.names);
  if (!names) return std::nullopt;
  SharedObject object;
  object.names = files.part(path, *names, std::min<std::uint64_t>(tables.size, kMostNames));
  object.names_complete = object.names.size() == tables.size;
  for (const std::uint64_t name : tables.needed) {
    if (std::string text = name_at(object.names, name); !text.empty()) {
      object.needed.push_back(std::move(text));
    }
  }
  object.run_path_is_weak = tables.runpath.has_value();
  if (const auto offset = tables.runpath ? tables.runpath : tables.rpath) {
    const std::string folders = name_at(object.names, *offset);
    for (const std::string_view folder : split(folders, ':')) {
      if (!folder.empty()) object.run_path.emplace_back(folder);
    }
  }
  return object;
}

}  // namespace gdr::mpi
