#include "fabric/output/measurement_row.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "fabric/output/json_fields.h"

namespace gdr::fabric {
namespace {

using nlohmann::json;

constexpr std::size_t kFields = std::size(kMeasurementFields);

// A document has no number that is not finite.
float finite(float value) { return std::isfinite(value) && value > 0 ? value : 0; }

template <typename T>
bool read_whole(const json& value, T& field) {
  if (!value.is_number_unsigned()) return false;
  const auto number = value.get<std::uint64_t>();
  if (number > std::numeric_limits<T>::max()) return false;
  field = static_cast<T>(number);
  return true;
}

bool read_amount(const json& value, float& field) {
  const double number = value.is_number() ? value.get<double>() : NAN;
  if (!(number >= 0 && number <= 1e18)) return false;
  field = static_cast<float>(number);
  return true;
}

bool read_outcome(const json& value, Outcome& field) {
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  for (int i = 0; i <= static_cast<int>(kLast<Outcome>); ++i) {
    if (text != name_of(static_cast<Outcome>(i))) continue;
    field = static_cast<Outcome>(i);
    return true;
  }
  return false;
}

}  // namespace

std::string row_of(const Measurement& one) {
  return fmt::format("[{},{},{},{},{},\"{}\",{},{},{}]", one.from, one.to, one.round, one.rail,
                     one.far_rail, name_of(one.outcome), one.is_retest,
                     finite(one.bytes_per_second), finite(one.latency));
}

std::string rows_of(std::span<const Measurement> measurements, const char* between) {
  std::string text = "[";
  text.reserve(measurements.size() * 48);
  for (std::size_t i = 0; i < measurements.size(); ++i) {
    if (i > 0) text += between;
    text += row_of(measurements[i]);
  }
  return text + "]";
}

std::string field_names() { return json(kMeasurementFields).dump(); }

std::string read_row(const json& row, Measurement& one) {
  if (!row.is_array() || row.size() != kFields) {
    return fmt::format(" must be a list of {} values", kFields);
  }
  const bool right[kFields] = {read_whole(row[0], one.from),
                               read_whole(row[1], one.to),
                               read_whole(row[2], one.round),
                               read_whole(row[3], one.rail),
                               read_whole(row[4], one.far_rail),
                               read_outcome(row[5], one.outcome),
                               row[6].is_boolean(),
                               read_amount(row[7], one.bytes_per_second),
                               read_amount(row[8], one.latency)};
  for (std::size_t i = 0; i < kFields; ++i) {
    if (!right[i]) return fmt::format("[{}] is no {}", i, kMeasurementFields[i]);
  }
  one.is_retest = row[6].get<bool>();
  return "";
}

}  // namespace gdr::fabric
