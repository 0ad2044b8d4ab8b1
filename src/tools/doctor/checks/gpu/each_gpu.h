// What the checks share that ask NVML about each GPU.
//
//   return of_each_gpu(host, [](const NvmlGpu& gpu) { return judge(gpu); });
#pragma once

#include <string>

#include "doctor/evidence.h"
#include "doctor/host.h"
#include "doctor/probes.h"

namespace gdr::doctor {

// Findings of each GPU, or the one reason why there are none.
template <typename Judge>
Findings of_each_gpu(const Host& host, Judge judge) {
  if (host.inventory.gpus.empty()) return no_gpu();
  const Result<NvmlFacts>& nvml = host.probes->nvml();
  if (!nvml) return {unknown("", nvml.error().message)};
  Findings findings;
  for (const NvmlGpu& gpu : nvml->gpus) findings.push_back(judge(gpu));
  if (findings.empty()) findings.push_back(unknown("", "NVML: " + nvml->problem));
  return findings;
}

inline std::string on_or_off(Tri value) {
  return value == Tri::kUnknown ? "not told" : value == Tri::kYes ? "on" : "off";
}

}  // namespace gdr::doctor
