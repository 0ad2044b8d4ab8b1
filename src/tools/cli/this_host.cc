#include "cli/this_host.h"

#include <limits.h>
#include <time.h>
#include <unistd.h>

#include <array>

#include "version/version.h"

namespace gdr::cli {
namespace {

const time_t kStarted = time(nullptr);

std::string formatted(time_t moment, const char* format) {
  tm parts{};
  std::array<char, 32> text{};
  gmtime_r(&moment, &parts);
  strftime(text.data(), text.size(), format, &parts);
  return text.data();
}

}  // namespace

std::string name_of_this_host() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string time_now() { return formatted(time(nullptr), "%Y-%m-%d %H:%M UTC"); }

text::Provenance provenance() {
  return {program_version(), program_commit(), name_of_this_host(),
          formatted(kStarted, "%Y-%m-%dT%H:%M:%SZ")};
}

}  // namespace gdr::cli
