// What is declared for the library that is loaded is what its headers say.
#include "host/archive_library.h"

#include <archive.h>
#include <archive_entry.h>
#include <gtest/gtest.h>

#include <type_traits>

namespace gdr::host {
namespace {

static_assert(kArchiveEof == ARCHIVE_EOF && kArchiveOk == ARCHIVE_OK &&
              kArchiveWarn == ARCHIVE_WARN && kArchiveFatal == ARCHIVE_FATAL);
static_assert(S_IFREG == AE_IFREG && S_IFDIR == AE_IFDIR && S_IFLNK == AE_IFLNK);
static_assert(std::is_same_v<ArchiveLibrary::Open, archive_open_callback>);
static_assert(std::is_same_v<ArchiveLibrary::Read, archive_read_callback>);
static_assert(std::is_same_v<ArchiveLibrary::Close, archive_close_callback>);
#define GDR_SAME(member) \
  static_assert(std::is_same_v<decltype(ArchiveLibrary::member), decltype(&::archive_##member)>);
GDR_SAME(read_new)
GDR_SAME(read_free)
GDR_SAME(read_open)
GDR_SAME(read_open_memory)
GDR_SAME(read_support_format_raw)
GDR_SAME(read_support_format_tar)
GDR_SAME(read_support_filter_gzip)
GDR_SAME(read_support_filter_bzip2)
GDR_SAME(read_support_filter_xz)
GDR_SAME(read_support_filter_zstd)
GDR_SAME(read_next_header)
GDR_SAME(read_data)
GDR_SAME(read_data_block)
GDR_SAME(filter_bytes)
GDR_SAME(filter_count)
GDR_SAME(error_string)
GDR_SAME(entry_pathname)
GDR_SAME(entry_pathname_utf8)
GDR_SAME(entry_hardlink)
GDR_SAME(entry_symlink)
GDR_SAME(entry_filetype)
GDR_SAME(entry_size)
#undef GDR_SAME

TEST(ArchiveLibrary, HasAllThatIsUsed) {
  // Its type has an attribute for the format.
  const decltype(ArchiveLibrary::set_error) set_error = &::archive_set_error;
  EXPECT_NE(set_error, nullptr);
  const Result<const ArchiveLibrary*> library = ArchiveLibrary::load();
  EXPECT_TRUE(library) << library.error().message;
}

}  // namespace
}  // namespace gdr::host
