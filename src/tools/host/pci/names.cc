#include "host/pci/names.h"

extern "C" {
#include <pci/pci.h>
}
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

// False: the library has failed and is not to be used again.
bool look_up(pci_access* access, char* buffer, int size, int flags, int vendor, int device,
             const char** name) {
  if (setjmp(on_error) != 0) return false;
  *name = pci_lookup_name(access, buffer, size, flags | PCI_LOOKUP_NO_NUMBERS | PCI_LOOKUP_NO_HWDB,
                          vendor, device);
  return true;
}

void clean_up(pci_access* access) {
  if (setjmp(on_error) != 0) return;
  pci_cleanup(access);
}

}  // namespace

struct PciNames::Library {
  pci_access* access = nullptr;
  bool has_failed = false;
  std::string path;  // libpci keeps no copy of it

  explicit Library(std::string given) : access(pci_alloc()), path(std::move(given)) {
    if (access == nullptr) return;
    access->error = fail;
    access->warning = ignore;
    access->debug = ignore;
    if (!path.empty()) pci_set_name_list_path(access, path.data(), 0);
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
