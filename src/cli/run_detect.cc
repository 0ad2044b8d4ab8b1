#include "cli/run_detect.h"

#include <dlfcn.h>

#include <filesystem>
#include <fstream>

namespace gdr::cli {
namespace {

namespace fs = std::filesystem;

bool has_entries(const fs::path& folder) {
  std::error_code error;
  fs::directory_iterator entries(folder, error);
  return !error && entries != fs::directory_iterator();
}

std::string first_word(const fs::path& file) {
  std::ifstream stream(file);
  std::string word;
  stream >> word;
  return word;
}

bool has_nvidia_display_device(const fs::path& pci_devices) {
  std::error_code error;
  fs::directory_iterator entries(pci_devices, error);
  if (error) return false;
  for (const fs::directory_entry& entry : entries) {
    // Class 0x03....: display controller, which excludes the NVSwitches and audio functions.
    if (first_word(entry.path() / "vendor") == "0x10de" &&
        first_word(entry.path() / "class").rfind("0x03", 0) == 0) {
      return true;
    }
  }
  return false;
}

// A PCI device without /dev/nvidiactl usually means that the driver is not loaded; cuInit knows.
bool cuda_works() {
  void* library = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return false;
  auto* init = reinterpret_cast<int (*)(unsigned)>(dlsym(library, "cuInit"));
  return init != nullptr && init(0) == 0;
}

}  // namespace

Hardware detect_hardware(const std::string& root) {
  const fs::path base(root);
  std::error_code error;
  Hardware found;
  found.nic = has_entries(base / "sys/class/infiniband");
  found.gpu = fs::exists(base / "dev/nvidiactl", error) ||
              (has_nvidia_display_device(base / "sys/bus/pci/devices") && cuda_works());
  return found;
}

}  // namespace gdr::cli
