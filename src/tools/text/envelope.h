// What every JSON document of gdr begins with, whichever subcommand wrote it: which document it is,
// which gdr wrote it, where and when. docs/command-line.md describes it.
//
//   nlohmann::ordered_json document = text::envelope("gdr perf compare", 1, provenance);
//   document.update({{"base", base}, {"others", others}});
//   // {"schema": "gdr.perf.compare/1", "tool": "gdr perf compare", "version": "0.2.0", ...}
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace gdr::text {

struct Provenance {
  std::string version;  // gdr's: "0.2.0", "0.2.0+g7a19af9"
  std::string commit;   // "7a19af9", "7a19af9-dirty", "unknown"
  std::string host;     // on which it ran
  std::string date;     // when it was started: "2026-11-22T08:15:00Z"
};

// "gdr perf compare", 1 -> "gdr.perf.compare/1". The number increases when a field is removed or
// changes its meaning; fields may be added without.
std::string schema_name(std::string_view tool, int number);

// An object with the fields schema, tool, version, commit, host and date, in this order.
nlohmann::ordered_json envelope(std::string_view tool, int number, const Provenance& provenance);

}  // namespace gdr::text
