// How the software NIC's devices are shown as files (/dev/infiniband, /sys/class/infiniband): in a
// mount namespace of this process's own, by a preloaded library, or not at all. Where it may be
// preloaded, the library shows them to programs that ask by netlink as well.
//
//   const ShownDevices shown =
//       *show_devices(ShowBy::kAuto, "/usr/local/lib/gdrkit", nullptr, Stays::kYes);
//   say("devices " + shown.words);
//
// A mount namespace is entered for good: what this process becomes lives in it.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace gdr::cli {

enum class ShowBy { kAuto, kNamespace, kPreload, kNothing };

// EINVAL for a word that is none of auto, namespace, preload and none.
Result<ShowBy> parse_show_by(const std::string& word);

struct ShownDevices {
  std::string preload;  // the library, for LD_PRELOAD; empty: none
  std::string root;     // for GDR_PRESENCE_ROOT, with it
  std::string words;    // "shown in /dev and /sys (mount namespace)"
  bool are_shown = false;
  // In front of the files of counters that the caller has to keep up to date (run_ports.h).
  // Nothing: there are none.
  std::optional<std::string> counters_below;
};

// Whether the caller stays beside the program.
enum class Stays { kNo, kYes };

// `may_preload`: null, or why a library must not be preloaded into the program.
// EPERM and the like where it was asked for one way that cannot be had.
Result<ShownDevices> show_devices(ShowBy wish, const std::string& stand_ins,
                                  const char* reason_not_to_preload, Stays stays);

}  // namespace gdr::cli
