// A tar archive, header by header, also such as no program would write.
//
//   TarMaker tar;
//   tar.file("sys/class/net/eth0/mtu", "9000\n");
//   tar.link("etc", "/etc");
//   std::string bytes = tar.bytes();
#pragma once

#include <archive.h>
#include <archive_entry.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

namespace gdr::test {

class TarMaker {
 public:
  void file(const std::string& path, const std::string& content) {
    add('0', path, "", content, content.size());
  }
  void folder(const std::string& path) { add('5', path, "", "", 0); }
  void link(const std::string& path, const std::string& target) { add('2', path, target, "", 0); }
  void hard_link(const std::string& path, const std::string& of) { add('1', path, of, "", 0); }
  // '3': a character device, '4': a block device, '6': a pipe; `size`: as the header claims it.
  void add(char type, const std::string& path, const std::string& target,
           const std::string& content, std::uint64_t size) {
    char header[512] = {};
    path.copy(header, 100);
    std::snprintf(header + 100, 8, "%07o", 0644U);
    std::snprintf(header + 108, 8, "%07o", 0U);
    std::snprintf(header + 116, 8, "%07o", 0U);
    std::snprintf(header + 124, 12, "%011llo", static_cast<unsigned long long>(size));
    std::snprintf(header + 136, 12, "%011o", 0U);
    std::memset(header + 148, ' ', 8);
    header[156] = type;
    target.copy(header + 157, 100);
    std::memcpy(header + 257, "ustar\00000", 8);
    unsigned sum = 0;
    for (const char c : header) sum += static_cast<unsigned char>(c);
    std::snprintf(header + 148, 7, "%06o", sum);
    bytes_.append(header, sizeof header);
    bytes_ += content;
    bytes_.resize((bytes_.size() + 511) / 512 * 512, '\0');
  }

  std::string bytes() const { return bytes_ + std::string(1024, '\0'); }

 private:
  std::string bytes_;
};

// `filter`: "gzip", "bzip2", "xz", "zstd".
inline std::string compressed(const std::string& bytes, const char* filter) {
  archive* out = archive_write_new();
  archive_write_set_format_raw(out);
  std::string packed;
  if (archive_write_add_filter_by_name(out, filter) == ARCHIVE_OK) {
    std::vector<char> room(bytes.size() + (1 << 20));
    std::size_t used = 0;
    archive_write_open_memory(out, room.data(), room.size(), &used);
    archive_entry* entry = archive_entry_new();
    archive_entry_set_filetype(entry, AE_IFREG);
    archive_write_header(out, entry);
    archive_write_data(out, bytes.data(), bytes.size());
    archive_entry_free(entry);
    archive_write_close(out);
    packed.assign(room.data(), used);
  }
  archive_write_free(out);
  return packed;
}

}  // namespace gdr::test
