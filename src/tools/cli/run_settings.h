// The options of `gdr run` that stand for variables of the software NIC. An option wins over the
// user's variable.
#pragma once

namespace gdr::cli {

enum class SettingKind { kFlag, kFile, kText };

struct RunSetting {
  const char* option;
  const char* variable;
  SettingKind kind;
  const char* value;  // of a flag: what it sets; of the others: what `--help` calls it
  const char* help;
};

constexpr RunSetting kRunSettings[] = {
    {"--counters", "GDR_SOFT_COUNTERS", SettingKind::kFile, "FILE",
     "Count what becomes of packets in FILE, or add to it; see gdr counters"},
    {"--pcap", "GDR_SOFT_PCAP", SettingKind::kFile, "FILE",
     "Write every packet that leaves or arrives to FILE, for Wireshark"},
    {"--faults", "GDR_SOFT_FAULTS", SettingKind::kText, "SPEC",
     "Spoil packets on purpose, as in loss=0.01,reorder=0.02,seed=7; also duplicate=, corrupt=, "
     "mark=, delay=100us"},
    {"--packets", "GDR_SOFT_PATH", SettingKind::kFlag, "packets",
     "Packets also between processes of one host (default: only to other hosts)"},
};

}  // namespace gdr::cli
