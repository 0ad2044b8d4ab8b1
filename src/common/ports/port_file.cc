#include "ports/port_file.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "base/own_file.h"
#include "ports/port_reader.h"

namespace gdr::ports {
namespace {

// Those that may come later included.
std::uint32_t processors_here() {
  const long count = sysconf(_SC_NPROCESSORS_CONF);
  return count < 1 ? 1 : static_cast<std::uint32_t>(std::min<long>(count, kMostProcessors));
}

// A new file, or one of this version: how many processors it has stripes for. 0: neither.
std::uint32_t make_ready(int file) {
  struct stat status {};
  if (fstat(file, &status) != 0) return 0;
  if (status.st_size != 0) return processors_of(file);
  PortFileHeader header{};
  std::memcpy(header.magic, kPortMagic, sizeof kPortMagic);
  header.counts = kPortCounts;
  header.processors = processors_here();
  if (port_file_bytes(header.processors) > most_bytes_of_file()) return 0;
  const bool made = ftruncate(file, static_cast<off_t>(port_file_bytes(header.processors))) == 0 &&
                    pwrite(file, &header, sizeof header, 0) == sizeof header;
  return made ? header.processors : 0;
}

std::unique_ptr<Port> map(const std::string& path) {
  for (const bool first : {true, false}) {
    const Result<UniqueFd> file = open_own_file(path, O_RDWR);
    if (!file) return nullptr;
    const std::uint32_t processors = make_ready(file->get());
    const std::size_t bytes = port_file_bytes(processors);
    // To store into a page for which the file system has no room would end the process.
    const bool has_room =
        processors != 0 && posix_fallocate(file->get(), 0, static_cast<off_t>(bytes)) == 0;
    flock(file->get(), LOCK_UN);
    if (processors == 0) {
      // A file of another version, which nobody reads any more.
      if (!first || unlink(path.c_str()) != 0) return nullptr;
      continue;
    }
    if (!has_room) return nullptr;
    void* base = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file->get(), 0);
    if (base == MAP_FAILED) return nullptr;
    return std::make_unique<Port>(static_cast<PortFile*>(base), processors);
  }
  return nullptr;
}

}  // namespace

void Port::add_shared(std::uint32_t count, std::uint64_t n) {
  const auto stripe = static_cast<std::uint32_t>(sched_getcpu()) % kSharedStripes;
  file_->shared[stripe].counts[count].fetch_add(n, std::memory_order_relaxed);
}

Port& PortFiles::port(const std::string& name, std::uint64_t guid) {
  const std::lock_guard guard(mutex_);
  std::unique_ptr<Port>& known = known_[{name, guid}];
  if (known == nullptr) {
    char file[kMostFileName];
    const bool has_file = !folder_.empty() && make_file_name(name.c_str(), guid, file);
    if (has_file) known = map(folder_ + "/" + file);
    if (known == nullptr) known = std::make_unique<Port>(nullptr);
  }
  return *known;
}

}  // namespace gdr::ports
