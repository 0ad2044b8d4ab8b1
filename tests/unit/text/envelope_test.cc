#include "text/envelope.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace gdr::text {
namespace {

TEST(Envelope, NamesTheDocumentAfterTheWordsOfItsSubcommand) {
  EXPECT_EQ(schema_name("gdr prove", 1), "gdr.prove/1");
  EXPECT_EQ(schema_name("gdr perf compare", 12), "gdr.perf.compare/12");
}

TEST(Envelope, ComesFirstAndInOneOrder) {
  nlohmann::ordered_json document =
      envelope("gdr topo", 3, {"0.2.0", "7a19af9", "node7", "2026-11-26T10:12:03Z"});
  document.update({{"origin", "this machine"}});
  EXPECT_EQ(document.dump(),
            R"({"schema":"gdr.topo/3","tool":"gdr topo","version":"0.2.0","commit":"7a19af9",)"
            R"("host":"node7","date":"2026-11-26T10:12:03Z","origin":"this machine"})");
}

}  // namespace
}  // namespace gdr::text
