#include "cli/run_ports.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "ports/attributes.h"
#include "ports/port_text.h"

namespace gdr::cli {
namespace {

namespace fs = std::filesystem;

// "0067:64ff:fe72:0001"; 0 for anything else.
std::uint64_t guid_in(const fs::path& file) {
  std::ifstream stream(file);
  std::string line;
  std::getline(stream, line);
  std::erase(line, ':');
  constexpr std::size_t kDigits = 16;
  if (line.size() != kDigits || line.find_first_not_of("0123456789abcdef") != std::string::npos) {
    return 0;
  }
  return std::stoull(line, nullptr, 16);
}

}  // namespace

PortRefresher::PortRefresher(const std::string& root, std::string folder)
    : folder_(std::move(folder)) {
  std::error_code error;
  const fs::path shown = root + "/sys/class/infiniband";
  for (fs::directory_iterator entry(shown, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path device = entry->path(), port = device / "ports/1";
    char file[ports::kMostFileName];
    std::error_code ignored;
    if (!fs::is_directory(port / "counters", ignored) ||
        !ports::make_file_name(device.filename().c_str(), guid_in(device / "node_guid"), file)) {
      continue;
    }
    UniqueFd opened(open(port.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (!opened) continue;
    shown_.push_back({file, std::move(opened), {}});
    // What is shown first: of the preloaded library's files nobody knows what they hold.
    shown_.back().values.assign(ports::attributes().size(), ~std::uint64_t{0});
  }
}

void PortRefresher::refresh() {
  for (Shown& one : shown_) {
    ports::PortValues values;
    if (!ports::read_port(folder_.c_str(), one.file.c_str(), &values)) continue;
    for (std::size_t i = 0; i < one.values.size(); ++i) {
      const ports::Attribute& attribute = ports::attributes()[i];
      const std::uint64_t value = attribute.value(values);
      if (value == one.values[i]) continue;
      const std::string file = fmt::format("{}/{}", attribute.folder, attribute.name);
      if (ports::write_value(one.port.get(), file.c_str(), value)) one.values[i] = value;
    }
  }
}

}  // namespace gdr::cli
