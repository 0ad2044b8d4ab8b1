#include "host/pci/product_data.h"

#include <algorithm>
#include <string_view>

#include "base/printable.h"

namespace gdr::host {
namespace {

// PCI Local Bus Specification 3.0, 6.4 and appendix I.
constexpr unsigned char kIdentifier = 0x82, kReadOnly = 0x90, kEnd = 0x78;
constexpr std::size_t kTagSize = 3, kKeywordSize = 3;
constexpr std::size_t kLargest = 0x8000;  // its address register has 15 bits

unsigned byte_at(const std::string& bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes[at]);
}

// Without padding.
std::string text_of(std::string_view bytes) {
  bytes = bytes.substr(0, bytes.find('\0'));
  while (bytes.ends_with(' ')) bytes.remove_suffix(1);
  while (bytes.starts_with(' ')) bytes.remove_prefix(1);
  return printable(bytes.substr(0, kLongestProductName));
}

void take_fields(const std::string& fields, ProductData& data) {
  for (std::size_t at = 0; at + kKeywordSize <= fields.size();) {
    const std::string keyword = fields.substr(at, 2);
    const std::size_t size = byte_at(fields, at + 2);
    const std::string_view value = std::string_view(fields).substr(at + kKeywordSize, size);
    if (keyword == "PN") data.part_number = text_of(value);
    if (value.find(ProductData::kManagement) != std::string_view::npos) data.is_management = true;
    at += kKeywordSize + size;
  }
}

void add_tag(std::string& bytes, unsigned char tag, const std::string& content) {
  bytes += static_cast<char>(tag);
  bytes += static_cast<char>(content.size() & 0xff);
  bytes += static_cast<char>(content.size() >> 8);
  bytes += content;
}

void add_field(std::string& fields, const char* keyword, const std::string& value) {
  if (value.empty()) return;
  fields += keyword;
  fields += static_cast<char>(std::min<std::size_t>(value.size(), 255));
  fields += value.substr(0, 255);
}

}  // namespace

ProductData parse_product_data(const ReadProductData& read) {
  ProductData data;
  for (std::size_t at = 0; at < kLargest;) {
    const std::string tag = read(at, kTagSize);
    if (tag.size() < kTagSize) break;  // the end, which is one byte, or nothing that can be read
    const std::size_t size = byte_at(tag, 1) | byte_at(tag, 2) << 8;
    const unsigned kind = byte_at(tag, 0);
    if (kind == kIdentifier) {
      data.name = text_of(read(at + kTagSize, std::min(size, kLongestProductName)));
    } else if (kind == kReadOnly) {
      take_fields(read(at + kTagSize, std::min(size, kLargest)), data);
      break;  // what follows is for the system to write
    } else if ((kind & 0x80) == 0) {
      break;  // small tags: the end, or no product data at all
    }
    at += kTagSize + size;
  }
  return data;
}

ProductData read_product_data(const Files& files, const std::string& address) {
  const std::string path = "sys/bus/pci/devices/" + address + "/vpd";
  return parse_product_data(
      [&](std::size_t offset, std::size_t count) { return files.part(path, offset, count); });
}

std::string product_data_bytes(const ProductData& data) {
  if (data.empty()) return {};
  std::string bytes, fields;
  add_tag(bytes, kIdentifier, data.name);
  add_field(fields, "PN", data.part_number);
  if (data.is_management) add_field(fields, "V0", std::string(ProductData::kManagement));
  add_tag(bytes, kReadOnly, fields);
  // As long as a tag's head, so that reading heads needs no special case at the end.
  return bytes + static_cast<char>(kEnd) + std::string(kTagSize - 1, '\0');
}

}  // namespace gdr::host
