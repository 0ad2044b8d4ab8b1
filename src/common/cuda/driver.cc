#include "cuda/driver.h"

#include <dlfcn.h>
#include <link.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>

namespace gdr::cuda {
namespace {

constexpr char kLibrary[] = "libcuda.so.1";

// One table per library, kept for the life of the process: threads that outlive main() still call
// through it.
std::mutex& tables_lock() {
  static auto* lock = new std::mutex;
  return *lock;
}
std::map<void*, const Driver*>& tables() {
  static auto* all = new std::map<void*, const Driver*>;
  return *all;
}

std::string path_of(void* library, const char* name) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) == 0 && map != nullptr && map->l_name != nullptr &&
      map->l_name[0] != '\0') {
    return map->l_name;
  }
  return name;
}

template <typename Function>
bool find(void* library, const char* symbol, Function*& member) {
  member = reinterpret_cast<Function*>(dlsym(library, symbol));
  return member != nullptr;
}

// How many libraries the process has loaded so far.
unsigned long long libraries_loaded() {
  unsigned long long loaded = 0;
  dl_iterate_phdr(
      [](dl_phdr_info* first, std::size_t, void* found) {
        *static_cast<unsigned long long*>(found) = first->dlpi_adds;
        return 1;  // every library tells the same
      },
      &loaded);
  return loaded;
}

}  // namespace

Result<const Driver*> Driver::resolve(void* library, const char* name) {
  std::lock_guard guard(tables_lock());
  if (auto known = tables().find(library); known != tables().end()) {
    dlclose(library);  // only the reference this call added
    return known->second;
  }
  auto driver = std::make_unique<Driver>();
  driver->path_ = path_of(library, name);
  const char* missing = nullptr;
#define GDR_CUDA_REQUIRED(member, symbol, parameters) \
  if (!find(library, #symbol, driver->member) && missing == nullptr) missing = #symbol;
#define GDR_CUDA_OPTIONAL(member, symbol, parameters) find(library, #symbol, driver->member);
#include "cuda/driver_functions.inc"
#undef GDR_CUDA_REQUIRED
#undef GDR_CUDA_OPTIONAL
  if (missing != nullptr) {
    Error error{ENOSYS, driver->path_ + ": no " + missing +
                            "; a driver of CUDA 11.2 or newer is needed, see nvidia-smi"};
    dlclose(library);
    return error;
  }
  return tables()[library] = driver.release();
}

Result<const Driver*> Driver::load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* reason = dlerror();
    return Error{
        ENOENT, std::string("cannot load the CUDA driver: ") + (reason != nullptr ? reason : path)};
  }
  return resolve(library, path);
}

const Driver* Driver::already_loaded() {
  // Only success is remembered: the process may load CUDA later.
  static std::atomic<const Driver*> found{nullptr};
  if (const Driver* driver = found.load(std::memory_order_acquire)) return driver;
  // The loader looks through the file system for a library that is not loaded, which takes longer
  // than to register memory does. So it is asked again only when another library has been loaded.
  static std::atomic<unsigned long long> not_among{0};
  const unsigned long long loaded = libraries_loaded();
  if (not_among.load(std::memory_order_relaxed) == loaded) return nullptr;
  void* library = dlopen(kLibrary, RTLD_NOW | RTLD_NOLOAD);
  if (library == nullptr) {
    dlerror();  // the application must not find our failure in its own dlerror()
    not_among.store(loaded, std::memory_order_relaxed);
    return nullptr;
  }
  Result<const Driver*> driver = resolve(library, kLibrary);
  if (!driver) return nullptr;
  found.store(*driver, std::memory_order_release);
  return *driver;
}

std::string Driver::describe(CUresult result) const {
  const char* name = nullptr;
  const char* text = nullptr;
  get_error_name(result, &name);
  get_error_string(result, &text);
  std::string number = "(" + std::to_string(static_cast<int>(result)) + ")";
  if (name == nullptr || text == nullptr) return "unknown CUresult " + number;
  return std::string(name) + " " + number + ": " + text;
}

}  // namespace gdr::cuda
