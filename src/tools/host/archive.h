// A captured machine's tar archive, plain or compressed by gzip, bzip2, xz or zstd, read into
// memory: nothing is unpacked, nothing in it reaches a file of this machine.
//
// An archive from a stranger may do no harm. Devices, pipes and sockets are names without content;
// a path that leads upwards, an archive that holds more than a machine's capture can, and one that
// unpacks for longer than that takes are refused.
//
//   Result<std::shared_ptr<const ArchiveTree>> machine = read_archive("host.tar.gz");
//   if (!machine) puts(machine.error().message.c_str());
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "host/archive_tree.h"

namespace gdr::host {

struct ArchiveLimits {
  std::size_t entries = 300'000;
  std::size_t kept = std::size_t{256} << 20;       // bytes of all files
  std::size_t file = std::size_t{64} << 20;        // a larger one is a name alone
  std::size_t unpacked = std::size_t{1024} << 20;  // bytes behind the compression
  double seconds = 30;
};

// EINVAL: no such archive, or one that is refused. The error's line begins with the path.
Result<std::shared_ptr<const ArchiveTree>> read_archive(const std::string& path);

Result<std::shared_ptr<const ArchiveTree>> parse_archive(std::string_view bytes,
                                                         const ArchiveLimits& limits = {});

}  // namespace gdr::host
