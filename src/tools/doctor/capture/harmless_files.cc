// Which places, names and contents a capture may hold.
#include <fnmatch.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/environment.h"
#include "doctor/capture/form.h"
#include "doctor/capture/harmless.h"

namespace gdr::doctor {
namespace {

constexpr std::size_t kLongestPath = 1024;

#define ADDRESS "[0-9a-fA-F]{4,8}:[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\\.[0-7]"
#define INTERFACE "[A-Za-z0-9_.@-]{1,15}"
#define NUMBER "-?[0-9]{1,20}"
#define SYMBOL "ib_register_peer_memory_client|ib_umem_dmabuf_get"
#define MODULE                                                                                  \
  "(nvidia(-(current|open|tesla|server|[0-9]{3})){0,3}(-(peermem|modeset|uvm|drm))?|efa(_nv_"   \
  "peermem)?|nv_peer_mem|ib_(core|uverbs|cm|umad)|mlx[45]_(core|ib)|"                           \
  "mlx_compat|mlxfw|mlxdevm|psample|tls|pci-hyperv-intf|drm|drm_kms_helper|video|ecc|rdma_(cm|" \
  "ucm)|libcrc32c|macsec|memtrack|auxiliary)"
#define MODULE_FILE                                                                              \
  "((kernel|updates|dkms|extra|weak-updates|drivers|infiniband|core|video|gpu|drm|net|ethernet|" \
  "mellanox|mlx5|hw|efa|amazon|nvidia|nvidia-open|nvidia-current|mlnx-ofa_kernel|compat)/"       \
  ")*" MODULE "\\.ko(\\.(xz|zst|gz))?"

// Where drivers of NVIDIA have a root of their own, in words that say nothing of whose it is.
#define DRIVER_ROOT                                                                               \
  "/(run|opt|usr|var|home/kubernetes)(/(bin|lib|local|nvidia|driver|drivers|rootfs|current|[0-9]" \
  "[0-9.]{0,15})){1,6}"

// A distribution's own name, its release and its code name.
#define SYSTEM                                                                                     \
  "PRETTY_NAME=\"?(Ubuntu|Debian GNU/Linux|Red Hat Enterprise Linux( Server| CoreOS)?|CentOS( "    \
  "Linux| Stream)?|Rocky Linux|AlmaLinux|Oracle Linux( Server)?|SUSE Linux Enterprise Server|"     \
  "openSUSE (Leap|Tumbleweed)|Amazon Linux|Fedora Linux|Azure Linux|CBL-Mariner/Linux|NVIDIA "     \
  "(DGX|Base) OS|Flatcar Container Linux by Kinvolk|Talos|Bottlerocket OS|Container-Optimized OS " \
  "from Google|Arch Linux|Alpine Linux|NixOS)( v?[0-9][0-9.]{0,15})?( \\([A-Za-z ]{1,32}\\))?( "   \
  "LTS)?\"?"

#define KERNEL_SETTING "(# )?CONFIG_(PCI_P2PDMA|DMABUF_MOVE_NOTIFY)(=[ym]| is not set)"
#define LIBRARY "lib(nccl|cuda|gdrapi)\\.so(\\.[0-9.]{1,16})?"

struct Rule {
  const char* path;  // as of fnmatch(3); a star matches within one component
  const char* line;  // of each line that stays; of one with groups, the first group
};

constexpr Rule kContents[] = {
    {"sys/bus/pci/devices/*/vendor", "0x[0-9a-f]{1,8}"},
    {"sys/bus/pci/devices/*/device", "0x[0-9a-f]{1,8}"},
    {"sys/bus/pci/devices/*/class", "0x[0-9a-f]{1,8}"},
    {"sys/bus/pci/devices/*/subsystem_vendor", "0x[0-9a-f]{1,8}"},
    {"sys/bus/pci/devices/*/subsystem_device", "0x[0-9a-f]{1,8}"},
    {"sys/bus/pci/devices/*/numa_node", "-?[0-9]{1,5}"},
    {"sys/bus/pci/devices/*/*_link_speed", "Unknown( speed)?|[0-9.]{1,8}( GT/s)?( PCIe)?"},
    {"sys/bus/pci/devices/*/*_link_width", "[0-9]{1,4}"},
    {"sys/bus/pci/devices/*/resource", "0x[0-9a-f]{16} 0x[0-9a-f]{16} 0x[0-9a-f]{16}"},
    {"sys/class/infiniband/*/device/numa_node", "-?[0-9]{1,5}"},
    {"sys/class/infiniband/*/device/net/*/dev_port", "[0-9]{1,5}"},
    {"sys/class/infiniband/*/fw_ver", "[0-9.]{1,32}"},
    // Letters of the maker and ten digits; others say in words what they are.
    {"sys/class/infiniband/*/board_id", "[A-Z_]{2,4}[0-9]{6,12}"},
    {"sys/class/infiniband/*/parent", INTERFACE},
    {"sys/class/infiniband/*/ports/*/state", "[0-9]: (NOP|DOWN|INIT|ARMED|ACTIVE|ACTIVE_DEFER)"},
    {"sys/class/infiniband/*/ports/*/phys_state",
     "[0-9]: "
     "(NoStateChange|Sleep|Polling|Disabled|PortConfigurationTraining|LinkUp|LinkErrorRecovery|"
     "Phy Test|<unknown>)"},
    {"sys/class/infiniband/*/ports/*/rate",
     "[0-9.]{1,8} Gb/sec( \\([0-9]{1,2}X( [A-Z]{2,5})?\\))?"},
    {"sys/class/infiniband/*/ports/*/link_layer", "Ethernet|InfiniBand|Unspecified|Unknown"},
    {"sys/class/infiniband/*/ports/*/sm_lid", "0x[0-9a-f]{1,8}"},
    {"sys/class/infiniband/*/ports/*/lid", "0x[0-9a-f]{1,8}"},
    {"sys/class/infiniband/*/ports/*/gids/*", "([0-9a-f]{4}:){7}[0-9a-f]{4}"},
    {"sys/class/infiniband/*/ports/*/gid_attrs/types/*", "IB/RoCE v1|RoCE v[12]"},
    {"sys/class/infiniband/*/ports/*/gid_attrs/ndevs/*", INTERFACE},
    {"sys/class/infiniband/*/ports/*/counters/*", NUMBER},
    {"sys/class/infiniband/*/ports/*/hw_counters/*", NUMBER},
    {"sys/class/infiniband/*/tc/*/traffic_class", "((Global )?tclass=)?[0-9]{1,3}"},
    {"sys/class/net/*/mtu", "[0-9]{1,9}"},
    {"sys/class/net/*/address", "([0-9a-f]{2}:){5,19}[0-9a-f]{2}"},
    {"sys/class/net/*/dev_port", "[0-9]{1,5}"},
    {"sys/class/net/*/qos/trust", "dscp|pcp|both"},
    {"sys/class/net/*/ecn/roce_?p/enable/*", "[01]"},
    {"sys/devices/system/node/*/cpulist", "[0-9,-]*"},
    {"sys/devices/system/node/*/distance", "[0-9 ]+"},
    {"sys/class/dmi/id/product_name", "[A-Za-z0-9 ._+()/-]{1,64}"},
    {"sys/class/dmi/id/sys_vendor",
     "QEMU|Amazon EC2|VMware, Inc\\.|Xen|Microsoft Corporation|Google|innotek "
     "GmbH|Parallels.{0,40}|"
     "BHYVE|Bochs|KubeVirt|OpenStack Foundation|Nutanix|Red Hat|oVirt|Alibaba Cloud|Tencent Cloud"},
    {"proc/xen/capabilities", "control_d"},
    {"sys/hypervisor/properties/features", "[0-9a-f]{1,16}"},
    // "8335-GTW", "linux,dummy-virt"; the zero that ends it is no part.
    {"sys/firmware/devicetree/base/model", "[A-Za-z0-9 ,._()-]{1,64}"},
    {"sys/kernel/iommu_groups/*/type", "identity|DMA|DMA-FQ|blocked|unmanaged|auto"},
    {"sys/kernel/security/lockdown", "(\\[?(none|integrity|confidentiality)\\]? ?){1,3}"},
    {"sys/kernel/mm/hugepages/*/nr_hugepages", NUMBER},
    {"sys/kernel/mm/memory_peers/*/version", "[0-9][0-9.~:+-]{0,31}"},
    {"sys/module/*/version", "[0-9][0-9.~:+-]{0,31}"},
    {"sys/module/ib_core/parameters/netns_mode", "[YN01]"},
    {"sys/fs/cgroup/rdma.max", INTERFACE "( hca_(handle|object)=([0-9]{1,10}|max)){1,2} ?"},
    {"proc/sys/net/ipv4/conf/*/arp_ignore", "[0-9]"},
    {"proc/sys/net/ipv4/conf/*/arp_announce", "[0-9]"},
    {"proc/sys/net/ipv4/conf/*/rp_filter", "[0-9]"},
    {"proc/sys/vm/max_map_count", "[0-9]{1,12}"},
    // Only routes to directly connected networks.
    {"proc/*/net/route",
     INTERFACE "\t[0-9A-F]{8}\t00000000\t[0-9A-F]{4}(\t[0-9]{1,10}){3}\t[0-9A-F]{8}(\t[0-9]{1,10}"
               "){3}"},
    {"boot/config-*", KERNEL_SETTING},
    {"lib/modules/*/config", KERNEL_SETTING},
    {"usr/lib/modules/*/config", KERNEL_SETTING},
    {"proc/config.gz", KERNEL_SETTING},
    {"etc/infiniband/nv_peer_mem.conf", "ONBOOT=(yes|no)"},
    {"etc/modules-load.d/nv_peer_mem.conf", "nv_peer_mem"},
    {"etc/os-release", SYSTEM},
    {"usr/lib/os-release", SYSTEM},
    {"proc/sys/kernel/osrelease", "[0-9]+\\.[0-9]+[0-9A-Za-z.+~_-]{0,56}"},
    // Behind the release stand the user and host that built it, and when.
    {"proc/driver/nvidia/version",
     "(NVRM version: NVIDIA UNIX (Open )?([a-z0-9_]{1,8} )?Kernel Module( for [a-z0-9_]{1,8})?( "
     "+[0-9.]{3,16})?( +Release Build)?).*"},
    {"proc/driver/nvidia/params",
     "(GrdmaPciTopoCheckOverride|DmaRemapPeerMmio|EnableStreamMemOPs): [0-9]{1,10}|RegistryDwords: "
     "\"(PeerMappingOverride=[0-9]{1,3};?)?\""},
    {"proc/driver/nvidia/gpus/*/information", "Model:[ \t]*[A-Za-z0-9 ._()/+-]{1,64}"},
    {"proc/cpuinfo", "vendor_id\t: (GenuineIntel|AuthenticAMD|HygonGenuine|CentaurHauls)"},
    {"proc/*/limits",
     "Max locked memory +([0-9]{1,20}|unlimited) +([0-9]{1,20}|unlimited)( +bytes)? *"},
    {"proc/*/status", "Cap(Eff|Bnd):\t[0-9a-f]{16}"},
    {"proc/*/comm", "containerd|dockerd|crio|kubelet|slurmd|pbs_mom|sshd|nv-fabricmanage"},
    {"proc/kallsyms", "[0-9a-f]{1,16} [A-Za-z] (" SYMBOL ")([\t ]\\[(ib_core|ib_uverbs)\\])?"},
    {"proc/modules",
     "(nvidia(_peermem|_uvm|_modeset|_drm)?|nv_peer_mem|efa(_nv_peermem)?|ib_core|ib_uverbs|"
     "mlx_compat|mlx5_core|mlx5_ib|gdrdrv) .*"},
    {"lib/modules/*/modules.dep", MODULE_FILE ":( " MODULE_FILE ")*"},
    {"lib/modules/*/modules.symbols", "alias symbol:(" SYMBOL ") (ib_core|ib_uverbs)"},
};

// The names that a table's star stands for in a listed folder.
constexpr Rule kNames[] = {
    {"dev", "nvidia([0-9]{1,3}|ctl|-uvm|-uvm-tools|-modeset|-caps|-nvswitch[0-9]{0,3})|infiniband"},
    {"dev/infiniband", "(uverbs|umad|issm)[0-9]{1,3}|rdma_cm"},
    {"sys/bus/pci/devices", ADDRESS},
    {"sys/class/infiniband", "[A-Za-z0-9_.-]{1,63}"},
    {"sys/class/infiniband/*/ports", "[0-9]{1,3}"},
    {"sys/class/infiniband/*/ports/*/counters", "[a-zA-Z_0-9]{1,64}"},
    {"sys/class/infiniband/*/ports/*/hw_counters", "[a-zA-Z_0-9]{1,64}"},
    {"sys/class/infiniband/*/device/net", INTERFACE},
    {"sys/class/infiniband/*/device/infiniband_verbs", "uverbs[0-9]{1,3}"},
    {"sys/class/iommu", "(dmar|ivhd)[0-9]{1,3}|(arm-)?smmu(-v3|3)?\\.[0-9a-fx.]{1,20}(\\.auto)?"},
    {"sys/class/net", INTERFACE},
    {"sys/devices/system/node", "node[0-9]{1,5}"},
    {"sys/kernel/iommu_groups", "[0-9]{1,6}"},
    {"sys/kernel/security",
     "lockdown|lsm|apparmor|integrity|ima|evm|tpm[0-9]|selinux|smack|tomoyo"},
    {"sys/kernel/mm/hugepages", "hugepages-[0-9]{1,9}kB"},
    {"sys/module/*/holders", "nvidia_peermem|nv_peer_mem|(ib|rdma|mlx5|mlx4|iw)_[a-z0-9]{1,16}"},
    {"usr/src", "nvidia-[0-9.]{3,16}"},
    {"lib/firmware/nvidia", "[0-9]{3}[0-9.]{1,13}"},
    {"usr/*", LIBRARY},
    {"usr/*/*", LIBRARY},
    {"usr/*/*/*", "libnccl\\.so\\.[0-9.]{1,16}"},
    {"opt/nccl/lib", "libnccl\\.so\\.[0-9.]{1,16}"},
};

// Below /sys and /proc the code's own words and the names above lead. Elsewhere these alone.
constexpr const char* kPlaces[] = {"dev/nvidia*",
                                   "dev/infiniband",
                                   "dev/infiniband/*",
                                   "lib/modules/*/modules.*",
                                   "usr/lib/modules/*/modules.*",
                                   "boot/config-*",
                                   "lib/modules/*/config",
                                   "usr/lib/modules/*/config",
                                   "etc",
                                   "etc/infiniband/nv_peer_mem.conf",
                                   "etc/modules-load.d/nv_peer_mem.conf",
                                   "etc/init.d/nv_peer_mem",
                                   "dev/gdrdrv",
                                   "var/lib/kubelet",
                                   "run/nvidia/driver",
                                   ".dockerenv",
                                   "run/.containerenv",
                                   "var/run/secrets/kubernetes.io",
                                   "run/secrets/kubernetes.io",
                                   "singularity",
                                   ".singularity.d",
                                   "etc/security/limits.conf",
                                   "captured/*",
                                   "etc/os-release",
                                   "usr/lib/os-release",
                                   "var/log/dmesg",
                                   "dev",
                                   "lib",
                                   "var/run",
                                   "usr/src",
                                   "lib/firmware/nvidia",
                                   "usr/lib",
                                   "usr/lib64",
                                   "usr/lib/x86_64-linux-gnu",
                                   "usr/lib/aarch64-linux-gnu",
                                   "usr/local/lib",
                                   "usr/local/cuda",
                                   "usr/local/cuda/lib64",
                                   "usr/local/cuda-[0-9]*/lib64",
                                   "usr/local/cuda-[0-9]*/targets/*-linux/lib",
                                   "usr/local/nccl/lib",
                                   "opt/nccl/lib"};

// The same of a driver's root.
constexpr const char* kPlacesOfDrivers[] = {
    "lib/modules/*/modules.dep", "usr/sbin/modprobe", "sbin/modprobe",
    "usr/bin/modprobe",          "usr/src",           "lib/firmware/nvidia"};

bool matches(const char* pattern, const std::string& path) {
  return fnmatch(pattern, path.c_str(), FNM_PATHNAME | FNM_PERIOD) == 0;
}

class Table {
 public:
  template <std::size_t kCount>
  explicit Table(const Rule (&rules)[kCount]) {
    for (const Rule& rule : rules) rows_.push_back({rule.path, Form(rule.line)});
  }
  const Form* find(const std::string& path) const {
    const auto row =
        std::ranges::find_if(rows_, [&](const Row& each) { return matches(each.path, path); });
    return row == rows_.end() ? nullptr : &row->line;
  }

 private:
  struct Row {
    const char* path;
    Form line;
  };
  std::vector<Row> rows_;
};

bool is_below(const std::string& path, std::string_view folder) {
  return path.size() > folder.size() && path.compare(0, folder.size(), folder) == 0 &&
         path[folder.size()] == '/';
}

// The lines that match as a whole; where the pattern says a part of a line, that part.
std::string lines_of(const std::string& content, const Form& form, bool part) {
  std::string kept;
  for (const std::string_view each : split(content, '\n')) {
    const std::string_view line = each.substr(0, each.find_last_not_of(" \t\r") + 1);
    if (line.empty()) continue;
    if (const auto found = form.group(line, part ? 1 : 0)) kept += *found + "\n";
  }
  return kept;
}

// Keeps the one flag that a check reads, of hundreds per CPU. Power CPUs have no flags, but a
// platform.
std::string harmless_processors(const std::string& content) {
  static const Form platform("platform[ \\t]*: (PowerNV|pSeries|PS3|Cell|powernv|pseries)");
  std::string power;
  for (const std::string_view line : split(content, '\n')) {
    if (const auto found = platform.group(line, 1)) power = "platform\t: " + *found + "\n";
  }
  if (!power.empty()) return power;
  for (const std::string_view line : split(content, '\n')) {
    if (line.rfind("flags", 0) != 0) continue;
    const bool guest = line.find(" hypervisor") != std::string_view::npos;
    return guest ? "flags\t\t: hypervisor\n" : "flags\t\t:\n";
  }
  return {};
}

// Keeps what started the process; the rest identifies containers, pods, jobs and users.
std::string harmless_group(const std::string& content) {
  std::string kept = "0::";
  const std::string first = content.substr(0, content.find('\n'));
  for (const char* word : {"docker", "kubepods", "libpod", "slurm", "lxc"}) {
    if (first.find(word) != std::string::npos) kept += std::string("/") + word;
  }
  return kept + (kept.size() == 3 ? "/\n" : "\n");
}

// "lib/modules/..." for "run/nvidia/driver/lib/modules/6.8.0-45-generic/modules.dep"; empty if the
// path is not below a driver's root.
std::string below_driver_root(const std::string& path) {
  static const Form root(DRIVER_ROOT);
  for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    if (!root.is("/" + path.substr(0, slash))) continue;
    std::string rest = path.substr(slash + 1);
    const bool known = std::ranges::any_of(
        kPlacesOfDrivers, [&](const char* pattern) { return matches(pattern, rest); });
    if (known) return rest;
  }
  return {};
}

// "23 61 0:21 / /dev/shm rw,nosuid,nodev - tmpfs tmpfs rw,size=65536k": where, how, how large.
std::string harmless_mounts(const std::string& content) {
  static const Form mount(
      "[0-9]+ [0-9]+ [0-9]+:[0-9]+ [^ ]+ (/dev/shm|/sys) (r[ow])(,[^ ]*)?( .*)?");
  static const Form size(".*[ ,](size=[0-9]{1,15}[kmg]?)(,.*)?");
  static const Form driver("[0-9]+ [0-9]+ [0-9]+:[0-9]+ [^ ]+ (" DRIVER_ROOT ") r[ow][ ,].*");
  std::string kept;
  for (const std::string_view each : split(content, '\n')) {
    const auto where = mount.group(each, 1), how = mount.group(each, 2);
    if (const auto root = driver.group(each, 1)) {
      kept += "0 0 0:0 / " + *root + " rw,relatime - none none rw\n";
    }
    if (!where || !how) continue;
    const auto large = size.group(each, 1);
    kept += "0 0 0:0 / " + *where + " " + *how + ",relatime - none none " + *how +
            (large ? "," + *large : std::string()) + "\n";
  }
  return kept;
}

// "ffffffffc0a12340 t ib_register_peer_memory_client [ib_core]"
std::string without_addresses(std::string content) {
  bool in_address = true;
  for (char& c : content) {
    if (c == '\n') {
      in_address = true;
    } else if (c == ' ') {
      in_address = false;
    } else if (in_address) {
      c = '0';
    }
  }
  return content;
}

const Table& names() {
  static const Table table(kNames);
  return table;
}

// Letters that the kernel's names have, and where a folder's names are known, these.
bool has_harmless_names(const std::string& path) {
  const bool letters = std::ranges::all_of(path, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           std::string_view("/_.:@,+-").find(c) != std::string_view::npos;
  });
  if (!letters) return false;
  for (auto slash = path.find('/'); slash != std::string::npos; slash = path.find('/', slash + 1)) {
    const std::string name = path.substr(slash + 1, path.find('/', slash + 1) - slash - 1);
    const Form* form = names().find(path.substr(0, slash));
    if (form != nullptr && !form->is(name)) return false;
  }
  return true;
}

}  // namespace

bool is_harmless_place(const std::string& path) {
  if (path.size() > kLongestPath) return false;
  if (path == "sys" || path == "proc") return true;
  if (is_below(path, "sys") || is_below(path, "proc")) return has_harmless_names(path);
  if (!below_driver_root(path).empty()) return true;
  return std::ranges::any_of(kPlaces, [&](const char* pattern) { return matches(pattern, path); });
}

bool is_harmless_name(const std::string& folder, const std::string& name) {
  const std::string below = below_driver_root(folder);
  const Form* form = names().find(below.empty() ? folder : below);
  return form != nullptr && form->is(name);
}

std::optional<std::string> harmless_dangling(const std::string& target) {
  static const Form form("net:\\[[0-9]{1,20}\\]");
  return form.is(target) ? std::optional(target) : std::nullopt;
}

std::optional<std::string> harmless_content(const std::string& path, const std::string& content) {
  static const Table contents(kContents);
  if (path == "proc/cmdline") return harmless_command_line(content);
  if (matches("proc/*/cgroup", path)) return harmless_group(content);
  if (matches("proc/*/mountinfo", path)) return harmless_mounts(content);
  if (matches("sys/bus/pci/devices/*/vpd", path)) return harmless_product_data(content);
  // Four bytes of attributes, then whether it is on.
  if (matches("sys/firmware/efi/efivars/SecureBoot-*", path)) {
    return content.size() == 5 ? std::string("\x06\0\0\0", 4) + content[4] : std::string();
  }
  const std::string below = below_driver_root(path);
  const Form* form = contents.find(below.empty() ? path : below);
  if (form == nullptr) return std::nullopt;
  const bool part = path == "proc/driver/nvidia/version" || path == "proc/modules";
  if (path == "sys/firmware/devicetree/base/model") {
    return lines_of(content.substr(0, content.find('\0')), *form, part);
  }
  // One value a file, but for the regions of a PCI function.
  const bool one = is_below(path, "sys") && !path.ends_with("/resource");
  std::string kept = lines_of(one ? content.substr(0, content.find('\n')) : content, *form, part);
  if (path == "proc/cpuinfo")
    kept = kept.substr(0, kept.find('\n') + 1) + harmless_processors(content);
  if (path == "proc/kallsyms") kept = without_addresses(std::move(kept));
  return kept;
}

}  // namespace gdr::doctor
