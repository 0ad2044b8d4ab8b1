// The size of BAR1, the window through which a NIC reaches GPU memory, according to sysfs.
#include <stdio.h>

#include <algorithm>
#include <optional>

#include "base/environment.h"
#include "doctor/checks/all.h"
#include "doctor/checks/gpu/window.h"
#include "doctor/evidence.h"
#include "doctor/host.h"
#include "text/format.h"

namespace gdr::doctor {
namespace gpu_bar1_check {

constexpr const char* kExplanation =
    "A NIC reaches GPU memory through the GPU's BAR1. All memory registered at one time must fit "
    "into this window; the 256 MiB of graphics boards without Resizable BAR fill up quickly. The "
    "check reads the PCI function's file resource: its largest prefetchable region is BAR1.";

constexpr std::uint64_t kSmall = 256 * kMebibyte;

// "0x00004c0000000000 0x00004cffffffffff 0x000000000014220c" on the line of each region: start,
// end, flags. BAR1 is the largest prefetchable one; on which line depends on the GPU's generation.
std::optional<std::uint64_t> read_bar1(const Host& host, const std::string& file) {
  const std::string text = host.files.text(file);
  std::uint64_t largest = 0;
  unsigned line_number = 0;
  for (std::string_view line : split(text, '\n')) {
    if (line_number++ > 5) break;  // bridges' windows and the ROM are behind
    unsigned long long start = 0, end = 0, flags = 0;
    if (sscanf(std::string(line).c_str(), "%llx %llx %llx", &start, &end, &flags) != 3) continue;
    constexpr unsigned long long kPrefetchable = 0x2000;
    if ((flags & kPrefetchable) == 0 || end < start) continue;
    largest = std::max<std::uint64_t>(largest, end - start + 1);
  }
  if (largest == 0) return std::nullopt;
  return largest;
}

Finding judge(const Host& host, const host::Gpu& gpu) {
  const std::string file = "sys/bus/pci/devices/" + gpu.pci_address + "/resource";
  const std::string subject = "GPU " + gpu.pci_address;
  const std::optional<std::uint64_t> size = read_bar1(host, file);
  if (!size) {
    return unknown(subject, "cannot see the size of BAR1", {read_line(host.files, file)});
  }
  const std::string text = "BAR1 is " + text::size_text(*size);
  const Evidence evidence{"/" + file, "largest prefetchable region: " + text::size_text(*size)};
  if (*size > kSmall) return ok(subject, text, {evidence});
  return warn(subject, text, {evidence},
              "At most this much can be registered at one time, and drivers keep a part of it.",
              larger_window());
}

Findings find(const Host& host) {
  Findings findings = no_gpu();
  for (const host::Gpu& gpu : host.inventory.gpus) findings.push_back(judge(host, gpu));
  return findings;
}

}  // namespace gpu_bar1_check

const Check kGpuBar1{"gpu-bar1",
                     Area::kGpu,
                     "Size of the window to GPU memory, BAR1",
                     gpu_bar1_check::kExplanation,
                     32,
                     Cost::kPassive,
                     gpu_bar1_check::find};
}  // namespace gdr::doctor
