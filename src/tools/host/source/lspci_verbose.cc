#include "host/source/lspci_verbose.h"

#include <stdlib.h>

#include <algorithm>
#include <optional>

#include "base/printable.h"
#include "host/pci/vendors.h"
#include "host/source/draft.h"
#include "host/source/lspci_function.h"

namespace gdr::host {
namespace {

// "0000:41:00.0 " or "41:00.0 " at the start of a line; empty: the line goes on with a function.
std::string address_at_start(std::string_view line) {
  if (line.empty() || line[0] == ' ' || line[0] == '\t') return {};
  return full_address(line.substr(0, line.find(' ')));
}

// What stands behind `label`, up to white space or a comma.
std::string_view word_after(std::string_view line, std::string_view label) {
  const auto at = line.find(label);
  if (at == std::string_view::npos) return {};
  std::string_view rest = line.substr(at + label.size());
  while (rest.starts_with(' ') || rest.starts_with('\t')) rest.remove_prefix(1);
  return rest.substr(0, rest.find_first_of(" \t,("));
}

int number_after(std::string_view line, std::string_view label) {
  const std::string_view word = word_after(line, label);
  const bool digits = !word.empty() && word.size() < 7 &&
                      word.find_first_not_of("0123456789") == std::string_view::npos;
  return digits ? static_cast<int>(to_number(word, 10)) : -1;
}

// "32GT/s"
double speed_after(std::string_view line) {
  return strtod(std::string(word_after(line, "Speed")).c_str(), nullptr);
}

long width_after(std::string_view line) {
  std::string_view word = word_after(line, "Width");
  if (word.starts_with('x')) word.remove_prefix(1);
  return static_cast<long>(to_number(word, 10));
}

// "SrcValid+ TransBlk- ReqRedir+ ..."
std::uint16_t access_control_bits(std::string_view line) {
  constexpr std::pair<std::string_view, std::uint16_t> kNames[] = {
      {"SrcValid+", AccessControl::kSourceValidation},
      {"TransBlk+", AccessControl::kTranslationBlocking},
      {"ReqRedir+", AccessControl::kRequestRedirect},
      {"CmpltRedir+", AccessControl::kCompletionRedirect},
      {"UpstreamFwd+", AccessControl::kUpstreamForwarding},
      {"EgressCtrl+", AccessControl::kEgressControl},
      {"DirectTrans+", AccessControl::kDirectTranslated}};
  std::uint16_t bits = 0;
  for (const auto& [name, bit] : kNames) {
    if (line.find(name) != std::string_view::npos) bits |= bit;
  }
  return bits;
}

// "Express (v2) Downstream Port (Slot+), MSI 00"
PciKind kind_by_name(std::string_view line) {
  constexpr std::pair<std::string_view, PciKind> kNames[] = {
      {"Upstream Port", PciKind::kUpstream},       {"Downstream Port", PciKind::kDownstream},
      {"Root Port", PciKind::kRootPort},           {" to PCI/PCI-X Bridge", PciKind::kBridge},
      {"to PCI-Express Bridge", PciKind::kBridge}, {"Endpoint", PciKind::kEndpoint},
      {"Event Collector", PciKind::kEndpoint}};
  for (const auto& [name, kind] : kNames) {
    if (line.find(name) != std::string_view::npos) return kind;
  }
  return PciKind::kUnknown;
}

// "64GB"
std::uint64_t bytes_of(std::string_view text) {
  constexpr std::pair<std::string_view, unsigned> kUnits[] = {{"MB", 20}, {"GB", 30}, {"TB", 40}};
  for (const auto& [unit, shift] : kUnits) {
    if (!text.ends_with(unit)) continue;
    return std::uint64_t{to_number(text.substr(0, text.size() - unit.size()), 10)} << shift;
  }
  return 0;
}

class Reader {
 public:
  Result<LspciVerbose> read(std::string_view text) {
    while (!text.empty()) {
      const std::size_t end = std::min(text.find('\n'), text.size());
      std::string_view line = text.substr(0, end);
      text.remove_prefix(std::min(end + 1, text.size()));
      while (line.ends_with('\r') || line.ends_with(' ')) line.remove_suffix(1);
      if (const std::string address = address_at_start(line); !address.empty()) {
        finish_function();
        if (found_.functions.size() >= kMostFunctions) {
          return Error{EINVAL, "more PCI functions than a machine can have"};
        }
        start_function(address, line);
      } else if (function_ != nullptr) {
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
        take_line(line);
      }
    }
    finish_function();
    if (found_.functions.empty()) return Error{EINVAL, "the text of lspci has no PCI functions"};
    if (!has_details_) {
      return Error{EINVAL, "the text of lspci has no details; give the text of 'sudo lspci -vvv'"};
    }
    // lspci silently omits the extended space if it may not read it.
    if (!has_extended_) hide_all();
    return std::move(found_);
  }

 private:
  void start_function(const std::string& address, std::string_view line) {
    function_ = &found_.functions[address];
    *function_ = PciFunction();
    function_->address = address;
    speed_ = &found_.speeds[address];
    *speed_ = PortSpeed();
    express_ = has_control_ = denied_ = has_access_control_ = in_resizable_bars_ = false;
    line.remove_prefix(std::min(line.find(' ') + 1, line.size()));
    const std::size_t colon = line.find(": ");
    const std::string_view kind = line.substr(0, colon);
    function_->class_code = class_of(kind);
    if (colon != std::string_view::npos) take_description(line.substr(colon + 2), *function_);
    function_->is_virtual_function = line.find("Virtual Function") != std::string_view::npos;
    if (function_->class_code >> 16 == 0x06) found_.has_bridges = true;
  }

  void finish_function() {
    if (function_ == nullptr) return;
    const bool cut_off = has_access_control_ && !function_->acs;  // by lspci -v
    function_->configuration_read = !denied_ && !cut_off && (!express_ || has_control_);
    if (!function_->configuration_read) found_.configuration_hidden = true;
    function_ = nullptr;
  }

  void hide_all() {
    for (auto& [address, function] : found_.functions) {
      if (function.kind == PciKind::kUnknown) continue;  // conventional PCI has no such part
      function.configuration_read = false;
      found_.configuration_hidden = true;
    }
  }

  void take_line(std::string_view line) {
    if (line.starts_with("Capabilities:")) return take_capability(line);
    if (line.starts_with("Flags:") || line.starts_with("Control:")) has_details_ = true;
    if (line.starts_with("!!!")) denied_ = true;  // "Unknown header type 7f": the device has gone
    if (line.starts_with("Subsystem:")) take_subsystem(line);
    if (line.starts_with("NUMA node:")) function_->numa_node = number_after(line, "NUMA node:");
    if (line.starts_with("IOMMU group:")) {
      function_->iommu_group = number_after(line, "IOMMU group:");
    }
    if (line.starts_with("Kernel driver in use:")) {
      function_->driver = word_after(line, "Kernel driver in use:");
    }
    if (line.starts_with("Bus: primary=")) take_bus(line);
    take_express_line(line);
    take_extended_line(line);
    take_product_line(line);
  }

  // "Product Name: ConnectX-7 ...", "[PN] Part number: MCX75310AAS", "[V3] Vendor specific: ..."
  void take_product_line(std::string_view line) {
    ProductData& product = function_->product;
    const auto value = [&](std::string_view label) {
      line.remove_prefix(label.size());
      line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
      return printable(line.substr(0, kLongestProductName));
    };
    if (line.starts_with("[") && line.find(ProductData::kManagement) != std::string_view::npos) {
      product.is_management = true;
    } else if (constexpr std::string_view kName = "Product Name:"; line.starts_with(kName)) {
      product.name = value(kName);
    } else if (constexpr std::string_view kPart = "[PN] Part number:"; line.starts_with(kPart)) {
      product.part_number = value(kPart);
    }
  }

  void take_capability(std::string_view line) {
    in_resizable_bars_ = line.find("Physical Resizable BAR") != std::string_view::npos;
    if (line.find("<access denied>") != std::string_view::npos) denied_ = true;
    const std::size_t bracket = line.find('[');
    const std::string_view place =
        bracket == std::string_view::npos ? line.substr(0, 0) : line.substr(bracket + 1);
    offset_ = static_cast<std::uint16_t>(
        to_number(place.substr(0, std::min(place.find_first_of(" ]"), place.size())), 16));
    if (offset_ >= 0x100) has_extended_ = true;
    if (line.find("] Express") != std::string_view::npos) {
      express_ = true;
      express_offset_ = offset_;
      function_->kind = kind_by_name(line);
    }
    if (line.find("Access Control Services") != std::string_view::npos) has_access_control_ = true;
    if (line.find("Subsystem:") != std::string_view::npos) take_subsystem(line);
  }

  void take_subsystem(std::string_view line) {
    std::string_view text = line.substr(line.find("Subsystem:") + 10);
    const bool numbered = take_ids(text, function_->subsystem_vendor, function_->subsystem_device);
    while (text.starts_with(' ') || text.starts_with('\t')) text.remove_prefix(1);
    if (!numbered && text.starts_with("Red Hat, Inc.")) {
      function_->subsystem_vendor = vendor::kVirtio;
    }
  }

  // "Bus: primary=98, secondary=99, subordinate=9e": no bus below it has the number 0.
  void take_bus(std::string_view line) {
    const std::string bus(word_after(line, "secondary="));
    const std::string below = function_->address.substr(0, function_->address.find(':') + 1) + bus;
    if (bus.size() != 2 || bus == "00" || !is_host_bridge("pci" + below)) return;
    found_.bridges.emplace(below, function_->address);
  }

  void take_express_line(std::string_view line) {
    if (line.starts_with("DevCtl:")) {
      has_control_ = true;
      function_->device_control_offset = static_cast<std::uint16_t>(express_offset_ + 8);
    }
    if (line.find("RlxdOrd") != std::string_view::npos) {
      function_->relaxed_ordering = line.find("RlxdOrd+") != std::string_view::npos;
    }
    if (line.find("MaxReadReq") != std::string_view::npos) {
      const int payload = number_after(line, "MaxPayload"), read = number_after(line, "MaxReadReq");
      if (payload > 0) function_->max_payload = static_cast<unsigned>(payload);
      if (read > 0) function_->max_read_request = static_cast<unsigned>(read);
    }
    if (line.starts_with("LnkCap:")) {
      speed_->set_most_speed(speed_after(line));
      speed_->set_most_width(width_after(line));
    }
    if (line.starts_with("LnkSta:")) {
      speed_->set_speed(speed_after(line));
      speed_->set_width(width_after(line));
    }
  }

  void take_extended_line(std::string_view line) {
    if (line.starts_with("ACSCap:")) {
      function_->acs = AccessControl{offset_, access_control_bits(line), 0};
    }
    if (line.starts_with("ACSCtl:") && function_->acs) {
      function_->acs->control = access_control_bits(line);
    }
    if (line.starts_with("ATSCtl:")) {
      function_->ats = AddressTranslation{offset_, line.find("Enable+") != std::string_view::npos};
    }
    if (in_resizable_bars_ && line.starts_with("BAR ")) take_resizable_bar(line);
  }

  // "BAR 1: current size: 64GB, supported: 64MB 128MB 64GB"
  void take_resizable_bar(std::string_view line) {
    ResizableBar bar;
    if (line.size() < 5 || line[4] < '0' || line[4] > '5') return;
    bar.number = static_cast<unsigned>(line[4] - '0');
    bar.size = bytes_of(word_after(line, "current size:"));
    const std::size_t supported = line.find("supported:");
    if (supported != std::string_view::npos) {
      bar.most = bytes_of(line.substr(line.find_last_of(' ') + 1));
    }
    if (function_->resizable_bars.size() < 6) function_->resizable_bars.push_back(bar);
  }

  LspciVerbose found_;
  bool has_details_ = false, has_extended_ = false;
  // About the function that is being read:
  PciFunction* function_ = nullptr;
  PortSpeed* speed_ = nullptr;
  bool express_ = false, has_control_ = false, denied_ = false;
  bool has_access_control_ = false, in_resizable_bars_ = false;
  std::uint16_t offset_ = 0, express_offset_ = 0;
};

}  // namespace

Result<LspciVerbose> read_lspci_verbose(std::string_view text) { return Reader().read(text); }

}  // namespace gdr::host
