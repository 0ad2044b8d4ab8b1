#include "presence/render_nodes.h"

namespace gdr::presence {

std::vector<Entry> make_render_nodes(const render::Shown& shown) {
  std::vector<Entry> entries;
  for (int number = shown.first; number < shown.first + shown.count; ++number) {
    entries.push_back(
        {Entry::Kind::kDevice, std::string(render::kPrefix) + std::to_string(number), ""});
  }
  return entries;
}

std::string make_render_places(const render::Shown& shown) {
  if (shown.count == 0) return "";
  const std::string folder(render::kFolder);
  // A machine without graphics does not have the folder at all.
  std::string text;
  for (const char* itself : {"", "/.", "/.."}) text += "list " + folder + itself + "\n";
  for (const Entry& entry : make_render_nodes(shown)) text += "all " + entry.path + "\n";
  return text;
}

}  // namespace gdr::presence
