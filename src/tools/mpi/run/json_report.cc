#include "mpi/run/json_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "text/csv_cell.h"
#include "text/json_text.h"

namespace gdr::mpi_run {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1, kIndent = 2;

template <typename Value>
Json or_null(const std::optional<Value>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json nics_of(const Moved& moved) {
  Json nics = Json::array();
  for (const auto& [name, port] : moved.nics) {
    nics.push_back({{"name", name}, {"bytes_out", port.out}, {"bytes_in", port.in}});
  }
  return nics;
}

Json counters_of(const std::optional<Moved>& moved) {
  if (!moved) return nullptr;
  return {{"nics", nics_of(*moved)},
          {"posted_bytes", moved->posted},
          {"posted_gpu_bytes", moved->posted_gpu},
          {"copied_to_host_bytes", moved->copied_to_host},
          {"copied_to_gpu_bytes", moved->copied_to_gpu},
          {"gpu_regions", moved->gpu_regions},
          {"gpu_refused", moved->gpu_refused.empty() ? Json(nullptr) : Json(moved->gpu_refused)}};
}

Json wrong_of(const std::optional<WrongValue>& wrong) {
  if (!wrong) return nullptr;
  return {{"rank", wrong->rank},
          {"place", wrong->place},
          {"size_bytes", wrong->size},
          {"found", wrong->found},
          {"expected", wrong->expected}};
}

const char* unit_of(Measure measure) { return is_rate(measure) ? "bytes_per_second" : "seconds"; }

// The row of `gdr perf` that a row is beside: with the same memory on both sides.
std::optional<double> perf_of(const Baseline& baseline, const Row& row) {
  return row.from == row.to ? baseline.find(row.measure, row.from, row.size) : std::nullopt;
}

Json row_of(const Row& row, const Baseline& baseline) {
  return {{"measure", name_of(row.measure)},
          {"size_bytes", row.size},
          {"from", name_of(row.from)},
          {"to", name_of(row.to)},
          {"unit", unit_of(row.measure)},
          {"median", row.median()},
          {"repetitions", row.repetitions},
          {"gdr_perf", or_null(perf_of(baseline, row))},
          {"seconds", row.seconds},
          {"sent_bytes", row.sent},
          {"compared_bytes", row.compared},
          {"wrong_bytes", row.wrong},
          {"first_wrong", wrong_of(row.first_wrong)},
          {"own_copies_to_host_bytes", row.copied_to_host},
          {"own_copies_to_gpu_bytes", row.copied_to_gpu},
          {"counters", counters_of(row.moved)}};
}

Json mpi_of(const Report& report) {
  const Program& program = report.program;
  return {{"name", program.short_name()}, {"library", program.library},
          {"standard", program.standard}, {"cuda_support", or_null(program.cuda_support)},
          {"launcher", report.launcher},  {"compiler", report.compiler},
          {"command", report.command},    {"ranks", program.ranks},
          {"hosts", program.hosts}};
}

}  // namespace

std::string to_json(const Report& report, const text::Provenance& provenance) {
  const Verdict& verdict = report.verdict;
  Json rows = Json::array(), measured = Json::array();
  for (const Row& row : report.program.rows) rows.push_back(row_of(row, report.baseline));
  for (const Baseline::Row& row : report.baseline.rows) {
    measured.push_back({{"measure", name_of(row.measure)},
                        {"memory", name_of(row.memory)},
                        {"size_bytes", row.size},
                        {"unit", unit_of(row.measure)},
                        {"value", row.value}});
  }
  Json document = text::envelope("gdr mpi run", kSchema, provenance);
  document.update(
      {{"verdict", name_of(verdict.kind)},
       {"headline", verdict.headline},
       {"reasons", verdict.reasons},
       {"exit_status", verdict.exit_status()},
       {"host_memory", name_of(verdict.host)},
       {"gpu_memory", name_of(verdict.gpu)},
       {"share_of_nic", or_null(verdict.share_of_nic)},
       {"times_staging", or_null(verdict.times_staging)},
       {"software_nic", report.soft_nic},
       {"software_gpu", report.soft_gpu},
       {"seconds", report.seconds},
       {"mpi", mpi_of(report)},
       {"gpu", report.program.gpus ? Json(report.program.gpu_name) : Json(nullptr)},
       {"idle",
        {{"seconds", report.program.idle_seconds}, {"counters", counters_of(report.program.idle)}}},
       {"gdr_perf",
        {{"near", report.baseline.near},
         {"far", report.baseline.far},
         {"problem",
          report.baseline.problem.empty() ? Json(nullptr) : Json(report.baseline.problem)},
         {"rows", measured}}},
       {"rows", rows}});
  return text::json_text(document, kIndent) + "\n";
}

std::string to_csv(const Report& report) {
  std::string text =
      "mpi,ranks,hosts,software_nic,software_gpu,measure,size_bytes,from,to,unit,median,gdr_perf,"
      "sent_bytes,compared_bytes,wrong_bytes,nic_bytes_out\r\n";
  for (const Row& row : report.program.rows) {
    const std::optional<double> perf = perf_of(report.baseline, row);
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\r\n",
                        text::csv_cell(report.program.short_name()), report.program.ranks,
                        report.program.hosts.size(), report.soft_nic, report.soft_gpu,
                        name_of(row.measure), row.size, name_of(row.from), name_of(row.to),
                        unit_of(row.measure), row.median(), perf ? fmt::format("{}", *perf) : "",
                        row.sent, row.compared, row.wrong,
                        row.moved ? std::to_string(row.moved->out()) : "");
  }
  return text;
}

}  // namespace gdr::mpi_run
