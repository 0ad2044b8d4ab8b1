// JSON documents as text that may be shown on a terminal, whatever the machine, peer or log that
// they tell of calls itself.
//
//   fputs(text::json_text(document, 2).c_str(), stdout);
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace gdr::text {

// `indent`: spaces for each depth; -1: all on one line. Bytes that are no UTF-8 become U+FFFD.
// What printable() would not show is written as \u escapes: the same value to every reader.
std::string json_text(const nlohmann::ordered_json& document, int indent);

}  // namespace gdr::text
