#include "host/management.h"

#include <stdio.h>

#include <algorithm>

#include "host/classify.h"
#include "host/pci/link.h"
#include "host/pci/vendors.h"

namespace gdr::host {
namespace {

// A data NIC of this kind has 25 GB/s at least (x16 of the 4th generation); one for management
// has 4 (x2 of the 4th).
constexpr double kFast = 25, kSlow = 7;
constexpr std::uint16_t kConnectX7 = 0x1021;

double bandwidth_of(const Inventory& machine, const Nic& nic) {
  const PciLink* link = nic.pci ? card_link(machine.pci, *nic.pci) : nullptr;
  return link == nullptr ? 0 : bandwidth_of(*link);
}

// Older cards have slow links of their own; files without numbers say neither.
bool is_of_managing_kind(const PciFunction& function) {
  if (function.vendor == 0) return true;
  return function.vendor == vendor::kMellanox &&
         (function.device == 0 || (function.device >= kConnectX7 && function.device < 0x1100));
}

std::string text_of(double bandwidth) {
  char text[32];
  snprintf(text, sizeof text, "%.3g GB/s", bandwidth);
  return text;
}

// Whatever two functions of one card say is the card's.
void share_over_card(Inventory& machine) {
  for (Nic& nic : machine.nics) {
    if (!nic.management.empty() || !nic.pci) continue;
    for (const Nic& other : machine.nics) {
      if (other.management.empty() || !other.pci) continue;
      if (card_of(other.pci->address) == card_of(nic.pci->address)) {
        nic.management = other.management;
        break;
      }
    }
  }
}

void mark_by_link(Inventory& machine) {
  double fastest = 0;
  for (const Nic& nic : machine.nics) {
    if (nic.management.empty()) fastest = std::max(fastest, bandwidth_of(machine, nic));
  }
  if (fastest < kFast) return;
  for (Nic& nic : machine.nics) {
    const double mine = bandwidth_of(machine, nic);
    if (!nic.management.empty() || !nic.pci || mine <= 0 || mine > kSlow) continue;
    if (!is_of_managing_kind(*nic.pci)) continue;
    nic.management = "likely: its link carries " + text_of(mine) + " beside " + text_of(fastest) +
                     ", as on NICs that manage NVSwitches; otherwise it came up slow";
  }
}

}  // namespace

const char* management_remark(const Nic& nic) {
  if (nic.management.empty()) return "";
  return nic.management == kSaysManagement ? kManagementRemark : kLikelyManagementRemark;
}

bool may_manage(const PciFunction& function) {
  return function.vendor == vendor::kMellanox && is_of_managing_kind(function);
}

double bandwidth_of(const PciLink& link) {
  if (link.bandwidth > 0) return link.bandwidth;
  // NCCL's files have what a link can do only.
  const double speed = link.speed > 0 ? link.speed : link.most_speed;
  const unsigned width = link.width > 0 ? link.width : link.most_width;
  // 8 bits of 10 up to the 2nd generation, 128 of 130 from the 3rd on.
  return speed * width * (speed < 8 ? 0.8 : 128.0 / 130) / 8;
}

void mark_management(Inventory& machine) {
  for (Nic& nic : machine.nics) {
    if (nic.pci && nic.pci->product.is_management) nic.management = kSaysManagement;
  }
  if (has_reliable_grades(machine)) mark_by_link(machine);
  // Does not compare NICs of an impossibly large machine.
  if (machine.nics.size() <= 1024) share_over_card(machine);
  for (Nic& nic : machine.nics) {
    if (nic.management.empty() || !nic.pci) continue;
    nic.pci->remark = management_remark(nic);
    if (PciFunction* function = machine.pci.find(nic.pci->address)) {
      function->remark = nic.pci->remark;
    }
  }
}

}  // namespace gdr::host
