// How the software NIC's devices are shown as files (/dev/infiniband, /sys/class/infiniband): in a
// mount namespace of this process's own, by a preloaded library, or not at all. Where a library may
// be preloaded, another one shows them to programs that ask by netlink.
//
//   const ShownDevices shown = show_devices(ShowBy::kAuto, "/usr/local/lib/gdrkit", environment);
//   say("devices " + shown.words);
//
// A mount namespace is entered for good: what this process becomes lives in it.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/given_variables.h"

namespace gdr::cli {

enum class ShowBy { kAuto, kNamespace, kPreload, kNothing };

// EINVAL for a word that is none of auto, namespace, preload and none.
Result<ShowBy> parse_show_by(const std::string& word);

struct ShownDevices {
  std::vector<std::string> preload;  // files for LD_PRELOAD
  std::string root;                  // for GDR_PRESENCE_ROOT, with them
  std::string words;                 // "shown in /dev and /sys (mount namespace)"
  bool are_shown = false;
};

// `may_preload`: null, or why a library must not be preloaded into the program.
// EPERM and the like where it was asked for one way that cannot be had.
Result<ShownDevices> show_devices(ShowBy wish, const std::string& stand_ins,
                                  const char* reason_not_to_preload,
                                  const Environment& environment);

}  // namespace gdr::cli
