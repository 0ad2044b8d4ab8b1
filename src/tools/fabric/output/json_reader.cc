#include "fabric/output/json_reader.h"

#include "base/printable.h"
#include "fabric/output/coverage.h"
#include "fabric/output/measurement_row.h"

namespace gdr::fabric {
namespace {

using nlohmann::json;

// Ours nest half as deep. Deeper ones would only cost memory.
constexpr int kMostDeep = 16;
// Values take several times the bytes of their text.
constexpr std::size_t kMostBytes = std::size_t{1} << 30;
// Medians are kept for each host and rail: 100,000 hosts may have 40 of them each.
constexpr std::size_t kMostHostRails = 4'000'000;

bool is_too_deep_for_us(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '\\') {
      ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && (c == '[' || c == '{')) {
      if (++depth > kMostDeep) return true;
    } else if (!quoted && (c == ']' || c == '}')) {
      --depth;
    }
  }
  return false;
}

// "" or which of them is beyond the lists.
std::string beyond(const Report& report, const char* list, std::size_t index,
                   std::initializer_list<std::pair<const char*, HostIndex>> hosts,
                   std::initializer_list<std::pair<const char*, std::size_t>> rails,
                   std::size_t rail_total) {
  for (const auto& [name, host] : hosts) {
    if (host >= report.hosts.size()) {
      return fmt::format("{}[{}].{} is host {}, but there are {} hosts", list, index, name, host,
                         report.hosts.size());
    }
  }
  for (const auto& [name, rail] : rails) {
    if (rail >= rail_total) {
      return fmt::format("{}[{}].{} is rail {}, but there are {} rails", list, index, name, rail,
                         rail_total);
    }
  }
  return "";
}

}  // namespace

std::string found_text(const json& value) {
  constexpr std::size_t kMostShown = 40;
  if (value.is_structured()) return value.is_array() ? "a list" : "an object";
  const std::string text = printable(value.dump(-1, ' ', false, json::error_handler_t::replace));
  return text.size() <= kMostShown ? text : "a long text";
}

Result<json> parse_json(std::string_view text) {
  if (text.size() > kMostBytes) {
    return Error{EFBIG, fmt::format("the document has {} MB; at most {} MB are read",
                                    text.size() / 1'000'000, kMostBytes / 1'000'000)};
  }
  if (is_too_deep_for_us(text)) {
    return Error{EINVAL, fmt::format("the document is more than {} levels deep", kMostDeep)};
  }
  try {
    return json::parse(text);
  } catch (const json::parse_error& error) {
    return Error{EINVAL, error.byte > text.size()
                             ? std::string("not JSON: it ends too early")
                             : fmt::format("not JSON: error at byte {}", error.byte)};
  } catch (const json::exception&) {
    return Error{EINVAL, "not JSON: a number is too large"};
  }
}

void read_measurements(const json& rows, const std::string& path, std::vector<Measurement>& into,
                       std::string& wrong) {
  if (!wrong.empty()) return;
  if (!rows.is_array()) {
    wrong = fmt::format("{} must be a list, is {}", path, found_text(rows));
    return;
  }
  into.reserve(into.size() + rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::string problem = read_row(rows[i], into.emplace_back());
    if (problem.empty()) continue;
    wrong = fmt::format("{}[{}]{}", path, i, problem);
    return;
  }
}

std::string check_references(const Report& report) {
  const std::size_t rails = rail_count(report);
  std::string wrong;
  if (rails > 0 && report.hosts.size() > kMostHostRails / rails) {
    return fmt::format("hosts has {} hosts with up to {} rails; at most {} rails in all are read",
                       report.hosts.size(), rails, kMostHostRails);
  }
  for (std::size_t i = 0; i < report.measurements.size() && wrong.empty(); ++i) {
    const Measurement& one = report.measurements[i];
    wrong = beyond(report, "measurements", i, {{"from", one.from}, {"to", one.to}},
                   {{"rail", one.rail}, {"far_rail", one.far_rail}}, rails);
  }
  for (std::size_t i = 0; i < report.incidents.size() && wrong.empty(); ++i) {
    const Incident& one = report.incidents[i];
    wrong = beyond(report, "incidents", i, {{"from", one.from}, {"to", one.to}},
                   {{"rail", one.rail}}, rails);
  }
  for (std::size_t i = 0; i < report.findings.size() && wrong.empty(); ++i) {
    const Finding& one = report.findings[i];
    for (const HostIndex host : one.hosts) {
      if (wrong.empty()) wrong = beyond(report, "findings", i, {{"hosts", host}}, {}, rails);
    }
    if (wrong.empty() && one.rail >= 0) {
      wrong =
          beyond(report, "findings", i, {}, {{"rail", static_cast<std::size_t>(one.rail)}}, rails);
    }
  }
  // In older documents the rails of hosts that were left out count, too.
  std::size_t most = rails;
  for (const Host& host : report.hosts) most = std::max(most, host.rails.size());
  if (wrong.empty() && report.fleet.size() > most) {
    wrong = fmt::format("fleet has {} rails, but there are {}", report.fleet.size(), most);
  }
  return wrong;
}

}  // namespace gdr::fabric
