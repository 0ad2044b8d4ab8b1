#include "cli/run_render.h"

#include <algorithm>
#include <filesystem>
#include <string_view>

#include "base/environment.h"

namespace gdr::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNodePrefix = "renderD";
constexpr int kFirstNode = 128, kLastNode = 191;  // the kernel's, of render nodes
constexpr const char* kRenderLibrary = "/render/libgdr-render.so";

// -1: none.
int node_number(std::string_view digits) {
  const Result<std::uint64_t> number = parse_number(digits, kFirstNode, kLastNode);
  return number ? static_cast<int>(*number) : -1;
}

}  // namespace

std::optional<RenderNodes> find_render_nodes(const std::string& stand_ins,
                                             const std::string& folder,
                                             const std::optional<std::string>& outer) {
  const std::string library = stand_ins + kRenderLibrary;
  std::error_code error;
  if (!fs::exists(library, error)) return std::nullopt;
  const int first_of_outer = outer ? node_number(*outer) : -1;
  int first = kFirstNode;
  for (fs::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    const std::string name = entry->path().filename();
    if (!name.starts_with(kNodePrefix)) continue;
    const int number = node_number(std::string_view(name).substr(kNodePrefix.size()));
    if (first_of_outer < 0 || number < first_of_outer) first = std::max(first, number + 1);
  }
  if (first > kLastNode) return std::nullopt;
  return RenderNodes{library, first};
}

}  // namespace gdr::cli
