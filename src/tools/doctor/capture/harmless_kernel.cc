// The kernel's command line and its log.
#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "doctor/capture/form.h"
#include "doctor/capture/harmless.h"

namespace gdr::doctor {
namespace {

constexpr std::size_t kMostLogLines = 1000;  // host::Files gives no more of them

#define ADDRESS "[0-9a-fA-F]{4}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.[0-7]"
// What fix/boot_parameters.h reads: "disable_acs_redir=0000:17:01.0;0000:18:00.0".
#define PORT                                                                              \
  "([01x]{1,9}@)?(([0-9a-f]{4}:)?[0-9a-f]{2}:[0-9a-f]{2}\\.[0-7](/[0-9a-f]{2}\\.[0-7])*|" \
  "pci:[0-9a-f]{4}:[0-9a-f]{4})"

struct Parameter {
  const char* names;
  const char* values;  // of each part between commas; null: it has none
};

// A value stays only where each of its parts is one of these.
constexpr Parameter kParameters[] = {
    {"ro|rw|quiet|splash|nomodeset|noiommu|nokaslr|nopti|debug|nosmt|single|nopat", nullptr},
    {"iommu|intel_iommu|amd_iommu|iommu\\.passthrough|iommu\\.strict|arm-smmu(-v3)?\\.disable_"
     "bypass",
     "on|off|pt|nopt|force|noforce|soft|strict|fullflush|sm_on|sm_off|merge|nomerge|allowdac|"
     "forcedac|"
     "pgtbl_v1|pgtbl_v2|igfx_off|tboot_noforce|0|1"},
    {"pci",
     "noacs|noats|noaer|nommconf|nomsi|conf1|conf2|nocrs|use_crs|realloc(=(on|off))?|assign-busses|"
     "pcie_bus_(tune_off|safe|perf|peer2peer)|big_root_window|(disable_acs_redir|config_acs)="
     "\"?" PORT "(;" PORT ")*\"?"},
    {"pcie_aspm|pcie_ports|pcie_acs_override",
     "off|force|native|compat|dpc-native|downstream|multifunction"},
    {"default_hugepagesz|hugepagesz|hugepages", "[0-9]{1,7}[KMG]?"},
    {"lockdown", "none|integrity|confidentiality"},
    {"module\\.sig_enforce|numa|numa_balancing|mitigations|kvm\\.[a-z_]{1,24}|nouveau\\.modeset|"
     "nvidia[-_]drm\\.(modeset|fbdev)|rd\\.driver\\.pre",
     "on|off|auto|nosmt|enable|disable|[01YN]|vfio-pci"},
    {"nvidia\\.NVreg_(GrdmaPciTopoCheckOverride|DmaRemapPeerMmio|EnableStreamMemOPs|"
     "EnablePCIERelaxedOrderingMode|OpenRmEnableUnsupportedGpus)",
     "[0-9]"},
    {"modprobe\\.blacklist|rd\\.driver\\.blacklist|module_blacklist",
     "nouveau|nova_core|nova_drm|nvidia|nvidia[-_]peermem|nv_peer_mem|nvidia[-_]drm|nvidiafb|"
     "mlx[45]_(core|ib)|ib_core|rdma_rxe|vfio[-_]pci"},
};

// Like the kernel's parser (lib/cmdline.c, next_arg): spaces within double quotes do not separate.
std::vector<std::string> words_of(std::string_view line) {
  std::vector<std::string> words(1);
  bool quoted = false;
  for (const char c : line) {
    if (c == '"') quoted = !quoted;
    if (!quoted && (c == ' ' || c == '\t')) {
      words.emplace_back();
    } else {
      words.back() += c;
    }
  }
  std::erase(words, "");
  return words;
}

std::string harmless_word(const std::string& word) {
  const auto equals = word.find('=');
  std::string name = word.substr(0, equals);
  for (const Parameter& parameter : kParameters) {
    if (!Form(parameter.names).is(name)) continue;
    if (equals == std::string::npos) return name;
    if (parameter.values == nullptr) break;
    const Form value(parameter.values);
    for (const std::string_view part : split(std::string_view(word).substr(equals + 1), ',')) {
      if (!value.is(part)) return name + "=" + kLeftOut;
    }
    return word;
  }
  // Every command line says what is mounted from where; the value is private.
  return name == "root" || name == "BOOT_IMAGE" ? name + "=" + kLeftOut : kLeftOut;
}

// Searched for in a line; what is found is kept.
constexpr const char* kMessages[] = {
    "nvidia_peermem: (disagrees about version of|Unknown) symbol "
    "ib_(un)?register_peer_memory_client( \\(err -?[0-9]{1,3}\\))?",
    "nvidia_peermem: module verification failed: signature and/or required key missing - tainting "
    "kernel",
    "NVRM: dma-buf attach failed: (PCI )?topology not supported for (dma-buf|mapping type)",
    "NVRM: loading NVIDIA UNIX (Open )?([a-z0-9_]{1,8} )?Kernel Module( for [a-z0-9_]{1,8})?( "
    "+[0-9.]{3,16})?",
    "NVRM: Xid \\(PCI:[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}(\\.[0-7])?\\): [0-9]{1,3},",
    "NVRM: GPU (at )?(PCI:)?[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}(\\.[0-7])?:? (GPU )?has fallen off "
    "the bus",
    "NVRM: fallen off the bus and is not responding to commands",
    "NVRM: API mismatch: the client has the version [0-9.]{3,16}",
    "NVRM: GPU " ADDRESS " is already bound to (nouveau|nvidia|vfio-pci|nova_core)",
    "NVRM: The NVIDIA probe routine was not called for [0-9]{1,3} device",
    "NVRM: This PCI I/O region assigned to your NVIDIA device is invalid",
    "NVRM: BAR[01] is 0M @",
    "mlx5_core " ADDRESS
    ": ([0-9.]{1,8} Gb/s )?available PCIe bandwidth, limited by [0-9.]{1,6} "
    "GT/s PCIe x[0-9]{1,2} link at " ADDRESS,
    "mlx5_core " ADDRESS ": AMD-Vi: Event logged \\[IO_PAGE_FAULT",
    "DMAR: \\[DMA (Read|Write)( NO_PASID)?\\] Request device \\[[0-9a-f:.]{7,12}\\]",
    "DMAR: IOMMU enabled",
    "iommu: Default domain type: (Passthrough|Translated)( \\(set via kernel command line\\))?",
    "Memory Encryption Features active: (Intel TDX|AMD( SME| SEV| SEV-ES| SEV-SNP){1,4})",
    "pcieport " ADDRESS
    ": AER: (Multiple )?(Corrected|Uncorrected \\((Non-)?Fatal\\)) error "
    "(message )?received",
};

// Texts that checks look for anywhere in a line with these first words.
struct Phrase {
  const char *where, *what;
};
constexpr Phrase kPhrases[] = {
    {"nvidia_peermem", "disagrees about version of symbol"},
    {"nvidia_peermem", "Unknown symbol"},
    {"nvidia_peermem", "key was rejected"},
    {"nvidia_peermem", "module verification failed"},
    {"nvidia_peermem", "Required key not available"},
    {"", "PCI topology not supported for dma-buf"},
};

std::string harmless_message(const std::string& line) {
  static const auto messages = [] {
    std::vector<Form> forms;
    for (const char* message : kMessages) forms.emplace_back(message);
    return forms;
  }();
  for (const Form& message : messages) {
    if (auto found = message.found_in(line)) return *std::move(found);
  }
  for (const Phrase& phrase : kPhrases) {
    if (line.find(phrase.where) == std::string::npos) continue;
    if (line.find(phrase.what) == std::string::npos) continue;
    return *phrase.where != '\0' ? std::string(phrase.where) + ": " + phrase.what : phrase.what;
  }
  return {};
}

// "[    4.123456] ", since the start; a date would come with the host's name.
std::string time_of(const std::string& line) {
  static const Form form("(<[0-9]{1,3}>)?(\\[ *[0-9]{1,9}\\.[0-9]{1,6}\\] ).*");
  return form.group(line, 2).value_or("");
}

bool may_matter(std::string_view line) {
  constexpr std::array<std::string_view, 8> kWords = {
      "NVRM",  "nvidia",   "mlx5_core",        "DMAR",
      "iommu", "pcieport", "PCI topology not", "Memory Encryption"};
  return std::ranges::any_of(
      kWords, [&](std::string_view word) { return line.find(word) != std::string_view::npos; });
}

}  // namespace

std::string harmless_command_line(const std::string& line) {
  std::string text;
  for (const std::string& word : words_of(line.substr(0, line.find('\n')))) {
    if (word == "--") break;  // what follows is for the first program
    text += (text.empty() ? "" : " ") + harmless_word(word);
  }
  return text + "\n";
}

std::string harmless_log(const std::string& log) {
  std::vector<std::string> kept;
  for (const std::string_view part : split(log, '\n')) {
    if (!may_matter(part)) continue;
    const std::string line(part), message = harmless_message(line);
    if (!message.empty()) kept.push_back(time_of(line) + message + "\n");
  }
  if (kept.size() > kMostLogLines) kept.erase(kept.begin(), kept.end() - kMostLogLines);
  std::string text;
  for (const std::string& line : kept) text += line;
  return text;
}

}  // namespace gdr::doctor
