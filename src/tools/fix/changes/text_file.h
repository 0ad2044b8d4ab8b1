// A file of gdrkit's own in one of the folders from which the system is configured. It is replaced
// as a whole (written beside it, flushed, renamed), and only where there is none or one that gdr
// fix has written: such a file begins with kMark, and every line of it is one of a few that gdr fix
// writes there. That holds for what is put back, too, whatever a journal says.
//
//   Result<Record> record = written_file(machine, kModulesFile, file_text({"nvidia-peermem"}));
#pragma once

#include <string>
#include <vector>

#include "fix/machine.h"
#include "fix/record.h"

namespace gdr::fix {

inline constexpr const char* kMark =
    "# Written by gdr fix; gdr fix --undo puts back what was here.";

inline constexpr const char* kModulesFile = "etc/modules-load.d/gdrkit.conf";
// Files of gdr peermem install.
inline constexpr const char* kPeermemModulesFile = "etc/modules-load.d/gdrkit-peermem.conf";
inline constexpr const char* kPeermemDepmodFile = "etc/depmod.d/gdrkit-peermem.conf";
inline constexpr const char* kPeermemModprobeFile = "etc/modprobe.d/gdrkit-peermem.conf";
inline constexpr const char* kPeermemUnitFile = "etc/systemd/system/gdrkit-peermem.service";
// depmod prefers the module in updates/gdrkit to the driver's own.
inline constexpr const char* kPeermemOverride = "override nvidia-peermem * updates/gdrkit";
// Whoever loads the driver loads the module, too.
inline constexpr const char* kPeermemSoftdep = "softdep nvidia post: nvidia-peermem";
// Loads it once the RDMA stack of MLNX_OFED or DOCA-OFED is up.
const std::vector<std::string>& peermem_unit();

inline constexpr const char* kLimitsFile = "etc/security/limits.d/95-gdrkit.conf";
inline constexpr const char* kUdevFile = "etc/udev/rules.d/95-gdrkit.rules";
inline constexpr const char* kGrubFile = "etc/default/grub.d/60-gdrkit.cfg";

// Services whose children register memory: containers, jobs, logins.
const std::vector<std::string>& memory_services();
// "etc/systemd/system/docker.service.d/95-gdrkit.conf"
std::string drop_in_file(const std::string& service);

// Sets the read request size of NICs of these numbers, "15b3:1021", when their driver takes them:
// numbers and no address, which may be given anew. `setpci`: "/usr/bin/setpci".
std::string read_request_rule(const std::string& numbers, const std::string& setpci);

// kMark and the lines behind it.
std::string file_text(const std::vector<std::string>& lines);

// Its present content; nothing where there is no file. EEXIST: there is one that is not ours.
Result<Value> read_own_file(const Machine& machine, const std::string& path);

// The change from what is there to `text`.
Result<Record> written_file(const Machine& machine, const std::string& path,
                            const std::string& text);

// Whether gdr fix may write this there.
bool is_own_text(const std::string& path, const std::string& text);

}  // namespace gdr::fix
