// No field of a load can be forgotten anywhere: each one, changed alone, must be seen by everything
// that writes, reads, titles or compares loads.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "perf/compare.h"
#include "perf/output/csv_report.h"
#include "perf/output/figures.h"
#include "perf/output/json_report.h"
#include "perf/rules.h"
#include "reports.h"

namespace gdr::perf {
namespace {

using nlohmann::json;

void change(bool& field) { field = !field; }
void change(Place& field) { field = {Place::Kind::kGpuVmm, 7}; }
template <typename Field>
void change(Field& field) {
  if constexpr (std::is_enum_v<Field>) {
    field = kLast<Field>;
  } else {
    ++field;
  }
}

// Calls `with` for each field: its name, its words in titles, and a load that differs in it alone.
template <typename With>
void each_changed(With with) {
  Load::each_field([&](const char* name, auto field, const char* words) {
    SCOPED_TRACE(name);
    Load load;
    change(load.*field);
    with(std::string(name), std::string_view(words), load);
  });
}

std::string csv_of(const Load& load) { return to_csv(report_of({row_of(load, around(1))})); }

TEST(LoadFields, AreAllInTheMessage) {
  each_changed([](const auto&, auto, const Load& load) {
    const Result<Load> again = process::decode<Load>(process::encode(load));
    ASSERT_TRUE(again);
    EXPECT_EQ(*again, load);
    EXPECT_NE(*again, Load{});
  });
}

TEST(LoadFields, AreAllInTheDocumentAndReadBackFromIt) {
  each_changed([](const std::string& name, auto, const Load& load) {
    const std::string text = to_json(report_of({row_of(load, around(1))}));
    EXPECT_TRUE(json::parse(text)["rows"][0]["load"].contains(name));
    const Result<Report> again = report_from_json(text);
    ASSERT_TRUE(again) << again.error().message;
    EXPECT_EQ(again->rows[0].load, load);
  });
}

TEST(LoadFields, AreAllColumnsOfTheCsv) {
  const std::string head = csv_of({}).substr(0, csv_of({}).find('\r'));
  each_changed([&](const std::string& name, auto, const Load& load) {
    EXPECT_NE((head + ",").find("," + name + ","), std::string::npos);
    EXPECT_NE(csv_of(load), csv_of({}));
  });
}

TEST(LoadFields, AreAllInTitlesButTheSizeWhichEachRowTells) {
  each_changed([](const std::string& name, std::string_view words, const Load& load) {
    EXPECT_EQ(group_title(load) == group_title({}), name == "size_bytes") << group_title(load);
    const std::string_view first = words.substr(0, words.find('{'));
    EXPECT_NE(group_title(load).find(first), std::string::npos) << group_title(load);
  });
}

TEST(LoadFields, AreAllComparedAndTellRowsOfAComparisonApart) {
  const Report base = report_of({row_of({}, around(1))});
  each_changed([&](const std::string& name, auto, const Load& load) {
    const Comparison found = compare(base, report_of({row_of(load, around(1))}), 1);
    EXPECT_TRUE(found.rows.empty());
    ASSERT_EQ(found.only_other.size(), 1u);
    ASSERT_EQ(found.only_base.size(), 1u);
    const json other = json::parse(to_json(std::vector{found}))["others"][0];
    EXPECT_NE(other["only_base"][0]["load"].at(name), other["only_other"][0]["load"].at(name));
    const auto line_of = [&](const Load& one) {
      Comparison alone;
      alone.only_base.push_back({one, "alone"});
      return to_text(std::vector{alone}, 0);
    };
    EXPECT_NE(line_of(load), line_of({}));
  });
}

// Two rows that differ in this alone once had the same heading.
TEST(LoadFields, PortsAndTheConnectionManagerAreInTheHeadingOfAComparison) {
  Load load = load_of(Measure::kBandwidth, 64);
  load.ports = load.threads = load.queue_pairs = 2;
  load.rdma_cm = true;
  const Report report = report_of({row_of(load, around(1e9))});
  const std::string text = to_text(std::vector{compare(report, report, 1)}, 0);
  EXPECT_NE(text.find("write, RC, bandwidth in GB/s: host → host, by rdma_cm, 2 ports, 2 queue "
                      "pairs, 2 threads\n"),
            std::string::npos)
      << text;
}

TEST(LoadFields, OfAnEnumerationMayHaveNoValueThatNobodyKnows) {
  Load::each_field([](const char* name, auto field, const char*) {
    SCOPED_TRACE(name);
    Load load;
    using Field = std::remove_cvref_t<decltype(load.*field)>;
    if constexpr (std::is_enum_v<Field>) {
      load.*field = static_cast<Field>(static_cast<int>(kLast<Field>) + 1);
    } else if constexpr (std::is_same_v<Field, Place>) {
      (load.*field).kind = static_cast<Place::Kind>(static_cast<int>(kLast<Place::Kind>) + 1);
    } else {
      return;
    }
    const Result<void> right = check_load(load, 64);
    ASSERT_FALSE(right);
    EXPECT_EQ(right.error().message, "this version does not know the requested load");
  });
}

}  // namespace
}  // namespace gdr::perf
