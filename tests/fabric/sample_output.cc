// Prints a made-up run as one of gdr fabric's outputs, or plays it as it would be seen live:
// fabric_sample_output page|text|json|again|prometheus|live HOSTS RAILS ROUNDS [evil|healthy|soft]
#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string>

#include "fabric/output/json_report.h"
#include "fabric/output/live.h"
#include "fabric/output/page.h"
#include "fabric/output/prometheus.h"
#include "fabric/output/text_report.h"
#include "sample_fleet.h"

namespace {

using namespace gdr::fabric;  // NOLINT: a small program

// Round after round, a finding more after each fourth.
void play(const Report& whole) {
  const gdr::text::Style style = gdr::text::Style::of(stderr);
  Live live(stderr, style);
  Report so_far = whole;
  so_far.findings.clear();
  live.on_begin(so_far);
  const auto pause = [] { usleep(60'000); };
  for (std::uint32_t number = 0; number < whole.rounds_planned; ++number) {
    std::vector<Measurement> found;
    for (const Measurement& one : whole.measurements) {
      if (one.round == number && !one.is_retest) found.push_back(one);
    }
    Round round;
    round.number = number;
    live.on_round_begin(so_far, round);
    pause();
    live.on_round(so_far, round, found, {});
    const std::size_t known = std::min<std::size_t>(whole.findings.size(), number / 4);
    live.on_judged(so_far, std::span(whole.findings).first(known));
  }
  live.on_retests(so_far, 8);
  for (std::uint32_t number = 0; number < 8; ++number) {
    for (int i = 0; i < 4; ++i) pause();
    Round round;
    round.is_retest = true;
    live.on_round(so_far, round, {}, {});
  }
  live.on_end(whole);
  fmt::print("{}", to_text(whole, gdr::text::Style::of(stdout)));
}

}  // namespace

int main(int argc, char** argv) {
  const auto number = [&](int i, int otherwise) {
    return static_cast<std::uint32_t>(argc > i ? atoi(argv[i]) : otherwise);
  };
  const std::string form = argc > 1 ? argv[1] : "page", kind = argc > 5 ? argv[5] : "";
  SampleFleet fleet;
  fleet.hosts = number(2, 16);
  fleet.rails = number(3, 2);
  fleet.rounds = number(4, 0);
  fleet.is_healthy = kind == "healthy";
  fleet.is_software = kind == "soft";
  Report report = sample_fleet(fleet);
  if (kind == "evil") spoil(report);
  if (form == "live") return play(report), 0;
  if (form == "again") {
    // By way of its document.
    const auto read = report_from_json(to_json(report));
    if (!read) return fmt::print(stderr, "{}\n", read.error().message), 1;
    return fmt::print("{} measurements\n", read->measurements.size()), 0;
  }
  const std::string text = form == "json"         ? to_json(report)
                           : form == "prometheus" ? to_prometheus(report)
                           : form == "text"       ? to_text(report, gdr::text::Style::of(stdout))
                                                  : to_html(report);
  return std::fwrite(text.data(), 1, text.size(), stdout) == text.size() ? 0 : 1;
}
