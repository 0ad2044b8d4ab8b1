#include <string_view>

#include "base/environment.h"
#include "doctor/capture/form.h"
#include "doctor/capture/harmless.h"

namespace gdr::doctor {
namespace {

constexpr std::size_t kLongestValue = 512;

// As drivers name their devices; a name of somebody's own choice is left out.
#define NIC                                                                                        \
  "(mlx[45](_(bond_)?[0-9]{0,3})?|(bnxt_re|irdma|rxe|siw|soft|efa_|rdmap|rocep|ibp)[0-9a-fsnpvdf]" \
  "{0,12})"
#define INTERFACE "(eth|ib|bond|en[opsx]|lo)[0-9a-fnpsdv]{0,12}"
#define PORT "(:[0-9]{1,3})?"
#define NUMBER "-?[0-9]{1,10}"
#define ON_OFF "y|n|yes|no|on|off|try|auto|0|1|2"
#define LIBRARY_FOLDER \
  "/usr/(lib|lib64|lib/(x86_64|aarch64)-linux-gnu|local/(lib|cuda/lib64|nccl/lib))|/opt/nccl/lib"

struct Variable {
  const char* names;
  char separator;      // of a list; 0: one value
  const char* values;  // of each part; null: none is kept
};

constexpr Variable kVariables[] = {
    {"NCCL_NET_GDR_LEVEL|NCCL_P2P_LEVEL", 0, "LOC|NVL|PIX|PXB|P2C|PXN|PHB|NODE|SYS|[0-9]{1,2}"},
    {"NCCL_(NET_GDR_READ|IB_DISABLE|DMABUF_ENABLE|P2P_DISABLE|SHM_DISABLE|IB_GID_INDEX|CROSS_NIC|"
     "IB_PCI_RELAXED_ORDERING|IB_TIMEOUT|IB_RETRY_CNT|IB_SL|IB_TC|IB_QPS_PER_CONNECTION|"
     "IB_SPLIT_DATA_ON_QPS|IB_ADAPTIVE_ROUTING|IB_CUDA_SUPPORT|IB_MERGE_NICS|BUFFSIZE|"
     "MIN_NCHANNELS|MAX_NCHANNELS|NCHANNELS_PER_NET_PEER|RUNTIME_CONNECT|NET_SHARED_BUFFERS|"
     "GDRCOPY_ENABLE|GDR_FLUSH_DISABLE|NVLS_ENABLE|IGNORE_CPU_AFFINITY)",
     0, NUMBER},
    {"NCCL_IB_PKEY", 0, "0x[0-9a-fA-F]{1,4}|[0-9]{1,5}"},
    {"NCCL_DEBUG", 0, "VERSION|WARN|INFO|TRACE|ABORT|version|warn|info|trace|abort"},
    {"NCCL_DEBUG_SUBSYS", ',',
     "\\^?(INIT|COLL|P2P|SHM|NET|GRAPH|TUNING|ENV|ALLOC|CALL|PROXY|NVLS|BOOTSTRAP|REG|PROFILE|RAS|"
     "ALL)"},
    {"NCCL_(ALGO|PROTO)", ',',
     "\\^?(Ring|Tree|CollnetDirect|CollnetChain|NVLS|NVLSTree|LL|LL128|Simple)"},
    {"NCCL_NET", 0, "IB|Socket"},
    {"NCCL_IB_HCA", ',', "(\\^=?|=)?" NIC PORT},
    {"NCCL_SOCKET_IFNAME", ',', "(\\^|=)?" INTERFACE},
    {"NCCL_TOPO_FILE", 0, "/captured/nccl-topology\\.xml"},  // capture.cc calls it so
    {"NCCL_HOME", 0, "/usr/local/nccl|/opt/nccl|/usr|/usr/local"},
    {"NCCL_(DEBUG_FILE|TOPO_DUMP_FILE|NET_PLUGIN|TUNER_PLUGIN|IB_ADDR_RANGE|CONF_FILE)", 0,
     nullptr},
    {"UCX_(IB_GPU_DIRECT_RDMA|IB_PCI_RELAXED_ORDERING)", 0, ON_OFF},
    {"UCX_NET_DEVICES", ',', "all|\\^?(" NIC PORT "|" INTERFACE ")"},
    {"UCX_TLS", ',',
     "\\^?(all|rc|rc_x|rc_v|rc_mlx5|rc_verbs|ud|ud_x|ud_v|ud_mlx5|ud_verbs|dc|dc_x|dc_mlx5|tcp|sm|"
     "self|shm|posix|sysv|cma|knem|xpmem|ib|cuda|cuda_copy|cuda_ipc|gdr_copy)"},
    {"UCX_(LOG_LEVEL|IB_GID_INDEX|IB_TRAFFIC_CLASS|IB_SL|RNDV_THRESH)", 0,
     "fatal|error|warn|info|debug|trace|data|func|poll|auto|inf|[0-9]{1,9}"},
    {"NVSHMEM_REMOTE_TRANSPORT", 0, "ibrc|ucx|libfabric|ibdevx|ibgda|none"},
    {"NVSHMEM_HCA_LIST|NVSHMEM_HCA_PE_MAPPING", ',', "\\^?" NIC "(:[0-9]{1,3}){0,2}"},
    {"NVSHMEM_HCA_PREFIX", 0, NIC},
    {"NVSHMEM_(ENABLE_NIC_PE_MAPPING|IB_DISABLE_DMABUF|IB_ENABLE_IBGDA|DISABLE_GDRCOPY|"
     "DISABLE_P2P|DISABLE_CUDA_VMM|DISABLE_DATA_DIRECT|DISABLE_IB_NATIVE_ATOMICS)",
     0, ON_OFF "|true|false"},
    {"NVSHMEM_IB_(GID_INDEX|TRAFFIC_CLASS|SL|ROCE_VERSION_NUM|NUM_RC_PER_DEVICE)", 0, NUMBER},
    {"MC_(FORCE_TCP|FORCE_MNNVL|GID_INDEX|IB_PORT|MTU|MS_AUTO_DISC)", 0,
     ON_OFF "|true|false|[0-9]{1,10}"},
    {"MC_MS_FILTERS", ',', NIC},
    {"WITH_NVIDIA_PEERMEM", 0, "0|1|ON|OFF|TRUE|FALSE|on|off|true|false"},
    {"CUDA_VISIBLE_DEVICES", ',', "-1|all|none|void|[0-9]{1,3}"},
    {"LD_LIBRARY_PATH", ':', LIBRARY_FOLDER},
    {"LD_PRELOAD", ':', "libgdr-observe\\.so"},
    {"KUBERNETES_PORT", 0, nullptr},
    {"NVIDIA_DRIVER_ROOT", 0,
     "/(run|opt|usr|var|home/kubernetes)(/(bin|lib|local|nvidia|driver|drivers|current)){1,6}"},
};

bool is(std::string_view text, const char* pattern) { return Form(pattern).is(text); }

const Variable* find_variable(const std::string& name) {
  for (const Variable& variable : kVariables) {
    if (is(name, variable.names)) return &variable;
  }
  return nullptr;
}

// The harmless folders of a list. A check looks for gdrkit's stand-ins, but not for where they are.
std::string harmless_folders(const Variable& variable, std::string_view value) {
  std::string kept;
  for (const std::string_view part : split(value, variable.separator)) {
    std::string one;
    for (const char* stand_in : {"gdrkit/soft-nic", "gdrkit/soft-gpu"}) {
      if (part.find(stand_in) != std::string_view::npos) one = stand_in;
    }
    if (one.empty() && is(part, variable.values)) one = part;
    if (!one.empty()) kept += (kept.empty() ? "" : ":") + one;
  }
  return kept;
}

std::string harmless_value(const Variable& variable, std::string_view value) {
  if (variable.values == nullptr) return kLeftOut;
  if (variable.separator == 0) return is(value, variable.values) ? std::string(value) : kLeftOut;
  if (value.size() > kLongestValue) return kLeftOut;
  for (const std::string_view part : split(value, variable.separator)) {
    if (!part.empty() && !is(part, variable.values)) return kLeftOut;
  }
  return std::string(value);
}

}  // namespace

std::string harmless_variables(const std::map<std::string, std::string>& variables) {
  std::string text;
  for (const auto& [name, value] : variables) {
    const Variable* variable = find_variable(name);
    if (variable == nullptr) continue;
    const bool folders = variable->separator == ':';
    const std::string kept =
        folders ? harmless_folders(*variable, value) : harmless_value(*variable, value);
    if (!folders || !kept.empty()) text += name + "=" + kept + '\0';
  }
  return text;
}

}  // namespace gdr::doctor
