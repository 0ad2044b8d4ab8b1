// ArchiveLibrary: libarchive, loaded when something packed is to be read. Nothing links it: few
// commands are given one, and it brings a dozen libraries along.
//
//   Result<const ArchiveLibrary*> library = ArchiveLibrary::load();
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "base/result.h"

// As its headers declare them, which need not be there: archive_library_test.cc compares.
struct archive;
struct archive_entry;

namespace gdr::host {

constexpr int kArchiveEof = 1, kArchiveOk = 0, kArchiveWarn = -20, kArchiveFatal = -30;

// The members are the library's functions without "archive_".
struct ArchiveLibrary {
  // ENOENT: this host has none.
  static Result<const ArchiveLibrary*> load();

  using Open = int(archive*, void* client);
  using Read = ssize_t(archive*, void* client, const void** bytes);
  using Close = int(archive*, void* client);

  archive* (*read_new)() = nullptr;
  int (*read_free)(archive*) = nullptr;
  int (*read_open)(archive*, void* client, Open*, Read*, Close*) = nullptr;
  int (*read_open_memory)(archive*, const void* bytes, std::size_t size) = nullptr;
  int (*read_support_format_raw)(archive*) = nullptr;
  int (*read_support_format_tar)(archive*) = nullptr;
  int (*read_support_filter_gzip)(archive*) = nullptr;
  int (*read_support_filter_bzip2)(archive*) = nullptr;
  int (*read_support_filter_xz)(archive*) = nullptr;
  int (*read_support_filter_zstd)(archive*) = nullptr;
  int (*read_next_header)(archive*, archive_entry**) = nullptr;
  ssize_t (*read_data)(archive*, void* bytes, std::size_t size) = nullptr;
  int (*read_data_block)(archive*, const void** bytes, std::size_t* size,
                         std::int64_t* offset) = nullptr;
  std::int64_t (*filter_bytes)(archive*, int filter) = nullptr;
  int (*filter_count)(archive*) = nullptr;
  const char* (*error_string)(archive*) = nullptr;
  void (*set_error)(archive*, int code, const char* format, ...) = nullptr;
  const char* (*entry_pathname)(archive_entry*) = nullptr;
  const char* (*entry_pathname_utf8)(archive_entry*) = nullptr;
  const char* (*entry_hardlink)(archive_entry*) = nullptr;
  const char* (*entry_symlink)(archive_entry*) = nullptr;
  mode_t (*entry_filetype)(archive_entry*) = nullptr;
  std::int64_t (*entry_size)(archive_entry*) = nullptr;
};

using ArchiveHandle = std::unique_ptr<archive, int (*)(archive*)>;  // with read_free

}  // namespace gdr::host
