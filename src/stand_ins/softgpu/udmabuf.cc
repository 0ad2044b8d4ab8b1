#include "softgpu/udmabuf.h"

#include <fcntl.h>
#include <linux/udmabuf.h>
#include <sys/ioctl.h>

#include <cerrno>
#include <cstring>
#include <string>

namespace gdr::softgpu {
namespace {

constexpr char kUdmabuf[] = "/dev/udmabuf";

Error failed(const char* what) {
  const int code = errno;
  return Error{code, std::string(what) + ": " + std::strerror(code)};
}

}  // namespace

Result<UniqueFd> make_udmabuf(const std::vector<UdmabufPart>& parts) {
  const UniqueFd device(open(kUdmabuf, O_RDWR | O_CLOEXEC));
  if (!device) return failed(kUdmabuf);
  // A head with the items right behind it.
  std::vector<std::uint64_t> words(
      (sizeof(udmabuf_create_list) + parts.size() * sizeof(udmabuf_create_item)) / 8 + 1);
  auto* list = reinterpret_cast<udmabuf_create_list*>(words.data());
  list->flags = UDMABUF_FLAGS_CLOEXEC;
  list->count = static_cast<std::uint32_t>(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    list->list[i].memfd = static_cast<std::uint32_t>(parts[i].backing->fd());
    list->list[i].offset = parts[i].offset;
    list->list[i].size = parts[i].bytes;
  }
  UniqueFd made(ioctl(device.get(), UDMABUF_CREATE_LIST, list));
  if (!made) return failed("UDMABUF_CREATE_LIST");
  return made;
}

}  // namespace gdr::softgpu
