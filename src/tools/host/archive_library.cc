#include "host/archive_library.h"

#include <dlfcn.h>

#include <string>

namespace gdr::host {
namespace {

// libarchive 3, in every distribution since 2013.
constexpr const char* kName = "libarchive.so.13";
constexpr const char* kWithout =
    ", which is needed to read archives; unpack it and give the folder, or install the library "
    "(Debian: libarchive13)";

template <typename Function>
bool resolve(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

Result<ArchiveLibrary> open_library() {
  void* handle = dlopen(kName, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return Error{ENOENT, std::string("there is no ") + kName + kWithout};
  ArchiveLibrary library;
  std::string missing;
#define GDR_RESOLVE(member) \
  if (!resolve(handle, "archive_" #member, library.member)) missing = "archive_" #member;
  GDR_RESOLVE(read_new)
  GDR_RESOLVE(read_free)
  GDR_RESOLVE(read_open)
  GDR_RESOLVE(read_open_memory)
  GDR_RESOLVE(read_support_format_raw)
  GDR_RESOLVE(read_support_format_tar)
  GDR_RESOLVE(read_support_filter_gzip)
  GDR_RESOLVE(read_support_filter_bzip2)
  GDR_RESOLVE(read_support_filter_xz)
  GDR_RESOLVE(read_support_filter_zstd)
  GDR_RESOLVE(read_next_header)
  GDR_RESOLVE(read_data)
  GDR_RESOLVE(read_data_block)
  GDR_RESOLVE(filter_bytes)
  GDR_RESOLVE(filter_count)
  GDR_RESOLVE(error_string)
  GDR_RESOLVE(set_error)
  GDR_RESOLVE(entry_pathname)
  GDR_RESOLVE(entry_pathname_utf8)
  GDR_RESOLVE(entry_hardlink)
  GDR_RESOLVE(entry_symlink)
  GDR_RESOLVE(entry_filetype)
  GDR_RESOLVE(entry_size)
#undef GDR_RESOLVE
  if (missing.empty()) return library;
  return Error{ENOENT, std::string(kName) + " has no " + missing + kWithout};
}

}  // namespace

Result<const ArchiveLibrary*> ArchiveLibrary::load() {
  static const Result<ArchiveLibrary> library = open_library();
  if (!library) return library.error();
  return &*library;
}

}  // namespace gdr::host
