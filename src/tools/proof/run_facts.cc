#include "proof/run_facts.h"

namespace gdr::proof {

std::string head_line(const RunFacts& facts) {
  std::string line = "gdrkit";
  if (!facts.version.empty()) line += " " + facts.version;
  if (!facts.host.empty()) line += " on " + facts.host;
  if (!facts.date.empty()) line += ", " + facts.date;
  if (!facts.kernel.empty()) line += "; Linux " + facts.kernel;
  return line +
         (facts.gpu_driver.empty() ? "; no NVIDIA driver" : "; NVIDIA driver " + facts.gpu_driver);
}

}  // namespace gdr::proof
