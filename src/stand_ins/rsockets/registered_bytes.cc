#include "rsockets/registered_bytes.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

namespace gdr::rsockets {

int RegisteredBytes::open(ibv_pd* pd, std::size_t size, int access) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  mapped_ = (size + page - 1) / page * page;
  void* memory = mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return ENOMEM;
  bytes_ = {static_cast<std::uint8_t*>(memory), size};
  region_ = ibv_reg_mr(pd, memory, mapped_, access);
  if (region_ == nullptr) return errno != 0 ? errno : ENOMEM;
  return 0;
}

RegisteredBytes::~RegisteredBytes() {
  if (region_ != nullptr) ibv_dereg_mr(region_);
  if (bytes_.data() != nullptr) munmap(bytes_.data(), mapped_);
}

}  // namespace gdr::rsockets
