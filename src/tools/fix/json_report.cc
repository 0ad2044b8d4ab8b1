#include <algorithm>
#include <nlohmann/json.hpp>

#include "fix/report.h"
#include "text/json_text.h"

namespace gdr::fix {
namespace {

using nlohmann::ordered_json;

ordered_json of(const Value& value) { return value ? ordered_json(*value) : ordered_json(); }

ordered_json of(const Record& record) {
  ordered_json json = {{"kind", record.kind},         {"target", record.target},
                       {"identity", record.identity}, {"path", record.path},
                       {"offset", record.offset},     {"old", of(record.old_value)},
                       {"new", of(record.new_value)}};
  const Result<ChangePtr> change = change_of(record);
  json["where"] = change ? (*change)->where() : "";
  json["undo"] = change ? (*change)->undo_command().text() : "";
  return json;
}

void add_fate(const Step& step, ordered_json& json) {
  json["fate"] = name_of(step.fate);
  json["reason"] = step.text;
}

ordered_json of(const std::vector<ToType>& commands) {
  ordered_json list = ordered_json::array();
  for (const ToType& one : commands) {
    list.push_back({{"command", one.command.text()}, {"note", one.note}});
  }
  return list;
}

ordered_json plan_json(const Report& report) {
  ordered_json plan = ordered_json::array();
  auto step = report.steps.begin();
  for (const Proposal& proposal : report.plan) {
    ordered_json changes = ordered_json::array();
    for (const Planned& planned : proposal.changes) {
      ordered_json change = of(planned.change->record());
      change["refused"] = planned.refusal;
      if (planned.refusal.empty() && step != report.steps.end()) add_fate(*step++, change);
      changes.push_back(std::move(change));
    }
    plan.push_back({{"topic", proposal.topic},
                    {"changes", std::move(changes)},
                    {"refused", proposal.refusals},
                    {"nothing", proposal.nothing},
                    {"notes", proposal.notes},
                    {"commands", of(proposal.commands)}});
  }
  return plan;
}

ordered_json steps_json(const std::vector<Step>& steps) {
  ordered_json list = ordered_json::array();
  for (const Step& step : steps) {
    ordered_json json = of(step.record);
    add_fate(step, json);
    list.push_back(std::move(json));
  }
  return list;
}

ordered_json journal_json(const Report& report) {
  ordered_json list = ordered_json::array();
  for (const Entry& entry : report.journal.entries) {
    ordered_json json = of(entry.record);
    json["state"] = name_of(entry.state);
    json["time"] = entry.record.time;
    json["this_boot"] = entry.record.boot == report.boot;
    list.push_back(std::move(json));
  }
  return list;
}

}  // namespace

int Report::exit_status() const {
  const bool refused =
      std::any_of(plan.begin(), plan.end(), [](const Proposal& one) { return one.is_refused(); });
  const bool puzzled = mode == Mode::kUndo && !journal.not_understood.empty();
  return refused || puzzled || !all_well(steps) ? 1 : 0;
}

std::string to_json(const Report& report, const text::Provenance& provenance) {
  constexpr const char* kModes[] = {"dry-run", "apply", "undo", "status"};
  ordered_json document = text::envelope(report.tool, 1, provenance);
  document.update({{"mode", kModes[static_cast<std::size_t>(report.mode)]},
                   {"captured", report.captured},
                   {"exit_status", report.exit_status()},
                   {"journal", report.journal_file}});
  if (report.mode == Mode::kUndo) document["steps"] = steps_json(report.steps);
  if (report.mode == Mode::kStatus) document["entries"] = journal_json(report);
  if (report.mode == Mode::kDryRun || report.mode == Mode::kApply) {
    document["plan"] = plan_json(report);
  }
  document["lines_not_understood"] = report.journal.not_understood;
  return text::json_text(document, 2) + "\n";
}

}  // namespace gdr::fix
