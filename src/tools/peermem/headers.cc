#include "peermem/headers.h"

#include <fmt/format.h>
#include <unistd.h>

#include <filesystem>

#include "base/printable.h"
#include "host/plain_path.h"
#include "process/trust.h"

namespace gdr::peermem {
namespace {

namespace fs = std::filesystem;

bool is_below(const fs::path& path, const fs::path& folder) {
  const fs::path rest = path.lexically_relative(folder);
  return !rest.empty() && *rest.begin() != "..";
}

Error not_run(const std::string& headers, const process::Stranger& stranger) {
  const bool is_root = geteuid() == 0;
  return Error{EPERM, fmt::format("the kernel's headers in {} are not run{}: {}; {}",
                                  printable(headers), is_root ? " as root" : "", stranger.text(),
                                  is_root ? "build as another account, and install what it made: "
                                            "sudo gdr peermem install FILE"
                                          : "to run them all the same, name them with --headers")};
}

// make runs the Makefile and the programs of the headers, with all rights that this account has.
Result<void> check_trust(const host::Files& files, const std::string& headers,
                         const std::string& given) {
  std::error_code ignored;
  if (!files.is_live()) {
    const fs::path root = fs::canonical(files.root(), ignored);
    for (const std::string& path : {headers, headers + "/Makefile"}) {
      if (!is_below(fs::weakly_canonical(path, ignored), root)) continue;
      return Error{EINVAL,
                   fmt::format("{} is below --root, which is only read; name this machine's "
                               "own headers with --headers DIR",
                               printable(path))};
    }
  }
  if (!given.empty() && geteuid() != 0) return {};
  if (const auto stranger = process::who_else_can_change_in(headers)) {
    return not_run(headers, *stranger);
  }
  return {};
}

}  // namespace

Result<std::string> find_headers(const host::Files& files, const Survey& survey,
                                 const std::string& given) {
  std::string folder;
  if (given.empty() && !files.is_live()) {
    return Error{EINVAL,
                 fmt::format("--root is only read, and a build runs the Makefile of the headers; "
                             "name this machine's own headers of kernel {} with --headers DIR",
                             survey.kernel)};
  }
  if (!given.empty()) {
    folder = fs::absolute(given).lexically_normal();
    if (access((folder + "/Makefile").c_str(), F_OK) != 0) {
      return Error{ENOENT, fmt::format("--headers {} has no Makefile; give the folder of the "
                                       "kernel's headers, such as /usr/src/linux-headers-{}",
                                       given, survey.kernel)};
    }
  } else {
    const std::vector<Place> places =
        header_folders(files, {survey.kernel, {"", "run/nvidia/driver"}});
    if (places.empty()) {
      return Error{ENOENT,
                   fmt::format("the headers of kernel {0} are not installed; install them "
                               "(Debian, Ubuntu: linux-headers-{0}; RHEL: kernel-devel-{0}; "
                               "SLES: kernel-default-devel), or give --headers",
                               survey.kernel)};
    }
    if (const auto stranger = process::who_else_can_change("/" + places.front().path)) {
      return not_run("/" + places.front().path, *stranger);
    }
    for (const std::string& name : files.real_path(places.front().path)) folder += "/" + name;
  }
  if (Result<void> may_run = check_trust(files, folder, given); !may_run) return may_run.error();
  if (host::is_plain_path(folder)) return folder;
  return Error{EINVAL, fmt::format("make cannot work with the path '{}' of the kernel's headers; "
                                   "move them to a plain one, without spaces",
                                   printable(folder))};
}

}  // namespace gdr::peermem
