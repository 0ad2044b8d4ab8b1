// A small, strict reader of XML for the files that describe machines: elements, attributes, text,
// comments. No entities but the five of XML and numbers, no definitions inside a DOCTYPE, and no
// document larger or deeper than a machine's can be.
//
//   Result<XmlElement> topology = read_xml(text);
//   if (topology && topology->name == "topology") ...
//
// libhwloc is not used for its own format: its reader crashes on some malformed files and prints to
// standard error on others, and a capture comes from anybody.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"

namespace gdr::host {

struct XmlElement {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;
  std::string text;  // all that lies between the tags
  std::vector<XmlElement> children;
  std::size_t line = 0;

  // Empty: not there.
  std::string_view attribute(std::string_view wanted) const;
};

// The document's one element. The error says in which line what was found.
Result<XmlElement> read_xml(std::string_view document);

}  // namespace gdr::host
