#include "render/requests.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "render/drm_interface.h"

namespace gdr::render {
namespace {

// As the kernel's drm_copy_field(): as much as there is room for, without a 0, and the length.
void copy_text(const char* text, char* room, std::size_t& length) {
  const std::size_t had = length;
  length = std::strlen(text);
  const std::size_t copied = std::min(had, length);
  if (copied != 0 && room != nullptr) std::memcpy(room, text, copied);
}

int tell_version(Version& version) {
  version.major = 1;
  version.minor = 6;
  version.patch = 0;
  copy_text(kDriverName, version.name, version.name_length);
  copy_text(kDriverDate, version.date, version.date_length);
  copy_text(kDriverDescription, version.description, version.description_length);
  return 0;
}

int tell_capability(Capability& capability) {
  capability.value = 0;
  switch (capability.which) {
    case kCapabilityPrime:
      capability.value = kPrimeImports | kPrimeExports;
      return 0;
    case kCapabilityMonotonic:
      capability.value = 1;
      return 0;
    case kCapabilitySyncObject:
    case kCapabilityTimeline:
      return 0;
    default:
      return -EOPNOTSUPP;  // the others are for devices that show pictures
  }
}

int export_handle(Nodes& nodes, int node, PrimeHandle& prime) {
  if ((prime.flags & ~static_cast<std::uint32_t>(O_CLOEXEC | O_RDWR)) != 0) return -EINVAL;
  const int made = nodes.export_buffer(node, prime.handle, static_cast<int>(prime.flags));
  if (made < 0) return made;
  prime.descriptor = made;
  return 0;
}

int map_offset(Nodes& nodes, int node, MapOffset& map) {
  if (map.extensions != 0 || map.flags > kMostMapKind) return -EINVAL;
  return nodes.offset_of(node, map.handle, map.offset);
}

// The kernel answers so to a request that is none of those here.
int refusal_of(unsigned number) {
  // The DRM core keeps these from render nodes: what is about pictures or authentication, and
  // buffers with global names.
  if (number < kDriverBase || (number >= kDriverEnd && number < kFirstSyncObject)) return -EACCES;
  return number >= kFirstSyncObject && number <= kLastSyncObject ? -EOPNOTSUPP : -EINVAL;
}

struct Argument {
  alignas(8) unsigned char bytes[64] = {};
  template <typename Layout>
  Layout& as() {
    static_assert(sizeof(Layout) <= sizeof bytes);
    return *reinterpret_cast<Layout*>(bytes);
  }
};

// Bytes of the request's argument. 0: there is no such request.
std::size_t length_of(unsigned number) {
  switch (number) {
    case kVersion:
      return sizeof(Version);
    case kCloseBuffer:
      return sizeof(CloseBuffer);
    case kCapability:
      return sizeof(Capability);
    case kHandleToDescriptor:
    case kDescriptorToHandle:
      return sizeof(PrimeHandle);
    case kCreateBuffer:
      return sizeof(CreateBuffer);
    case kMapOffset:
      return sizeof(MapOffset);
    default:
      return 0;
  }
}

int carry_out(Nodes& nodes, int node, unsigned number, Argument& argument) {
  switch (number) {
    case kVersion:
      return tell_version(argument.as<Version>());
    case kCapability:
      return tell_capability(argument.as<Capability>());
    case kCloseBuffer:
      return nodes.close_buffer(node, argument.as<CloseBuffer>().handle);
    case kHandleToDescriptor:
      return export_handle(nodes, node, argument.as<PrimeHandle>());
    case kDescriptorToHandle: {
      auto& prime = argument.as<PrimeHandle>();
      return nodes.import_buffer(node, prime.descriptor, prime.handle);
    }
    case kCreateBuffer: {
      auto& create = argument.as<CreateBuffer>();
      return nodes.create_buffer(node, create.bytes, create.handle);
    }
    case kMapOffset:
      return map_offset(nodes, node, argument.as<MapOffset>());
    default:
      return -EINVAL;
  }
}

}  // namespace

std::optional<int> answer_request(Nodes& nodes, int descriptor, unsigned long request,
                                  void* argument) {
  if (_IOC_TYPE(request) != kDrmType || !nodes.minor_of(descriptor)) return std::nullopt;
  const unsigned number = _IOC_NR(request);
  const std::size_t length = length_of(number);
  if (length == 0) return refusal_of(number);
  if (argument == nullptr) return -EFAULT;
  // As the kernel: a program's layout may be shorter than ours, or longer.
  const std::size_t shared = std::min<std::size_t>(length, _IOC_SIZE(request));
  Argument own;
  std::memcpy(own.bytes, argument, shared);
  const int outcome = carry_out(nodes, descriptor, number, own);
  std::memcpy(argument, own.bytes, shared);
  return outcome;
}

}  // namespace gdr::render
