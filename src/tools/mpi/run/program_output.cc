#include "mpi/run/program_output.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "mpi/run/counters.h"

namespace gdr::mpi_run {
namespace {

using nlohmann::json;

std::vector<RankCounters> counters_in(const json& list) {
  std::vector<RankCounters> all;
  for (const json& one : list) {
    Result<RankCounters> counters = read_counters(one);
    if (counters) all.push_back(*std::move(counters));
  }
  return all;
}

// Nothing where not every rank has counters.
std::optional<Moved> moved_in(const json& object) {
  const std::vector<RankCounters> before = counters_in(object.at("before")),
                                  after = counters_in(object.at("after"));
  if (before.empty() || before.size() != after.size() ||
      after.size() != object.at("after").size()) {
    return std::nullopt;
  }
  return difference(before, after);
}

std::optional<WrongValue> first_wrong_in(const json& list) {
  for (const json& one : list) {
    if (!one.is_object()) continue;
    return WrongValue{one.at("rank").get<int>(), one.at("place").get<std::uint64_t>(),
                      one.at("of").get<std::uint64_t>(), one.at("found").get<int>(),
                      one.at("expected").get<int>()};
  }
  return std::nullopt;
}

std::optional<Row> row_in(const json& object) {
  const auto measure = measure_named(object.at("measure").get<std::string>());
  const auto from = memory_named(object.at("from").get<std::string>());
  const auto to = memory_named(object.at("to").get<std::string>());
  if (!measure || !from || !to) return std::nullopt;
  Row row;
  row.measure = *measure;
  row.from = *from;
  row.to = *to;
  row.size = object.at("size").get<std::uint64_t>();
  row.repetitions = object.at("repetitions").get<std::vector<double>>();
  row.seconds = object.at("seconds").get<double>();
  row.sent = object.at("sent").get<std::uint64_t>();
  row.compared = object.at("compared").get<std::uint64_t>();
  row.wrong = object.at("wrong").get<std::uint64_t>();
  row.copied_to_host = object.at("copied_to_host").get<std::uint64_t>();
  row.copied_to_gpu = object.at("copied_to_gpu").get<std::uint64_t>();
  row.first_wrong = first_wrong_in(object.at("wrong_of"));
  row.moved = moved_in(object);
  return row;
}

void read_head(const json& object, Program& program) {
  program.library = object.at("library").get<std::string>();
  program.standard = object.at("standard").get<std::string>();
  program.ranks = object.at("ranks").get<int>();
  program.gpus = object.at("gpus").get<bool>();
  program.gpu_name = object.at("gpu_name").get<std::string>();
  program.why_no_gpu = object.at("why_no_gpu").get<std::string>();
  const int support = object.at("cuda_support").get<int>();
  if (support >= 0) program.cuda_support = support != 0;
  for (const json& place : object.at("places")) {
    const std::string host = place.at("host").get<std::string>();
    if (std::find(program.hosts.begin(), program.hosts.end(), host) == program.hosts.end()) {
      program.hosts.push_back(host);
    }
  }
  program.idle_seconds = object.at("seconds").get<double>();
  program.idle = moved_in(object);
}

}  // namespace

bool ProgramOutput::take_object(const json& object) {
  if (object.contains("gdr_mpi")) {
    read_head(object, program_);
  } else if (object.contains("measure")) {
    std::optional<Row> row = row_in(object);
    if (!row) return false;
    program_.rows.push_back(*std::move(row));
  } else if (object.contains("problem")) {
    if (program_.problem.empty()) program_.problem = object.at("problem").get<std::string>();
  } else if (object.contains("done")) {
    program_.done = object.at("done").get<bool>();
  } else {
    return false;
  }
  return true;
}

bool ProgramOutput::take(std::string_view line) {
  const std::size_t begin = line.find("{\"");
  if (begin == std::string_view::npos) return false;
  const json object = json::parse(line.substr(begin), nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) return false;
  try {
    return take_object(object);
  } catch (const json::exception&) {
    return false;  // JSON of somebody else
  }
}

}  // namespace gdr::mpi_run
