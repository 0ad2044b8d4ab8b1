#include "doctor/prometheus_report.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "text/format.h"

namespace gdr::doctor {
namespace {

int value_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      return 0;
    case Outcome::kWarn:
      return 1;
    case Outcome::kFail:
      return 2;
    case Outcome::kUnknown:
      break;
  }
  return 3;
}

// Which of two findings is shown where only one can be.
int weight_of(Outcome outcome) { return outcome == Outcome::kUnknown ? 1 : 2 * value_of(outcome); }

// A label's value is UTF-8 in which three characters are escaped.
std::string label(const std::string& text) {
  std::string escaped;
  for (const char c : printable(text)) {
    if (c == '\\' || c == '"') escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string head(const std::string& name, const std::string& help) {
  return fmt::format("# HELP {} {}\n# TYPE {} gauge\n", name, help, name);
}

// Series must be different: of findings of one check about one subject the worst is told.
std::string checks(const Report& report) {
  std::string text =
      head("gdr_doctor_check", "Result of a check of gdr doctor: 0 ok, 1 warn, 2 fail, 3 unknown.");
  for (const Judgement& judgement : report.judgements) {
    std::map<std::string, Outcome> worst;
    for (const Finding& finding : judgement.findings) {
      const auto [known, added] = worst.try_emplace(finding.subject, finding.outcome);
      if (!added && weight_of(finding.outcome) > weight_of(known->second)) {
        known->second = finding.outcome;
      }
    }
    for (const auto& [subject, outcome] : worst) {
      text += fmt::format("gdr_doctor_check{{check=\"{}\",area=\"{}\",subject=\"{}\"}} {}\n",
                          label(judgement.check->id), name_of(judgement.check->area),
                          label(subject), value_of(outcome));
    }
  }
  return text;
}

// Subjects come and go with what is found about them; this series stays.
std::string worst_of_each(const Report& report) {
  std::string text = head("gdr_doctor_check_worst",
                          "Worst result of a check of gdr doctor, as in gdr_doctor_check.");
  for (const Judgement& judgement : report.judgements) {
    if (judgement.findings.empty()) continue;
    Outcome worst = Outcome::kOk;
    for (const Finding& finding : judgement.findings) {
      if (weight_of(finding.outcome) > weight_of(worst)) worst = finding.outcome;
    }
    text +=
        fmt::format("gdr_doctor_check_worst{{check=\"{}\",area=\"{}\"}} {}\n",
                    label(judgement.check->id), name_of(judgement.check->area), value_of(worst));
  }
  return text;
}

std::string findings(const Counts& counts) {
  std::string text = head("gdr_doctor_findings", "Number of findings of gdr doctor.");
  for (const auto& [outcome, count] : {std::pair{Outcome::kOk, counts.ok},
                                       {Outcome::kWarn, counts.warn},
                                       {Outcome::kFail, counts.fail},
                                       {Outcome::kUnknown, counts.unknown}}) {
    text += fmt::format("gdr_doctor_findings{{outcome=\"{}\"}} {}\n", name_of(outcome), count);
  }
  return text;
}

}  // namespace

std::string to_prometheus(const Report& report) {
  const Counts counts = count(report);
  std::string text = checks(report) + worst_of_each(report) + findings(counts);
  text += head("gdr_doctor_exit_status",
               "Exit status of gdr doctor: 0 no problem, 1 a check fails, 3 warnings only.");
  text += fmt::format("gdr_doctor_exit_status {}\n", exit_status(counts));
  text += head("gdr_doctor_seconds", "Time that the checks of gdr doctor took.");
  text += fmt::format("gdr_doctor_seconds{{cost=\"passive\"}} {:.6f}\n",
                      seconds_of(report, Cost::kPassive));
  text += fmt::format("gdr_doctor_seconds{{cost=\"probe\"}} {:.6f}\n",
                      seconds_of(report, Cost::kProbe));
  return text;
}

}  // namespace gdr::doctor
