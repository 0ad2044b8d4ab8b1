// Record: one change as the journal holds it: what is changed, how it is known again, what it held
// and what it will hold. Enough to undo it in another process.
//
//   Record record = {.kind = kAccessControl, .target = "0000:18:00.0", ...};
//   Result<std::unique_ptr<Change>> change = change_of(record);
#pragma once

#include <optional>
#include <string>

namespace gdr::fix {

// A target's value; nothing if it does not exist (a file, a module that is not loaded).
using Value = std::optional<std::string>;

inline constexpr const char* kAccessControl = "access-control";
inline constexpr const char* kMaxReadRequest = "max-read-request";
inline constexpr const char* kModule = "module";
inline constexpr const char* kModuleFile = "module-file";
inline constexpr const char* kTextFile = "text-file";
inline constexpr const char* kPersistenceMode = "persistence-mode";
inline constexpr const char* kService = "service";

struct Record {
  std::string kind;
  std::string target;    // "0000:18:00.0", "nvidia-peermem", "/etc/modules-load.d/gdrkit.conf"
  std::string identity;  // of a PCI function "10b5:8749"; else what tells two alike targets apart
  std::string path;      // of a PCI function where it sits: "sys/devices/pci0000:00/0000:00:01.0"
  unsigned offset = 0;   // of the capability in the configuration space
  Value old_value, new_value;
  std::string boot;  // the boot that it was made in: registers do not outlive it
  std::string time;  // "2026-11-22T11:18:40Z"

  bool operator==(const Record&) const = default;
};

}  // namespace gdr::fix
