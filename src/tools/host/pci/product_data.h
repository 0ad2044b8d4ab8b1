// ProductData: what a card says of itself in its Vital Product Data (PCI Local Bus Specification
// 3.0, appendix I): the maker's words for it and the part number. Its serial number is passed over.
//
//   ProductData card = read_product_data(files, "0000:1a:00.0");  // as root; else empty
//   card.name         // "NVIDIA ConnectX-7 Ethernet adapter card, 200 GbE, dual-port QSFP112"
//   card.part_number  // "MCX755106AC-HEAT"
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "host/files.h"

namespace gdr::host {

struct ProductData {
  static constexpr std::string_view kManagement = "SW_MNG";

  std::string name, part_number;
  bool is_management = false;  // of NVSwitches, and not for data: a field says kManagement

  bool empty() const { return name.empty() && part_number.empty() && !is_management; }
};

inline constexpr std::size_t kLongestProductName = 256;

// At most `count` bytes from `offset` on; fewer where there are no more.
using ReadProductData = std::function<std::string(std::size_t offset, std::size_t count)>;

// Reads no further than its fields go: each four bytes are a transaction with the card's memory,
// which takes some of them a millisecond.
ProductData parse_product_data(const ReadProductData& read);

// Reads the product data of the function at this address. The kernel shows it only to root.
ProductData read_product_data(const Files& files, const std::string& address);

// The same as bytes that hold nothing else.
std::string product_data_bytes(const ProductData& data);

}  // namespace gdr::host
