#include "rdma/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include <map>
#include <memory>

// <infiniband/verbs.h> turns these names into macros that call the library.
#undef ibv_query_port
#undef ibv_reg_mr

namespace gdr::rdma {
namespace {

std::string loader_message() {
  const char* text = dlerror();
  return text ? text : "unknown error";
}

std::string path_of(void* handle, const std::string& fallback) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0 || !map || !map->l_name[0]) return fallback;
  return map->l_name;
}

Result<void*> symbol(void* handle, const std::string& path, const char* name, const char* version) {
  if (void* address = dlvsym(handle, name, version)) return address;
  return Error{ENOSYS, path + " has no " + name + "@" + version +
                           "; install rdma-core 39 or newer (Debian: apt-get install libibverbs1)"};
}

}  // namespace

Error verbs_error(const char* call, int code) {
  return {code,
          std::string(call) + ": " + strerror(code) + " (errno " + std::to_string(code) + ")"};
}

Result<const Library*> Library::load(const std::string& path) {
  // One Library per path: loading again gives the same one.
  static std::map<std::string, std::unique_ptr<const Library>> loaded;
  if (auto known = loaded.find(path); known != loaded.end()) return known->second.get();

  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    return Error{ENOENT,
                 "cannot load " + path + ": " + loader_message() +
                     "; install it (Debian: apt-get install libibverbs1 ibverbs-providers)"};
  }
  auto library = std::make_unique<Library>();
  library->path_ = path_of(handle, path);
#define GDR_VERBS_FUNCTION(member, name, version)                            \
  {                                                                          \
    Result<void*> address = symbol(handle, library->path_, #name, version);  \
    if (!address) return address.error();                                    \
    library->member = reinterpret_cast<decltype(library->member)>(*address); \
  }
#include "rdma/verbs_functions.inc"
#undef GDR_VERBS_FUNCTION
  const Library* result = library.get();
  loaded.emplace(path, std::move(library));
  return result;
}

Result<std::vector<std::string>> Library::device_names() const {
  int count = 0;
  ibv_device** list = get_device_list(&count);
  if (!list) return verbs_error("ibv_get_device_list", errno);
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) names.emplace_back(get_device_name(list[i]));
  free_device_list(list);
  return names;
}

}  // namespace gdr::rdma
