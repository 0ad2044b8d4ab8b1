#include "doctor/live_probes.h"

#include "process/apart.h"
#include "proof/prove.h"

namespace gdr::doctor {
namespace {

using process::apart;

constexpr const char* kCuda = "libcuda.so.1";
// Without persistence eight GPUs take half a minute to wake up.
constexpr Nanoseconds kDriverLimit = 60 * kSecond;
constexpr Nanoseconds kCommandLimit = 10 * kSecond;

// A byte, a page and an odd size: that data goes the right way. How well is gdr prove's to say.
constexpr std::uint64_t kSizes[] = {1, 4096, (1 << 20) + 13};

}  // namespace

const Result<CudaFacts>& LiveProbes::cuda() {
  if (!cuda_) {
    cuda_ = apart<CudaFacts>("the CUDA driver", kDriverLimit, [] { return ask_cuda(kCuda); });
  }
  return *cuda_;
}

const Result<NvmlFacts>& LiveProbes::nvml() {
  if (!nvml_) nvml_ = apart<NvmlFacts>("NVML", kDriverLimit, [] { return ask_nvml(); });
  return *nvml_;
}

const Result<ExportTrials>& LiveProbes::exports() {
  if (!exports_) {
    exports_ =
        apart<ExportTrials>("the CUDA driver", kDriverLimit, [] { return try_exports(kCuda); });
  }
  return *exports_;
}

Result<proof::Report> LiveProbes::prove(const Pairing& pairing) {
  proof::Options options;
  options.require_hardware = true;
  options.measure = false;
  options.sizes.assign(std::begin(kSizes), std::end(kSizes));
  options.device_memory = {proof::MemoryKind::kDevice};
  std::erase_if(options.modes, [](const proof::Mode* mode) {
    return mode != &proof::kRcWrite && mode != &proof::kRcRead;
  });
  options.gpu = std::to_string(pairing.gpu);
  options.nic = pairing.nic + ":" + std::to_string(pairing.port);
  options.peer_nic = options.nic;
  proof::Listener silent;
  return proof::prove(options, silent);
}

CommandAnswer LiveProbes::command(const std::vector<std::string>& words) {
  return run_command(words, kCommandLimit);
}

}  // namespace gdr::doctor
