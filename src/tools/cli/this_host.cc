#include "cli/this_host.h"

#include <limits.h>
#include <time.h>
#include <unistd.h>

#include <array>

namespace gdr::cli {

std::string name_of_this_host() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

std::string time_now() {
  const time_t now = time(nullptr);
  tm parts{};
  std::array<char, 32> text{};
  gmtime_r(&now, &parts);
  strftime(text.data(), text.size(), "%Y-%m-%d %H:%M UTC", &parts);
  return text.data();
}

bool is_markdown_name(const std::string& file) {
  return file.ends_with(".md") || file.ends_with(".markdown");
}

bool is_report_name(const std::string& file) {
  return is_markdown_name(file) || file.ends_with(".html") || file.ends_with(".htm");
}

}  // namespace gdr::cli
