// The folders that programs find RDMA devices in. Everything else of /sys and /dev is the machine's
// own.
#pragma once

namespace gdr::presence {

inline constexpr const char* kFolders[] = {"/sys/class/infiniband", "/sys/class/infiniband_verbs",
                                           "/dev/infiniband"};

// The major number of the kernel's verbs devices, with minor numbers that it gives to none: who
// opens such a device never reaches a real NIC.
inline constexpr int kVerbsMajor = 231, kFirstVerbsMinor = 128;

}  // namespace gdr::presence
