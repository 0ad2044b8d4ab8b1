#include "perf/secret.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <set>

#include "base/unique_fd.h"

namespace gdr::perf {
namespace {

constexpr std::size_t kLeast = 16, kMost = 4096;  // bytes
constexpr std::size_t kLeastDifferent = 8;        // of them
constexpr const char* kMakeOne = "make one: (umask 077; head -c 32 /dev/urandom | base64 > FILE)";

Error unfit(const std::string& path, int code, const std::string& why) {
  return {code, "--secret " + path + ": " + why};
}

}  // namespace

Result<Secret> Secret::read(const std::string& path) {
  // Without waiting for whoever would write into a pipe.
  const UniqueFd fd(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!fd) return unfit(path, EINVAL, strerror(errno));
  struct stat status {};
  if (fstat(fd.get(), &status) != 0) return unfit(path, EINVAL, strerror(errno));
  if (!S_ISREG(status.st_mode)) return unfit(path, EINVAL, "not an ordinary file");
  if (status.st_uid != geteuid() && status.st_uid != 0) {
    return unfit(path, EACCES, "belongs to another user, who may know the secret");
  }
  if ((status.st_mode & (S_IRWXG | S_IRWXO)) != 0) {
    return unfit(path, EACCES, "other users may read or change it; type: chmod 600 " + path);
  }
  std::vector<std::uint8_t> text(kMost + 1);
  std::size_t length = 0;
  while (length < text.size()) {
    const ssize_t got = ::read(fd.get(), text.data() + length, text.size() - length);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return unfit(path, EINVAL, strerror(errno));
    if (got == 0) break;
    length += static_cast<std::size_t>(got);
  }
  if (length > kMost) return unfit(path, EINVAL, "longer than 4096 bytes");
  while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == '\r')) --length;
  if (length < kLeast) {
    return unfit(path, EINVAL,
                 std::string("shorter than 16 bytes, so it could be guessed; ") + kMakeOne);
  }
  text.resize(length);
  const std::size_t different = std::set(text.begin(), text.end()).size();
  if (different < kLeastDifferent) {
    return unfit(path, EINVAL,
                 "only " + std::to_string(different) +
                     " different characters, so it could be guessed; " + kMakeOne);
  }
  return Secret(std::move(text));
}

Result<std::optional<Secret>> Secret::read_given(const std::optional<std::string>& path) {
  if (!path) return std::optional<Secret>();
  Result<Secret> secret = read(*path);
  if (!secret) return secret.error();
  return std::optional<Secret>(*std::move(secret));
}

Digest Secret::key_for(std::string_view purpose) const {
  process::Hmac hmac(text_);
  hmac.add(purpose);
  return hmac.end();
}

}  // namespace gdr::perf
