#include "topo/live.h"

#include <algorithm>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>

#include "base/quiet_thread.h"

namespace gdr::topo {
namespace {

using Answer = Result<std::vector<GpuLinks>>;

Answer ask(const std::string& library) {
  Result<cuda::Nvml> nvml = cuda::Nvml::start(library.c_str());
  if (!nvml) return nvml.error();
  Result<std::vector<cuda::Nvml::Gpu>> gpus = nvml->gpus();
  if (!gpus) return gpus.error();
  std::vector<GpuLinks> found;
  for (cuda::Nvml::Gpu& gpu : *gpus) {
    GpuLinks links{gpu.pci_address, std::move(gpu.name), {}};
    if (auto ends = nvml->nvlinks(gpu.device)) links.ends = *std::move(ends);
    found.push_back(std::move(links));
  }
  return found;
}

// A driver that hangs must not take the program with it: it is asked on a thread of its own, which
// is left behind when time is over.
struct Asked {
  std::mutex lock;
  std::condition_variable answered;
  std::optional<Answer> answer;
};

Answer ask_within(const char* library, std::chrono::milliseconds patience) {
  auto asked = std::make_shared<Asked>();
  Result<void> started = start_quiet_thread("gdr-nvml", [asked, path = std::string(library)] {
    Answer answer = ask(path);
    const std::lock_guard guard(asked->lock);
    asked->answer.emplace(std::move(answer));
    asked->answered.notify_all();
  });
  if (!started) return started.error();
  std::unique_lock guard(asked->lock);
  if (!asked->answered.wait_for(guard, patience, [&] { return asked->answer.has_value(); })) {
    return Error{ETIMEDOUT,
                 "no answer in " +
                     std::to_string(std::chrono::ceil<std::chrono::seconds>(patience).count()) +
                     " s"};
  }
  return *std::move(asked->answer);
}

unsigned count_to(const GpuLinks& gpu, const std::string& address) {
  return static_cast<unsigned>(
      std::count_if(gpu.ends.begin(), gpu.ends.end(), [&](const cuda::NvLinkEnd& end) {
        return end.kind != cuda::NvLinkEnd::Kind::kSwitch && end.pci_address == address;
      }));
}

unsigned count_to_switches(const GpuLinks& gpu) {
  return static_cast<unsigned>(std::count_if(
      gpu.ends.begin(), gpu.ends.end(),
      [](const cuda::NvLinkEnd& end) { return end.kind == cuda::NvLinkEnd::Kind::kSwitch; }));
}

}  // namespace

std::vector<host::NvLinks> join_links(const std::vector<GpuLinks>& gpus) {
  std::vector<host::NvLinks> joined;
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    for (std::size_t j = i + 1; j < gpus.size(); ++j) {
      const unsigned straight = count_to(gpus[i], gpus[j].pci_address);
      const unsigned switched = std::min(count_to_switches(gpus[i]), count_to_switches(gpus[j]));
      if (straight + switched == 0) continue;
      joined.push_back({gpus[i].pci_address, gpus[j].pci_address, straight + switched});
    }
  }
  return joined;
}

void ask_driver(host::Inventory& inventory, std::chrono::milliseconds patience,
                const char* library) {
  const bool driven = std::any_of(inventory.gpus.begin(), inventory.gpus.end(),
                                  [](const host::Gpu& gpu) { return gpu.driver == "nvidia"; });
  if (!driven) return;
  const Answer answer = ask_within(library, patience);
  // What sysfs does not show has been asked for now.
  std::erase_if(inventory.unseen,
                [](const std::string& sentence) { return sentence.rfind("NVLink", 0) == 0; });
  if (!answer) {
    inventory.unseen.push_back("NVLink between the GPUs: " + answer.error().message + ".");
    return;
  }
  inventory.nvlinks = join_links(*answer);
  for (const GpuLinks& known : *answer) {
    for (host::Gpu& gpu : inventory.gpus) {
      if (gpu.pci_address == known.pci_address && !known.name.empty()) gpu.model = known.name;
    }
  }
}

}  // namespace gdr::topo
