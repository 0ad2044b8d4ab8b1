// NICs that manage the NVSwitches of the machine they are in (HGX B200 and later) look like any
// other NIC of their kind. Their product data says SW_MNG; where that cannot be read, their link
// tells: a fraction of what others have.
//
//   mark_management(inventory);
//   if (!inventory.nics[0].management.empty()) puts("not for data");
#pragma once

#include "host/inventory.h"

namespace gdr::host {

inline constexpr const char* kManagementRemark = "management, not for data";
inline constexpr const char* kLikelyManagementRemark = "likely management, not for data";
inline constexpr const char* kSaysManagement = "its product data says SW_MNG";

// Whether it is of a kind that can be for management. Only of these the product data is read with
// the inventory, since it is in a slow memory of the card.
bool may_manage(const PciFunction& function);

// Says what a NIC is for: its product data makes that certain, its link only likely. Empty for a
// NIC that is for data.
const char* management_remark(const Nic& nic);

// Sets Nic::management where the product data or the link says so, and the remark of each that has
// it.
void mark_management(Inventory& machine);

// GB/s a direction; 0: not known.
double bandwidth_of(const PciLink& link);

}  // namespace gdr::host
