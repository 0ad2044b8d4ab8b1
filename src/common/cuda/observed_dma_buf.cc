#include "cuda/observed_dma_buf.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace gdr::cuda {
namespace {

FindObservedDmaBuf* observer() {
  void* found = dlsym(RTLD_DEFAULT, kFindObservedDmaBuf);
  if (found == nullptr)
    dlerror();  // the application must not find our failure in its own dlerror()
  return reinterpret_cast<FindObservedDmaBuf*>(found);
}

// A dma-buf tells its size by lseek, which moves nothing; on a memfd, as the software GPU's
// dma-bufs are, it would move the caller's file position. Only a memfd has seals.
std::uint64_t size_of(int descriptor, const struct stat& status) {
  if (fcntl(descriptor, F_GET_SEALS) >= 0) return static_cast<std::uint64_t>(status.st_size);
  const off_t size = lseek(descriptor, 0, SEEK_END);
  return size < 0 ? 0 : static_cast<std::uint64_t>(size);
}

}  // namespace

std::optional<ObservedDmaBuf> find_observed_dma_buf(int descriptor) {
  FindObservedDmaBuf* find = observer();
  struct stat status {};
  ObservedDmaBuf found;
  if (find == nullptr || fstat(descriptor, &status) != 0 ||
      find(status.st_dev, status.st_ino, &found) == 0 ||
      size_of(descriptor, status) != found.bytes) {
    return std::nullopt;
  }
  return found;
}

}  // namespace gdr::cuda
