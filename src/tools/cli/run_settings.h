// The options of `gdr run` that set variables of the software NIC. An option wins over a variable
// that the user set.
#pragma once

namespace gdr::cli {

enum class SettingKind { kFlag, kFile, kText };

struct RunSetting {
  const char* option;
  const char* variable;
  SettingKind kind;
  const char* value;  // a flag's value; for other kinds, the type name in `--help`
  const char* help;
};

constexpr RunSetting kRunSettings[] = {
    {"--counters", "GDR_SOFT_COUNTERS", SettingKind::kFile, "FILE",
     "Count packets in FILE, or add to its counts; see gdr counters"},
    {"--pcap", "GDR_SOFT_PCAP", SettingKind::kFile, "FILE",
     "Write every packet to FILE, for Wireshark"},
    {"--faults", "GDR_SOFT_FAULTS", SettingKind::kText, "SPEC",
     "Inject faults, such as loss=0.01,reorder=0.02,seed=7; also duplicate=, corrupt=, mark=, "
     "damage=, delay=100us"},
    {"--packets", "GDR_SOFT_PATH", SettingKind::kFlag, "packets",
     "Use packets also between processes of this host (default: only to other hosts)"},
    {"--presence", "GDR_PRESENCE", SettingKind::kText, "WAY",
     "How programs find the software NIC in /dev and /sys: namespace, preload, none, or auto: the "
     "first that can be had (default: auto)"},
};

}  // namespace gdr::cli
