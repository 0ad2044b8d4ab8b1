#include "perf/output/html_page.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "perf/output/json_report.h"
#include "sample_report.h"

namespace gdr::perf {
namespace {

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1)) ++found;
  return found;
}

std::string element(const std::string& page, const std::string& id) {
  const std::string start = "id=\"" + id + "\">";
  const std::size_t from = page.find(start) + start.size();
  return page.substr(from, page.find("</script>", from) - from);
}

TEST(PerfPage, CarriesTheWholeReportAsJson) {
  const Report report = sample_report();
  const std::string page = to_html(report);
  EXPECT_EQ(nlohmann::json::parse(element(page, "report")), nlohmann::json::parse(to_json(report)));
  EXPECT_EQ(nlohmann::json::parse(element(page, "titles")).size(), report.rows.size());
}

TEST(PerfPage, EscapesEveryTextThatComesFromOutside) {
  Report report = sample_report();
  const std::size_t scripts = count(to_html(report), "<script");
  const auto spoil = [](Side& side) {
    side.host = side.kernel = side.processor = side.version = side.library = kEvilName;
    for (Port& port : side.ports) port.nic = port.netdev = port.gid = kEvilName;
    side.gpus = {kEvilName};
  };
  spoil(report.near);
  spoil(report.far);
  report.date = report.command = kEvilName;
  for (Row& row : report.rows) {
    if (!row.problem.empty()) row.problem = kEvilName;
    if (row.checked) row.checked->first = kEvilName;
    row.remarks = {kEvilName};
    row.ports = {{kEvilName, kEvilName, 1, 1, 1}};
    for (Limit& limit : row.limits) limit.what = limit.advice = limit.check = kEvilName;
  }
  const std::string page = to_html(report);
  EXPECT_EQ(count(page, "<script"), scripts);
  EXPECT_EQ(count(page, "</script>"), scripts);
  EXPECT_NE(page.find("&lt;/script&gt;&lt;script&gt;document.title=&#39;taken over&#39;"),
            page.npos);
}

TEST(PerfPage, MayNotLoadAnythingFromElsewhere) {
  const std::string page = to_html(sample_report());
  EXPECT_NE(page.find("content=\"default-src 'none'; script-src 'unsafe-inline'; style-src "
                      "'unsafe-inline'; img-src data:\""),
            page.npos);
  EXPECT_EQ(page.find(" src="), page.npos);
  EXPECT_EQ(count(page, " href="), 1u) << "the icon, which is empty";
}

TEST(PerfPage, LabelsStandInsAndNamesTheLibrarysLicence) {
  Report report = sample_report();
  std::string page = to_html(report);
  EXPECT_NE(page.find("<strong>STAND-IN</strong> (server: GPU)"), page.npos);
  EXPECT_NE(page.find("data-stand-in=\"STAND-IN (server: GPU)\""), page.npos);
  EXPECT_NE(page.find("Permission is hereby granted, free of charge"), page.npos);
  report.near.soft_nic = true;
  EXPECT_NE(to_html(report).find("(client: NIC; server: GPU)"), page.npos);
  report.near.soft_nic = report.far.soft_gpu = false;
  EXPECT_EQ(to_html(report).find("STAND-IN"), page.npos);
}

TEST(PerfPage, HasARowInItsTablesForEachRow) {
  const Report report = sample_report();
  const std::string page = to_html(report);
  EXPECT_EQ(count(page, "<tr class=\"row\">"), report.rows.size() + 10)
      << "and direct beside staged";
  EXPECT_NE(page.find("locked-memory limit too low"), page.npos);
  EXPECT_NE(page.find("3 of 500 checked messages wrong: message 17"), page.npos);
}

}  // namespace
}  // namespace gdr::perf
