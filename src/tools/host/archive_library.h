// ArchiveLibrary: libarchive, loaded when something packed is to be read. Nothing links it: few
// commands are given one, and it brings a dozen libraries along.
//
//   Result<const ArchiveLibrary*> library = ArchiveLibrary::load();
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <memory>

#include "base/result.h"

namespace gdr::host {

// The members are the library's functions without "archive_".
struct ArchiveLibrary {
  // ENOENT: this host has none.
  static Result<const ArchiveLibrary*> load();

  decltype(&::archive_read_new) read_new = nullptr;
  decltype(&::archive_read_free) read_free = nullptr;
  decltype(&::archive_read_open) read_open = nullptr;
  decltype(&::archive_read_open_memory) read_open_memory = nullptr;
  decltype(&::archive_read_support_format_raw) read_support_format_raw = nullptr;
  decltype(&::archive_read_support_format_tar) read_support_format_tar = nullptr;
  decltype(&::archive_read_support_filter_gzip) read_support_filter_gzip = nullptr;
  decltype(&::archive_read_support_filter_bzip2) read_support_filter_bzip2 = nullptr;
  decltype(&::archive_read_support_filter_xz) read_support_filter_xz = nullptr;
  decltype(&::archive_read_support_filter_zstd) read_support_filter_zstd = nullptr;
  decltype(&::archive_read_next_header) read_next_header = nullptr;
  decltype(&::archive_read_data) read_data = nullptr;
  decltype(&::archive_read_data_block) read_data_block = nullptr;
  decltype(&::archive_filter_bytes) filter_bytes = nullptr;
  decltype(&::archive_filter_count) filter_count = nullptr;
  decltype(&::archive_error_string) error_string = nullptr;
  decltype(&::archive_set_error) set_error = nullptr;
  decltype(&::archive_entry_pathname) entry_pathname = nullptr;
  decltype(&::archive_entry_pathname_utf8) entry_pathname_utf8 = nullptr;
  decltype(&::archive_entry_hardlink) entry_hardlink = nullptr;
  decltype(&::archive_entry_symlink) entry_symlink = nullptr;
  decltype(&::archive_entry_filetype) entry_filetype = nullptr;
  decltype(&::archive_entry_size) entry_size = nullptr;
};

using ArchiveHandle = std::unique_ptr<archive, int (*)(archive*)>;  // with read_free

}  // namespace gdr::host
