// What a program and a DRM driver of the kernel say to each other: numbers and layouts of the few
// requests that are answered here, as the kernel's drm.h and i915_drm.h have them. Declared here,
// since the C library brings no headers of DRM; a test compares them with libdrm's.
#pragma once

#include <sys/ioctl.h>

#include <cstddef>
#include <cstdint>

namespace gdr::render {

inline constexpr unsigned kDrmType = 'd';  // of all requests to a DRM driver

// Every request's number is that of its place in the kernel's table; a driver's own begin here.
inline constexpr unsigned kDriverBase = 0x40, kDriverEnd = 0xa0;

struct Version {
  int major, minor, patch;
  std::size_t name_length;
  char* name;
  std::size_t date_length;
  char* date;
  std::size_t description_length;
  char* description;
};

struct Capability {
  std::uint64_t which, value;
};

struct CloseBuffer {
  std::uint32_t handle, padding;
};

struct PrimeHandle {
  std::uint32_t handle, flags;
  std::int32_t descriptor;
};

struct CreateBuffer {
  std::uint64_t bytes;
  std::uint32_t handle, padding;
};

// Programs that know the first form of this request stop behind `offset`.
struct MapOffset {
  std::uint32_t handle, padding;
  std::uint64_t offset, flags, extensions;
};
inline constexpr std::size_t kFirstMapOffsetBytes = offsetof(MapOffset, flags);
inline constexpr std::uint64_t kMostMapKind = 3;  // through the aperture, WC, WB, UC

inline constexpr unsigned kVersion = 0x00, kCloseBuffer = 0x09, kCapability = 0x0c,
                          kHandleToDescriptor = 0x2d, kDescriptorToHandle = 0x2e,
                          kCreateBuffer = kDriverBase + 0x1b, kMapOffset = kDriverBase + 0x24,
                          kFirstSyncObject = 0xbf, kLastSyncObject = 0xcf;

inline constexpr std::uint64_t kCapabilityPrime = 0x5, kCapabilityMonotonic = 0x6,
                               kCapabilitySyncObject = 0x13, kCapabilityTimeline = 0x14;
inline constexpr std::uint64_t kPrimeImports = 1, kPrimeExports = 2;

static_assert(sizeof(Version) == 64 && sizeof(Capability) == 16 && sizeof(CloseBuffer) == 8 &&
              sizeof(PrimeHandle) == 12 && sizeof(CreateBuffer) == 16 && sizeof(MapOffset) == 32 &&
              kFirstMapOffsetBytes == 16);

}  // namespace gdr::render
