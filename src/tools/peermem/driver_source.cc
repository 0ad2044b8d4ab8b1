#include "peermem/driver_source.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <filesystem>

#include "base/environment.h"
#include "host/files.h"

namespace gdr::peermem {
namespace {

// The header lies in one of these in the open driver's repository, in packages for DKMS and in
// NVIDIA's installer.
constexpr std::array kFolders = {"", "nvidia/", "kernel-open/nvidia/", "kernel/nvidia/",
                                 "nvidia-peermem/"};
constexpr unsigned kNewestTable = 2;  // nvidia_peermem.c

// "#define NVIDIA_P2P_PAGE_TABLE_VERSION   0x00010002"; 0: not told.
unsigned table_major(const host::Files& files, const std::string& header) {
  for (const std::string& line : files.lines_with(header, "NVIDIA_P2P_PAGE_TABLE_VERSION")) {
    const std::size_t at = line.find("0x");
    if (line.find("#define") == std::string::npos || at == std::string::npos) continue;
    unsigned version = 0;
    std::from_chars(line.data() + at + 2, line.data() + line.size(), version, 16);
    return version >> 16;
  }
  return 0;
}

std::string release_of(const host::Files& files, const std::string& folder) {
  const std::array<std::pair<std::string, std::string>, 3> places = {{
      {folder + "/version.mk", "NVIDIA_VERSION"},
      {folder + "/dkms.conf", "PACKAGE_VERSION"},
      {folder + "/Kbuild", "-DNV_VERSION_STRING"},
  }};
  for (const auto& [file, word] : places) {
    for (const std::string& line : files.lines_with(file, word)) {
      const std::size_t begin = line.find_first_of("0123456789", line.find(word) + word.size());
      if (begin == std::string::npos) continue;
      const std::size_t end = line.find_first_not_of("0123456789.", begin);
      std::string release = line.substr(begin, end - begin);
      if (release.find('.') != std::string::npos) return release;
    }
  }
  return {};
}

}  // namespace

Result<DriverSource> read_driver_source(const std::string& folder) {
  const std::string path = std::filesystem::absolute(folder).string().substr(1);
  const host::Files files("/");
  DriverSource source;
  for (const char* inner : kFolders) {
    const std::string header = path + "/" + inner + "nv-p2p.h";
    if (!files.exists(header)) continue;
    source.header = "/" + header;
    break;
  }
  if (source.header.empty()) {
    return Error{ENOENT, fmt::format("{} has no nv-p2p.h; give --driver-source the folder of the "
                                     "driver's kernel sources, such as /usr/src/nvidia-550.163.01",
                                     folder)};
  }
  const unsigned major = table_major(files, source.header.substr(1));
  if (major > kNewestTable) {
    return Error{ENOTSUP, fmt::format("{} tells of page tables of version {}; this gdrkit knows 1 "
                                      "and 2: use a newer one",
                                      source.header, major)};
  }
  source.release = release_of(files, path);
  for (const char* inner : {"/nvidia.ko", "/kernel-open/nvidia.ko", "/kernel/nvidia.ko"}) {
    if (files.exists(path + inner)) {
      source.module = "/" + path + inner;
      break;
    }
  }
  return source;
}

}  // namespace gdr::peermem
