#include "watch/c_library.h"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace gdr::watch {
namespace {

constexpr char kName[] = "dlvsym";

// The tables that the loader itself uses. It has put absolute addresses into the section.
struct Symbols {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const std::uint32_t* hash = nullptr;  // DT_GNU_HASH
  const char* own_name = nullptr;

  explicit Symbols(const ElfW(Dyn) * entry) {
    std::uint64_t soname = 0;
    for (; entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_SYMTAB) {
        symbols = reinterpret_cast<const ElfW(Sym)*>(entry->d_un.d_ptr);
      } else if (entry->d_tag == DT_STRTAB) {
        names = reinterpret_cast<const char*>(entry->d_un.d_ptr);
      } else if (entry->d_tag == DT_GNU_HASH) {
        hash = reinterpret_cast<const std::uint32_t*>(entry->d_un.d_ptr);
      } else if (entry->d_tag == DT_SONAME) {
        soname = entry->d_un.d_val;
      }
    }
    if (names != nullptr && soname != 0) own_name = names + soname;
  }
};

// glibc before 2.34 has these functions in a library of their own.
bool is_c_library(const Symbols& of) {
  return of.own_name != nullptr && of.symbols != nullptr && of.hash != nullptr &&
         (std::strcmp(of.own_name, "libc.so.6") == 0 ||
          std::strcmp(of.own_name, "libdl.so.2") == 0);
}

std::uint32_t gnu_hash(const char* name) {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

// The function under any of its versions: they differ in name only.
void* find(const Symbols& in, ElfW(Addr) base) {
  const std::uint32_t buckets = in.hash[0], first = in.hash[1], words = in.hash[2];
  const auto* bucket = reinterpret_cast<const std::uint32_t*>(
      reinterpret_cast<const ElfW(Addr)*>(in.hash + 4) + words);
  const std::uint32_t* chain = bucket + buckets;
  const std::uint32_t wanted = gnu_hash(kName);
  std::uint32_t number = buckets == 0 ? 0 : bucket[wanted % buckets];
  if (number < first) return nullptr;
  for (;; ++number) {
    const std::uint32_t hash = chain[number - first];
    const ElfW(Sym)& symbol = in.symbols[number];
    if ((hash | 1) == (wanted | 1) && symbol.st_shndx != SHN_UNDEF &&
        std::strcmp(in.names + symbol.st_name, kName) == 0) {
      return reinterpret_cast<void*>(base + symbol.st_value);
    }
    if ((hash & 1) != 0) return nullptr;
  }
}

// By its file first: of the kernel's own object (linux-vdso), the loader leaves the addresses as
// they are.
bool may_be_c_library(const char* path) {
  const char* slash = path == nullptr ? nullptr : std::strrchr(path, '/');
  const char* file = slash != nullptr ? slash + 1 : path;
  return file != nullptr &&
         (std::strncmp(file, "libc", 4) == 0 || std::strncmp(file, "libdl", 5) == 0);
}

int visit(dl_phdr_info* object, std::size_t, void* found) {
  if (!may_be_c_library(object->dlpi_name)) return 0;
  for (int i = 0; i < object->dlpi_phnum; ++i) {
    if (object->dlpi_phdr[i].p_type != PT_DYNAMIC) continue;
    const Symbols symbols(
        reinterpret_cast<const ElfW(Dyn)*>(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr));
    if (!is_c_library(symbols)) continue;
    *static_cast<void**>(found) = find(symbols, object->dlpi_addr);
    if (*static_cast<void**>(found) != nullptr) return 1;
  }
  return 0;
}

}  // namespace

void* dlvsym_of_c_library() {
  void* found = nullptr;
  dl_iterate_phdr(visit, &found);
  return found;
}

}  // namespace gdr::watch
