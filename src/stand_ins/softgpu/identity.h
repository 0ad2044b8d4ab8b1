// The identity of a software GPU, which nobody could mistake for hardware.
#pragma once

namespace gdr::softgpu {

inline constexpr char kDeviceName[] = "gdrkit software GPU";
inline constexpr int kDriverVersion = 13000;  // the interface it answers to: CUDA 13.0
inline constexpr int kContextVersion = 3020;  // cuCtxGetApiVersion
// The oldest generation, so that no program expects a newer one's kernels.
inline constexpr int kComputeMajor = 5;
inline constexpr int kComputeMinor = 0;
// Stream priorities, kept but without effect.
inline constexpr int kLeastPriority = 0;
inline constexpr int kGreatestPriority = -5;
// A PCI domain that no machine has; the device stands in no PCI tree.
inline constexpr int kSoftPciDomain = 0xfffe;

}  // namespace gdr::softgpu
