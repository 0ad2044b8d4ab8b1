#include <nlohmann/json.hpp>

#include "perf/compare.h"

namespace gdr::perf {
namespace {

using nlohmann::ordered_json;

const char* unit_of(Measure measure) {
  switch (measure) {
    case Measure::kLatency:
      return "ns";
    case Measure::kRate:
      return "messages/s";
    default:
      return "bytes/s";
  }
}

ordered_json load_json(const Load& load) {
  return {{"operation", name_of(load.operation)},
          {"transport", name_of(load.transport)},
          {"measure", name_of(load.measure)},
          {"size", load.size},
          {"near", text_of(load.near)},
          {"far", text_of(load.far)},
          {"way", name_of(load.way)},
          {"both_ways", load.both_ways},
          {"shared_receives", load.shared_receives},
          {"events", load.events},
          {"check", load.check},
          {"huge_pages", load.huge_pages},
          {"queue_pairs", load.queue_pairs},
          {"threads", load.threads},
          {"depth", load.depth},
          {"batch", load.batch},
          {"signal_every", load.signal_every},
          {"inline_bytes", load.inline_bytes},
          {"path_mtu", load.path_mtu},
          {"service_level", load.service_level},
          {"traffic_class", load.traffic_class}};
}

ordered_json figure_json(const Figure& figure) {
  return {{"median", figure.median},
          {"least", figure.least},
          {"most", figure.most},
          {"spread", figure.spread},
          {"repetitions", figure.repetitions}};
}

ordered_json row_json(const ComparedRow& row) {
  const Difference& found = row.difference;
  return {
      {"load", load_json(row.load)},     {"unit", unit_of(row.load.measure)},
      {"base", figure_json(row.base)},   {"other", figure_json(row.other)},
      {"difference", found.share},       {"interval", {found.interval.low, found.interval.high}},
      {"confidence", kConfidence},       {"p", found.p},
      {"verdict", name_of(row.verdict)}, {"remarks", row.remarks}};
}

ordered_json unmatched_json(const std::vector<UnmatchedRow>& rows) {
  ordered_json json = ordered_json::array();
  for (const UnmatchedRow& row : rows) {
    json.push_back({{"load", load_json(row.load)}, {"reason", row.reason}});
  }
  return json;
}

ordered_json source_json(const Source& source) {
  return {{"file", source.file}, {"date", source.date}, {"command", source.command}};
}

ordered_json comparison_json(const Comparison& comparison) {
  ordered_json json = source_json(comparison.other);
  json["unlike"] = ordered_json::array();
  for (const Unlike& one : comparison.unlike) {
    json["unlike"].push_back({{"what", one.what}, {"base", one.base}, {"other", one.other}});
  }
  json["rows"] = ordered_json::array();
  for (const ComparedRow& row : comparison.rows) json["rows"].push_back(row_json(row));
  json["only_base"] = unmatched_json(comparison.only_base);
  json["only_other"] = unmatched_json(comparison.only_other);
  return json;
}

}  // namespace

std::string to_json(std::span<const Comparison> comparisons) {
  ordered_json json{{"base", nullptr}, {"others", ordered_json::array()}};
  for (const Comparison& comparison : comparisons) {
    json["base"] = source_json(comparison.base);
    json["others"].push_back(comparison_json(comparison));
  }
  // A command line need not be UTF-8.
  return json.dump(2, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace gdr::perf
