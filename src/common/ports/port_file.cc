#include "ports/port_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>

#include "base/own_file.h"
#include "ports/port_reader.h"

namespace gdr::ports {
namespace {

// A new file, or one of this version.
bool make_ready(int file) {
  struct stat status {};
  if (fstat(file, &status) != 0) return false;
  PortFileHeader header{};
  if (status.st_size != 0) {
    return status.st_size == sizeof(PortFile) &&
           pread(file, &header, sizeof header, 0) == sizeof header &&
           std::memcmp(header.magic, kPortMagic, sizeof kPortMagic) == 0 &&
           header.counts == kPortCounts && header.stripes == kStripes;
  }
  std::memcpy(header.magic, kPortMagic, sizeof kPortMagic);
  header.counts = kPortCounts;
  header.stripes = kStripes;
  return ftruncate(file, sizeof(PortFile)) == 0 &&
         pwrite(file, &header, sizeof header, 0) == sizeof header;
}

PortFile* map(const std::string& path) {
  for (const bool first : {true, false}) {
    const Result<UniqueFd> file = open_own_file(path, O_RDWR);
    if (!file) return nullptr;
    const bool ready = make_ready(file->get());
    // To store into a page for which the file system has no room would end the process.
    const bool has_room = ready && posix_fallocate(file->get(), 0, sizeof(PortFile)) == 0;
    flock(file->get(), LOCK_UN);
    if (!ready) {
      // A file of another version, which nobody reads any more.
      if (!first || unlink(path.c_str()) != 0) return nullptr;
      continue;
    }
    if (!has_room) return nullptr;
    void* base =
        mmap(nullptr, sizeof(PortFile), PROT_READ | PROT_WRITE, MAP_SHARED, file->get(), 0);
    return base == MAP_FAILED ? nullptr : static_cast<PortFile*>(base);
  }
  return nullptr;
}

}  // namespace

Port& PortFiles::port(const std::string& name, std::uint64_t guid) {
  const std::lock_guard guard(mutex_);
  std::unique_ptr<Port>& known = known_[{name, guid}];
  if (known == nullptr) {
    char file[kMostFileName];
    const bool has_file = !folder_.empty() && make_file_name(name.c_str(), guid, file);
    known = std::make_unique<Port>(has_file ? map(folder_ + "/" + file) : nullptr);
  }
  return *known;
}

}  // namespace gdr::ports
