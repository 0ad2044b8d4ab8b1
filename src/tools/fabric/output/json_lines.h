// JSON lines: an object a line as things happen, written out after each, so that a run that is
// killed keeps what it had; and back, also from a file that has no end.
//
//   JsonLines lines(file, provenance);
//   lines.on_begin(report);   // and so on, as a Listener
//   Result<Report> report = report_from_json_lines(text);
//
// The events: "begin" (with the envelope), "host", "round", "suspects", "retests", "finding" (the
// final ones), "end".
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fabric/output/listener.h"
#include "text/envelope.h"

namespace gdr::fabric {

class JsonLines : public Listener {
 public:
  // The file stays the caller's.
  JsonLines(std::FILE* file, text::Provenance provenance)
      : file_(file), provenance_(std::move(provenance)) {}

  void on_begin(const Report& report) override;
  void on_host(const Report& report, HostIndex host) override;
  void on_round(const Report& report, const Round& round, std::span<const Measurement> found,
                std::span<const Incident> incidents) override;
  void on_judged(const Report& report, std::span<const Finding> suspects) override;
  void on_retests(const Report& report, std::uint32_t rounds) override;
  void on_end(const Report& report) override;

  // The first thing that could not be written; nothing was written behind it.
  const std::optional<Error>& error() const { return error_; }

 private:
  void write(const std::string& line);

  std::FILE* file_;
  text::Provenance provenance_;
  bool has_begun_ = false;
  std::optional<Error> error_;
};

// By its first line.
bool is_json_lines(std::string_view text);

// A file without an end makes a report that is_interrupted, whose findings are the last suspects
// and which has no fleet figures. A last line that was cut off is left out.
Result<Report> report_from_json_lines(std::string_view text);

}  // namespace gdr::fabric
