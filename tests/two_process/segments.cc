#include "segments.h"

#include <sys/mman.h>
#include <unistd.h>

#include <string>

#include "process.h"

namespace gdr::test {

std::vector<int> segment_descriptors() {
  std::vector<int> found;
  for (int descriptor = 0; descriptor < 1024; ++descriptor) {
    char target[64] = {};
    const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
    if (readlink(link.c_str(), target, sizeof target - 1) < 0) continue;
    if (std::string(target).find("memfd:gdrkit-rnic") != std::string::npos) {
      found.push_back(descriptor);
    }
  }
  return found;
}

std::vector<std::uint8_t*> segments() {
  std::vector<std::uint8_t*> found;
  for (const int descriptor : segment_descriptors()) {
    void* base = mmap(nullptr, rnic::kSegmentBytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_NORESERVE, descriptor, 0);
    if (base != MAP_FAILED) found.push_back(static_cast<std::uint8_t*>(base));
  }
  return found;
}

std::uint8_t* segment_of(std::uint32_t qp_number) {
  for (std::uint8_t* segment : segments()) {
    if (rnic::slot_of(header_of(segment).token) == rnic::slot_of_qp(qp_number)) return segment;
  }
  throw Failure("no segment of the process with this queue pair");
}

}  // namespace gdr::test
