#include "doctor/capture/form.h"
#include "doctor/capture/harmless.h"
#include "host/pci/product_data.h"

namespace gdr::doctor {

// A name is the maker's words for a card: it says what it is, and no word of it is as long as, or
// has as many digits as, what tells one card from another.
std::string harmless_product_data(const std::string& bytes) {
  static const Form words("[A-Za-z0-9 ,.;:()/+&_-]{3,200}");
  static const Form card(
      "ConnectX|BlueField|Mellanox|Ethernet|Infini[Bb]and|Adapter|adapter|NIC|DPU|RoCE");
  static const Form identifier(
      "[0-9A-Fa-f-]{8,}|[0-9]{5,}|[^ ]{21,}|[a-z][0-9a-z-]*\\.[0-9a-z.]*[a-z]");
  static const Form part("[A-Z0-9-]{4,24}");
  host::ProductData data = host::parse_product_data([&](std::size_t offset, std::size_t count) {
    return offset < bytes.size() ? bytes.substr(offset, count) : std::string();
  });
  if (!words.is(data.name) || !card.found_in(data.name) || identifier.found_in(data.name)) {
    data.name.clear();
  }
  if (!part.is(data.part_number)) data.part_number.clear();
  return host::product_data_bytes(data);
}

}  // namespace gdr::doctor
