// The folders that programs find RDMA devices in. Everything else of /sys and /dev is the machine's
// own, but for the places of software NICs in the PCI tree (place.h).
#pragma once

#include <cstddef>

namespace gdr::presence {

inline constexpr const char* kFolders[] = {"/sys/class/infiniband", "/sys/class/infiniband_verbs",
                                           "/dev/infiniband"};

// The major number of the kernel's verbs devices, with minor numbers that it gives to none: who
// opens such a device never reaches a real NIC.
inline constexpr int kVerbsMajor = 231, kFirstVerbsMinor = 128;

// The connection manager's device, as the kernel has it: /dev/infiniband/NAME,
// /sys/class/misc/NAME. Its number among the devices here is beyond those of uverbs.
inline constexpr const char* kConnectionManager = "rdma_cm";
inline constexpr int kConnectionManagerNumber = 63;

// What a function in the PCI tree says of itself, in the file "label".
inline constexpr const char* kFunctionLabel = "gdrkit software NIC";

// Beside the tree's "sys" and "dev": see make_places().
inline constexpr char kPlacesFile[] = "/places";
inline constexpr std::size_t kMostPlacesBytes = 16384;

}  // namespace gdr::presence
