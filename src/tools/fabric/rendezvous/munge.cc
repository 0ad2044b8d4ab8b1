#include "fabric/rendezvous/munge.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/types.h>
#include <unistd.h>

#include <cstdlib>
#include <memory>

namespace gdr::fabric {
namespace {

constexpr const char* kName = "libmunge.so.2";

// As in munge.h of MUNGE 0.5, whose interface has not changed since 2007.
using Context = void*;
constexpr int kSuccess = 0;
constexpr int kUidRestriction = 9;  // MUNGE_OPT_UID_RESTRICTION

template <typename Function>
bool resolve(void* handle, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(handle, name));
  return function != nullptr;
}

}  // namespace

struct Munge::Library {
  int (*encode)(char** credential, Context context, const void* text, int length) = nullptr;
  int (*decode)(const char* credential, Context context, void** text, int* length, uid_t* user,
                gid_t* group) = nullptr;
  const char* (*error_text)(int error) = nullptr;
  Context (*create)() = nullptr;
  void (*destroy)(Context context) = nullptr;
  int (*set)(Context context, int option, ...) = nullptr;

  bool load() {
    void* handle = dlopen(kName, RTLD_NOW | RTLD_LOCAL);
    return handle != nullptr && resolve(handle, "munge_encode", encode) &&
           resolve(handle, "munge_decode", decode) &&
           resolve(handle, "munge_strerror", error_text) &&
           resolve(handle, "munge_ctx_create", create) &&
           resolve(handle, "munge_ctx_destroy", destroy) && resolve(handle, "munge_ctx_set", set);
  }
};

Result<Munge> Munge::open() {
  static Library library;
  static const bool is_loaded = library.load();
  if (!is_loaded) {
    return Error{ENOENT,
                 fmt::format("there is no {} (Debian: libmunge2, Fedora: munge-libs)", kName)};
  }
  const Munge munge(&library);
  const Result<std::string> tried = munge.seal("");
  if (!tried) return Error{ENOENT, tried.error().message};
  return munge;
}

Result<std::string> Munge::seal(std::string_view text) const {
  const std::unique_ptr<void, void (*)(Context)> context(library_->create(), library_->destroy);
  if (!context) return Error{ENOMEM, "munge: out of memory"};
  char* credential = nullptr;
  int error = library_->set(context.get(), kUidRestriction, geteuid());
  if (error == kSuccess) {
    error =
        library_->encode(&credential, context.get(), text.data(), static_cast<int>(text.size()));
  }
  const std::unique_ptr<char, void (*)(void*)> owner(credential, std::free);
  if (error != kSuccess) return Error{EIO, fmt::format("munge: {}", library_->error_text(error))};
  return std::string(credential);
}

Result<std::string> Munge::unseal(const std::string& credential) const {
  void* text = nullptr;
  int length = 0;
  uid_t user = 0;
  gid_t group = 0;
  const int error = library_->decode(credential.c_str(), nullptr, &text, &length, &user, &group);
  // Also text that failed a check is handed out.
  const std::unique_ptr<void, void (*)(void*)> owner(text, std::free);
  if (error != kSuccess) {
    return Error{EACCES, fmt::format("munge: {}", library_->error_text(error))};
  }
  if (user != geteuid()) {
    return Error{EACCES, fmt::format("munge: it is user {}'s, and this process is user {}'s", user,
                                     geteuid())};
  }
  return std::string(static_cast<const char*>(text), static_cast<std::size_t>(length));
}

}  // namespace gdr::fabric
