#include "fabric/output/json_lines.h"

#include <fmt/format.h>

#include <algorithm>

#include "fabric/output/json_reader.h"
#include "fabric/output/json_writer.h"
#include "fabric/output/measurement_row.h"
#include "text/json_text.h"

namespace gdr::fabric {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;

constexpr int kLinesNumber = 1;

std::string lines_schema() { return text::schema_name("gdr fabric lines", kLinesNumber); }

// The run's own part of "begin" and "end".
struct RunPart {
  Report& report;
};
template <typename Visitor>
void visit_fields(Visitor& v, RunPart& part) {
  visit_run(v, part.report);
  v.list("hosts", part.report.hosts);
}

class LinesReader {
 public:
  // What is wrong with the line; empty: it is read.
  std::string take(std::string_view line) {
    Result<json> parsed = parse_json(line);
    if (!parsed) return parsed.error().message;
    const json& object = *parsed;
    if (!object.is_object()) return "must be an object, is " + found_text(object);
    const auto event = object.find("event");
    if (event == object.end() || !event->is_string()) return "has no event";
    const auto& name = event->get_ref<const std::string&>();
    std::string wrong;
    if (!has_begun_ && name != "begin") return "the first event must be \"begin\"";
    if (has_ended_) return "something follows the event \"end\"";
    if (name == "begin") {
      begin(object, wrong);
    } else if (name == "host") {
      host(object, wrong);
    } else if (name == "round") {
      round(object, wrong);
    } else if (name == "suspects") {
      suspects(object, wrong);
    } else if (name == "finding") {
      finding(object, wrong);
    } else if (name == "end") {
      end(object, wrong);
    }
    // Events of later versions are none of ours.
    return wrong;
  }

  bool has_begun() const { return has_begun_; }

  Report report() && {
    if (has_ended_) {
      report_.findings = std::move(findings_);
    } else {
      report_.is_interrupted = true;
      report_.rounds_done = rounds_;
      report_.retest_rounds = retests_;
    }
    return std::move(report_);
  }

 private:
  void run(const json& object, std::string& wrong) {
    report_.hosts.clear();
    report_.rails.clear();
    RunPart part{report_};
    JsonReader reader(object, "", wrong);
    visit_fields(reader, part);
  }

  void begin(const json& object, std::string& wrong) {
    if (has_begun_) {
      wrong = "a second event \"begin\"";
      return;
    }
    const auto schema = object.find("schema");
    if (schema == object.end() || *schema != lines_schema()) {
      wrong = fmt::format("schema must be \"{}\", is {}", lines_schema(),
                          schema == object.end() ? "missing" : found_text(*schema));
      return;
    }
    run(object, wrong);
    has_begun_ = true;
  }

  void host(const json& object, std::string& wrong) {
    HostIndex index = 0;
    Host host;
    JsonReader reader(object, "", wrong);
    reader.value("index", index);
    reader.part("host", host);
    if (!wrong.empty()) return;
    if (index >= report_.hosts.size()) {
      wrong = fmt::format("index is {}, but there are {} hosts", index, report_.hosts.size());
      return;
    }
    report_.hosts[index] = std::move(host);
  }

  void round(const json& object, std::string& wrong) {
    bool is_retest = false;
    JsonReader reader(object, "", wrong);
    reader.value("is_retest", is_retest);
    reader.list("incidents", report_.incidents);
    const auto rows = object.find("measurements");
    if (wrong.empty() && rows == object.end()) wrong = "measurements is missing";
    if (!wrong.empty()) return;
    read_measurements(*rows, "measurements", report_.measurements, wrong);
    ++(is_retest ? retests_ : rounds_);
  }

  void suspects(const json& object, std::string& wrong) {
    report_.findings.clear();
    JsonReader reader(object, "", wrong);
    reader.list("findings", report_.findings);
  }

  void finding(const json& object, std::string& wrong) {
    JsonReader reader(object, "", wrong);
    reader.part("finding", findings_.emplace_back());
  }

  void end(const json& object, std::string& wrong) {
    run(object, wrong);
    JsonReader reader(object, "", wrong);
    reader.list("fleet", report_.fleet);
    has_ended_ = true;
  }

  Report report_;
  std::vector<Finding> findings_;  // the final ones
  std::uint32_t rounds_ = 0, retests_ = 0;
  bool has_begun_ = false, has_ended_ = false;
};

std::string event_line(const ordered_json& object) { return text::json_text(object, -1); }

}  // namespace

void JsonLines::write(const std::string& line) {
  if (error_) return;
  errno = 0;
  const bool written = std::fwrite(line.data(), 1, line.size(), file_) == line.size() &&
                       std::fputc('\n', file_) != EOF && std::fflush(file_) == 0;
  if (!written) error_ = from_errno("write of JSON lines");
}

void JsonLines::on_begin(const Report& report) {
  ordered_json begin{{"event", "begin"}};
  begin.update(text::envelope("gdr fabric lines", kLinesNumber, provenance_));
  begin.update(JsonWriter::run_of(report));
  begin["hosts"] = JsonWriter::list_of(std::span(report.hosts));
  begin["measurement_fields"] = kMeasurementFields;
  has_begun_ = true;
  write(event_line(begin));
}

// Those that join before the begin are in it.
void JsonLines::on_host(const Report& report, HostIndex host) {
  if (!has_begun_ || host >= report.hosts.size()) return;
  write(event_line(
      {{"event", "host"}, {"index", host}, {"host", JsonWriter::json_of(report.hosts[host])}}));
}

void JsonLines::on_round(const Report&, const Round& round, std::span<const Measurement> found,
                         std::span<const Incident> incidents) {
  const ordered_json head{{"event", "round"},
                          {"round", round.number},
                          {"is_retest", round.is_retest},
                          {"incidents", JsonWriter::list_of(incidents)}};
  std::string line = event_line(head);
  line.pop_back();
  write(line + ",\"measurements\":" + rows_of(found, ",") + "}");
}

void JsonLines::on_judged(const Report&, std::span<const Finding> suspects) {
  write(event_line({{"event", "suspects"}, {"findings", JsonWriter::list_of(suspects)}}));
}

void JsonLines::on_retests(const Report&, std::uint32_t rounds) {
  write(event_line({{"event", "retests"}, {"rounds", rounds}}));
}

void JsonLines::on_end(const Report& report) {
  for (const Finding& finding : report.findings) {
    write(event_line({{"event", "finding"}, {"finding", JsonWriter::json_of(finding)}}));
  }
  ordered_json end{{"event", "end"}, {"exit_status", exit_status(report)}};
  end.update(JsonWriter::run_of(report));
  end["hosts"] = JsonWriter::list_of(std::span(report.hosts));
  end["fleet"] = JsonWriter::list_of(std::span(report.fleet));
  write(event_line(end));
}

bool is_json_lines(std::string_view text) {
  const std::string_view first = text.substr(0, text.find('\n'));
  return first.starts_with("{\"event\":\"begin\"") ||
         first.find("\"schema\":\"" + lines_schema() + "\"") != first.npos;
}

Result<Report> report_from_json_lines(std::string_view text) {
  LinesReader reader;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    // It was cut off while it was written.
    if (end == text.npos) break;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end + 1);
    if (line.empty()) continue;
    const std::string wrong = reader.take(line);
    if (!wrong.empty()) return Error{EINVAL, fmt::format("line {}: {}", number, wrong)};
  }
  if (!reader.has_begun()) {
    return Error{EINVAL, "it has no event \"begin\": the run was ended before it began"};
  }
  Report report = std::move(reader).report();
  const std::string wrong = check_references(report);
  if (!wrong.empty()) return Error{EINVAL, wrong};
  return report;
}

}  // namespace gdr::fabric
