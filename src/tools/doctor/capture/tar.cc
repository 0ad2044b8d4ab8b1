#include "doctor/capture/tar.h"

#include <stdio.h>
#include <string.h>

#include <algorithm>

namespace gdr::doctor {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kLongestName = 100;

// The header of POSIX, ustar Interchange Format.
struct Header {
  char name[kLongestName] = {};
  char mode[8] = {};
  char uid[8] = {};
  char gid[8] = {};
  char size[12] = {};
  char mtime[12] = {};
  char checksum[8] = {};
  char type = '0';
  char link[kLongestName] = {};
  char magic[6] = {'u', 's', 't', 'a', 'r', '\0'};
  char version[2] = {'0', '0'};
  char user[32] = "root";
  char group[32] = "root";
  char major[8] = {};
  char minor[8] = {};
  char prefix[155] = {};
  char padding[12] = {};
};
static_assert(sizeof(Header) == kBlock);

void put_octal(char* field, std::size_t size, std::size_t value) {
  snprintf(field, size, "%0*zo", static_cast<int>(size) - 1, value);
}

// Not ended by a zero where it fills the field.
void put_text(char* field, const std::string& text) { text.copy(field, kLongestName); }

void add_block(std::string& archive, char type, const std::string& path, const std::string& link,
               const std::string& content) {
  Header header;
  header.type = type;
  put_text(header.name, path);
  put_text(header.link, link);
  put_octal(header.mode, sizeof(header.mode), type == '5' ? 0755 : 0644);
  put_octal(header.uid, sizeof(header.uid), 0);
  put_octal(header.gid, sizeof(header.gid), 0);
  put_octal(header.size, sizeof(header.size), content.size());
  put_octal(header.mtime, sizeof(header.mtime), 0);
  memset(header.checksum, ' ', sizeof(header.checksum));
  const auto* bytes = reinterpret_cast<const unsigned char*>(&header);
  std::size_t sum = 0;
  for (std::size_t i = 0; i < sizeof(header); ++i) sum += bytes[i];
  put_octal(header.checksum, sizeof(header.checksum) - 1, sum);
  archive.append(reinterpret_cast<const char*>(&header), sizeof(header));
  archive += content;
  archive.resize((archive.size() + kBlock - 1) / kBlock * kBlock, '\0');
}

// "30 path=sys/...\n", whose number counts itself.
std::string record(const std::string& name, const std::string& value) {
  const std::size_t rest = name.size() + value.size() + 3;
  std::size_t length = rest + std::to_string(rest).size();
  length = rest + std::to_string(length).size();
  return std::to_string(length) + " " + name + "=" + value + "\n";
}

}  // namespace

void add_to_tar(std::string& archive, const std::string& path, const Captured& captured) {
  const bool link = captured.kind == Captured::Kind::kLink;
  const bool folder = captured.kind == Captured::Kind::kFolder;
  const std::string name = folder ? path + "/" : path;
  const std::string target = link ? captured.content : std::string();
  std::string records;
  if (name.size() > kLongestName) records += record("path", name);
  if (target.size() > kLongestName) records += record("linkpath", target);
  if (!records.empty()) add_block(archive, 'x', "pax", "", records);
  const char type = link ? '2' : folder ? '5' : '0';
  add_block(archive, type, name, target, type == '0' ? captured.content : std::string());
}

void end_tar(std::string& archive) { archive.append(2 * kBlock, '\0'); }

}  // namespace gdr::doctor
