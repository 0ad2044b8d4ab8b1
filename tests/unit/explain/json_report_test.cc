#include "explain/json_report.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gdr::explain {
namespace {

using nlohmann::json;

TEST(ExplainJson, HoldsWhatWasRecognisedAndWhatTheHostShows) {
  Recogniser recogniser;
  recogniser.feed("x\nCouldn't allocate MR with error=14\n");
  const Confirmations confirmations = {
      {SymptomTable::built_in().find("mr-bad-address"),
       {{"peer-memory", "fail", "not loaded"}, {"gpus", "", "-"}}}};
  const json document = json::parse(to_json(recogniser.finish(), "a.log", confirmations, "node7"));
  EXPECT_EQ(document["schema"], "gdr.explain/1");
  EXPECT_EQ(document["file"], "a.log");
  EXPECT_EQ(document["exit_status"], 0);
  EXPECT_EQ(document["lines"], 2);
  EXPECT_EQ(document["examined"], "node7");
  ASSERT_EQ(document["symptoms"].size(), 1u);
  const json& symptom = document["symptoms"][0];
  EXPECT_EQ(symptom["id"], "mr-bad-address");
  EXPECT_EQ(symptom["certainty"], "likely");
  EXPECT_TRUE(symptom["because_of"].is_null());
  EXPECT_EQ(symptom["evidence"][0]["line"], 2);
  EXPECT_EQ(symptom["checks"][0]["outcome"], "fail");
  EXPECT_TRUE(symptom["checks"][1]["outcome"].is_null());
  EXPECT_EQ(symptom["sources"][0]["states"], "fix");
}

TEST(ExplainJson, OfAnUnknownTextHasNoSymptomAndStatus1) {
  Recogniser recogniser;
  recogniser.feed("all is well\n");
  const json document = json::parse(to_json(recogniser.finish(), "\xff", {}, ""));
  EXPECT_EQ(document["exit_status"], 1);
  EXPECT_TRUE(document["symptoms"].empty());
}

TEST(ExplainJson, ListHoldsTheWholeTable) {
  const SymptomTable& table = SymptomTable::built_in();
  const json document = json::parse(list_json(table));
  ASSERT_EQ(document["symptoms"].size(), table.all().size());
  for (std::size_t i = 0; i < table.all().size(); ++i) {
    EXPECT_EQ(document["symptoms"][i]["texts"].size(), table.all()[i].texts.size());
  }
  EXPECT_EQ(json::parse(page_json(table.all()[3]))["symptoms"][0], document["symptoms"][3]);
}

}  // namespace
}  // namespace gdr::explain
