#include "host/pci/names.h"

extern "C" {
#include <pci/pci.h>
}
#include <dlfcn.h>
#include <setjmp.h>
#include <unistd.h>

namespace gdr::host {
namespace {

// Where distributions keep the file. libpci only knows its own distribution's path, which differs
// if the library was carried to this machine.
constexpr const char* kPlaces[] = {"/usr/share/misc/pci.ids", "/usr/share/hwdata/pci.ids",
                                   "/usr/share/pci.ids", "/var/lib/pciutils/pci.ids"};

// libpci ends the process where its error function returns, so this one does not: it jumps back
// over frames of C, which have nothing to destroy.
thread_local jmp_buf on_error;

__attribute__((noreturn)) void fail(char* /*message*/, ...) { longjmp(on_error, 1); }
void ignore(char* /*message*/, ...) {}

// Loaded when the first name is wanted. Nothing links it, so that the program also starts where it
// is missing, and that a program built here needs no library but the C library elsewhere.
struct Functions {
  decltype(&::pci_alloc) alloc = nullptr;
  decltype(&::pci_cleanup) cleanup = nullptr;
  decltype(&::pci_set_name_list_path) set_name_list_path = nullptr;
  decltype(&::pci_lookup_name) lookup_name = nullptr;

  bool complete() const {
    return alloc != nullptr && cleanup != nullptr && set_name_list_path != nullptr &&
           lookup_name != nullptr;
  }
};

template <typename Function>
void resolve(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
}

Functions load() {
  Functions functions;
  void* handle = dlopen("libpci.so.3", RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return functions;
  resolve(handle, "pci_alloc", functions.alloc);
  resolve(handle, "pci_cleanup", functions.cleanup);
  resolve(handle, "pci_set_name_list_path", functions.set_name_list_path);
  resolve(handle, "pci_lookup_name", functions.lookup_name);
  return functions;
}

const Functions& libpci() {
  static const Functions functions = load();
  return functions;
}

pci_access* allocate() { return libpci().complete() ? libpci().alloc() : nullptr; }

// False: the library has failed and is not to be used again.
bool look_up(pci_access* access, char* buffer, int size, int flags, int vendor, int device,
             const char** name) {
  const Functions& library = libpci();
  if (!library.complete() || setjmp(on_error) != 0) return false;
  *name = library.lookup_name(access, buffer, size,
                              flags | PCI_LOOKUP_NO_NUMBERS | PCI_LOOKUP_NO_HWDB, vendor, device);
  return true;
}

void clean_up(pci_access* access) {
  const Functions& library = libpci();
  if (!library.complete() || setjmp(on_error) != 0) return;
  library.cleanup(access);
}

}  // namespace

struct PciNames::Library {
  pci_access* access = nullptr;
  bool has_failed = false;
  std::string path;  // libpci keeps no copy of it

  explicit Library(std::string given) : access(allocate()), path(std::move(given)) {
    const Functions& library = libpci();
    if (access == nullptr || !library.complete()) return;
    access->error = fail;
    access->warning = ignore;
    access->debug = ignore;
    if (!path.empty()) library.set_name_list_path(access, path.data(), 0);
  }
  ~Library() {
    if (access != nullptr) clean_up(access);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  std::string name(int flags, int vendor, int device) {
    if (access == nullptr || has_failed) return {};
    char buffer[256];
    const char* found = nullptr;
    if (!look_up(access, buffer, sizeof(buffer), flags, vendor, device, &found)) has_failed = true;
    return found == nullptr ? std::string() : std::string(found);
  }
};

PciNames::PciNames() {
  std::string found;
  for (const char* place : kPlaces) {
    if (found.empty() && access(place, R_OK) == 0) found = place;
  }
  library_ = std::make_unique<Library>(found);
}
PciNames::PciNames(const std::string& path) : library_(std::make_unique<Library>(path)) {}
PciNames::~PciNames() = default;

std::string PciNames::vendor(std::uint16_t vendor) {
  return library_->name(PCI_LOOKUP_VENDOR, vendor, 0);
}

std::string PciNames::device(std::uint16_t vendor, std::uint16_t device) {
  return library_->name(PCI_LOOKUP_DEVICE, vendor, device);
}

}  // namespace gdr::host
