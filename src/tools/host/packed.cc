#include "host/packed.h"

#include <algorithm>
#include <utility>

#include "base/printable.h"
#include "host/archive_library.h"

namespace gdr::host {
namespace {

using namespace std::string_view_literals;

constexpr const char* kNames[] = {"", "gzip", "xz", "zstd"};

int add_filter(const ArchiveLibrary& library, archive* handle, Packing packing) {
  if (packing == Packing::kGzip) return library.read_support_filter_gzip(handle);
  if (packing == Packing::kXz) return library.read_support_filter_xz(handle);
  return library.read_support_filter_zstd(handle);
}

std::string damage(const ArchiveLibrary& library, archive* handle, Packing packing) {
  const char* said = library.error_string(handle);
  std::string text = std::string("is damaged, ") + kNames[static_cast<std::size_t>(packing)];
  return text + " says: " + printable(said != nullptr ? said : "it ends too early");
}

}  // namespace

Packing packing_of(std::string_view bytes) {
  if (bytes.starts_with("\x1f\x8b"sv)) return Packing::kGzip;  // RFC 1952, 2.3.1
  if (bytes.starts_with("\xfd"
                        "7zXZ\0"sv))
    return Packing::kXz;
  return bytes.starts_with("\x28\xb5\x2f\xfd"sv) ? Packing::kZstd : Packing::kNone;
}

Unpacked unpack(std::string packed, std::size_t most) {
  const Packing packing = packing_of(packed);
  if (packing == Packing::kNone) {
    if (packed.size() > most) return {packed.substr(0, most), "is too large"};
    return {std::move(packed), {}};
  }
  const Result<const ArchiveLibrary*> loaded = ArchiveLibrary::load();
  if (!loaded) return {{}, "is packed, and " + loaded.error().message};
  const ArchiveLibrary& library = **loaded;
  const ArchiveHandle handle(library.read_new(), library.read_free);
  if (!handle) return {{}, "cannot be unpacked: out of memory"};
  // Anything but "ok" means that libarchive was built without it and would start a program.
  if (add_filter(library, handle.get(), packing) != kArchiveOk) {
    return {{},
            std::string("cannot be unpacked: libarchive here has no ") +
                kNames[static_cast<std::size_t>(packing)] + "; unpack it first"};
  }
  archive_entry* entry = nullptr;
  if (library.read_support_format_raw(handle.get()) != kArchiveOk ||
      library.read_open_memory(handle.get(), packed.data(), packed.size()) != kArchiveOk ||
      library.read_next_header(handle.get(), &entry) != kArchiveOk ||
      // libarchive hands through as it is what the filter did not take.
      library.filter_count(handle.get()) != 2) {
    return {{}, damage(library, handle.get(), packing)};
  }
  std::string bytes;
  char piece[64 * 1024];
  for (;;) {
    const ssize_t got = library.read_data(handle.get(), piece, sizeof(piece));
    if (got == 0) return {std::move(bytes), {}};
    if (got < 0) return {std::move(bytes), damage(library, handle.get(), packing)};
    const std::size_t room = most - bytes.size(), size = static_cast<std::size_t>(got);
    bytes.append(piece, std::min(room, size));
    if (size > room) return {std::move(bytes), "is too large"};
  }
}

}  // namespace gdr::host
