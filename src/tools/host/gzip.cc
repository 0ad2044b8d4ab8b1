#include "host/gzip.h"

#include <algorithm>

#include "host/archive_library.h"

namespace gdr::host {

// RFC 1952, 2.3.1.
bool is_gzip(std::string_view bytes) { return bytes.starts_with("\x1f\x8b"); }

std::string unpack_gzip(std::string_view packed, std::size_t most) {
  const Result<const ArchiveLibrary*> loaded = ArchiveLibrary::load();
  if (!loaded) return {};
  const ArchiveLibrary& library = **loaded;
  const ArchiveHandle handle(library.read_new(), library.read_free);
  if (!handle) return {};
  // Anything but "ok" means that libarchive was built without zlib and would start a program.
  if (library.read_support_filter_gzip(handle.get()) != ARCHIVE_OK) return {};
  archive_entry* entry = nullptr;
  if (library.read_support_format_raw(handle.get()) != ARCHIVE_OK ||
      library.read_open_memory(handle.get(), packed.data(), packed.size()) != ARCHIVE_OK ||
      library.read_next_header(handle.get(), &entry) != ARCHIVE_OK) {
    return {};
  }
  // libarchive hands through as it is what gzip's filter did not take.
  if (library.filter_count(handle.get()) != 2) return {};
  std::string text;
  char piece[4096];
  while (text.size() < most) {
    const la_ssize_t got =
        library.read_data(handle.get(), piece, std::min(sizeof(piece), most - text.size()));
    if (got <= 0) break;
    text.append(piece, static_cast<std::size_t>(got));
  }
  return text;
}

}  // namespace gdr::host
