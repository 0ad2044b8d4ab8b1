#include "text/envelope.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace gdr::text {

std::string schema_name(std::string_view tool, int number) {
  std::string name(tool);
  std::replace(name.begin(), name.end(), ' ', '.');
  return fmt::format("{}/{}", name, number);
}

nlohmann::ordered_json envelope(std::string_view tool, int number, const Provenance& provenance) {
  return {{"schema", schema_name(tool, number)},
          {"tool", tool},
          {"version", provenance.version},
          {"commit", provenance.commit},
          {"host", provenance.host},
          {"date", provenance.date}};
}

}  // namespace gdr::text
