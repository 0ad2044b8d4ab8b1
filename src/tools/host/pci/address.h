// How PCI functions are named: what is an address, and what two of them have in common.
//
//   std::string address = full_address("3B:00.0");  // "0000:3b:00.0"; empty: no address
//   card_of("0000:3b:00.1") == card_of("0000:3b:00.0")
#pragma once

#include <string>
#include <string_view>

namespace gdr::host {

// "0000:41:00.0"; domains of some controllers (VMD) have more than four digits.
bool is_pci_address(std::string_view name);
// "pci0000:00"
bool is_host_bridge(std::string_view name);

// "0000:41:00.0" of "41:00.0" and "00000000:41:00.0", in lower case; empty: no address.
std::string full_address(std::string_view text);

// "0000:41:00" of "0000:41:00.1": the functions of one card have it in common.
std::string card_of(const std::string& address);

}  // namespace gdr::host
