#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "nccl/causes.h"
#include "nccl/paths.h"

namespace gdr::nccl {
namespace {

constexpr const char* kLevel = "NCCL_NET_GDR_LEVEL";

bool ib_without_gdr(const Case& found) {
  return found.counts.plain_ib > 0 || found.log.plain_left_out > 0;
}

const DeviceGdr* find_device(const Log& log, bool enabled) {
  for (const auto& [key, device] : log.devices) {
    if (device.enabled == enabled) return &device;
  }
  return nullptr;
}

bool receives_have_it(const Counts& counts) {
  return counts.gdrdma_receives > 0 && counts.plain_receives == 0 && counts.plain_sends > 0;
}

// The distance that must be allowed for every GPU to reach its nearest NIC. NCCL logs the far ones
// too. Nothing where every GPU that the log names has a NIC that is near enough.
const std::pair<const Distance, Evidence>* distance_to_allow(const Log& log) {
  // A bus address may be that of a GPU on each host.
  std::map<std::pair<std::string, std::string>, const std::pair<const Distance, Evidence>*> nearest;
  for (const auto& entry : log.distances) {
    auto& known = nearest[{entry.first.host, entry.first.gpu}];
    if (known == nullptr || entry.first.distance < known->first.distance) known = &entry;
  }
  const std::pair<const Distance, Evidence>* farthest = nullptr;
  for (const auto& [gpu, entry] : nearest) {
    if (entry->first.enabled) continue;
    if (farthest == nullptr || entry->first.distance > farthest->first.distance) farthest = entry;
  }
  return farthest;
}

// How NCCL of this version learns that the module is there.
std::string module_note(const Version& version) {
  if (!version.before(23)) return {};
  return "NCCL before 2.23 finds the module only with the RDMA stack of MLNX_OFED or Ubuntu "
         "(/sys/kernel/mm/memory_peers)";
}

std::optional<Cause> incapable(const Case& found) {
  const Log& log = found.log;
  const DeviceGdr* device = find_device(log, false);
  if (device == nullptr || !ib_without_gdr(found)) return std::nullopt;
  const bool old_module = log.version.before(9);
  Cause cause{"no_peer_memory",
              fmt::format("{}{} cannot register GPU memory: the module {} is not loaded",
                          device->name, device->host.empty() ? "" : " of " + device->host,
                          old_module ? "nv_peer_mem" : "nvidia-peermem"),
              device->evidence,
              text::Command("sudo modprobe {}", old_module ? "nv_peer_mem" : "nvidia-peermem"),
              module_note(log.version)};
  const Setting* dma_buf = log.setting("NCCL_DMABUF_ENABLE");
  if (log.version.before(13)) {
    cause.what += ", and NCCL before 2.13 does not support dma-buf";
  } else if (dma_buf != nullptr && dma_buf->value == "0") {
    cause.what += ", and the environment switches dma-buf off";
    cause.next = text::Command("unset NCCL_DMABUF_ENABLE");
    cause.note = "or sudo modprobe nvidia-peermem";
  } else if (log.fact(Fact::kDmaBuf)) {
    cause.what += ", and the GPU supports dma-buf, but the NIC's driver or libibverbs does not";
    cause.note =
        "or use dma-buf: it needs Linux 5.12, rdma-core 34 and a NIC driver with support, such as "
        "mlx5";
  } else {
    cause.what += ", and the GPU driver does not support dma-buf";
    cause.note = "or use dma-buf: it needs NVIDIA's open kernel modules, CUDA 11.7 and Linux 5.12";
  }
  return cause;
}

std::optional<Cause> too_far(const Case& found) {
  if (!ib_without_gdr(found)) return std::nullopt;
  const auto* entry = distance_to_allow(found.log);
  if (entry == nullptr) return std::nullopt;
  const Version& version = found.log.version;
  const auto& [distance, evidence] = *entry;
  Cause cause{"distance",
              fmt::format("GPU and NIC are farther apart than NCCL allows: {}, but the limit is {}",
                          distance_name(version, distance.distance),
                          distance_name(version, distance.limit)),
              evidence, text::Command("{}={}", kLevel, level_for(version, distance.distance)),
              "data then crosses the CPU; a NIC below the GPU's PCIe switch is faster (see gdr "
              "topo, and choose it with NCCL_IB_HCA)"};
  if (const Setting* level = found.log.setting(kLevel)) {
    cause.id = "gdr_level";
    cause.what += fmt::format(", which the environment sets ({}={})", kLevel, level->value);
    if (distance.distance <= default_limit(version)) {
      cause.next = text::Command("unset {}", kLevel);
      cause.note.clear();
    }
  }
  return cause;
}

// A level that forbids all but the nearest, in a log that does not say the distance.
std::optional<Cause> level_is_low(const Case& found) {
  const Setting* level = found.log.setting(kLevel);
  if (level == nullptr || !ib_without_gdr(found) || !found.log.distances.empty()) {
    return std::nullopt;
  }
  constexpr std::string_view kFarthest[] = {"SYS", "5", "4"};
  if (std::find(std::begin(kFarthest), std::end(kFarthest), level->value) != std::end(kFarthest)) {
    return std::nullopt;
  }
  return Cause{"gdr_level",
               fmt::format("the environment limits GPUDirect RDMA to NICs at {}", level->value),
               level->evidence, text::Command("unset {}", kLevel),
               fmt::format("or {}=SYS for any distance", kLevel)};
}

std::optional<Cause> reads_are_off(const Case& found) {
  if (!ib_without_gdr(found) || !receives_have_it(found.counts)) return std::nullopt;
  Cause cause{"gdr_read",
              "receives use it but sends do not: NCCL lets the NIC read GPU memory only on Ampere "
              "and later GPUs, or with NVLink between the GPUs",
              std::nullopt, text::Command("NCCL_NET_GDR_READ=1"), ""};
  if (const Setting* read = found.log.setting("NCCL_NET_GDR_READ")) {
    cause.what = "receives use it but sends do not, because the environment says so";
    cause.evidence = read->evidence;
    if (read->value == "0") cause.next = text::Command("unset NCCL_NET_GDR_READ");
  }
  return cause;
}

// The NIC can, and still it is not used: NCCL asked GPU, environment and topology, and did not
// log what it found.
std::optional<Cause> silent(const Case& found) {
  const Log& log = found.log;
  const DeviceGdr* capable = find_device(log, true);
  if (!ib_without_gdr(found) || capable == nullptr || find_device(log, false) != nullptr ||
      !log.distances.empty() || receives_have_it(found.counts) || level_is_low(found)) {
    return std::nullopt;
  }
  const Evidence& evidence = capable->evidence;
  // 2.30 no longer logs distances at the level INFO.
  if (log.version.known() && !log.version.before(30)) {
    return Cause{"distance_or_gpu",
                 "the NIC supports it, but GPU and NIC are too far apart, or the GPU does not "
                 "support it; NCCL 2.30 does not log which",
                 evidence, text::Command("{}=SYS", kLevel),
                 "if that does not help, check the GPU: gdr prove --require-hardware"};
  }
  return Cause{"gpu",
               "the NIC supports it, but the GPU or its driver does not (as with GeForce cards)",
               evidence, text::Command("gdr prove --require-hardware"),
               "registers GPU memory with the NIC and shows the error"};
}

constexpr FindCause kTable[] = {incapable, too_far, level_is_low, reads_are_off, silent};

}  // namespace

std::span<const FindCause> gdr_causes() { return kTable; }

}  // namespace gdr::nccl
