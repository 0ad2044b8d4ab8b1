// A log of any bytes: nothing is read outside it, the same bytes in other pieces are the same log,
// no verdict is without its reason, and both reports can be printed.
//
// Input: a byte that says in how large pieces the rest arrives, and the log.
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "input.h"
#include "nccl/json_report.h"
#include "nccl/text_report.h"

namespace {

using gdr::nccl::Expectation;
using gdr::test::require;

gdr::nccl::Log read(std::string_view bytes, std::size_t piece) {
  gdr::nccl::LogReader reader;
  for (; bytes.size() > piece; bytes.remove_prefix(piece)) {
    // In an allocation of just its size, so that the address sanitizer sees a byte too far.
    reader.feed(std::string(bytes.substr(0, piece)));
  }
  reader.feed(std::string(bytes));
  return reader.finish();
}

void check_text(const std::string& text) {
  for (const char c : text) require(c == '\n' || static_cast<unsigned char>(c) >= 0x20);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const gdr::nccl::Log whole = read(bytes, size);
  const gdr::nccl::Log pieces = read(bytes, data[0] + 1u);
  require(whole.messages == pieces.messages && whole.lines == pieces.lines);
  require(whole.connections == pieces.connections);
  for (const Expectation expectation :
       {Expectation::kGdrdma, Expectation::kLocal, Expectation::kAny}) {
    const gdr::nccl::Report report = gdr::nccl::judge(whole, expectation);
    if (report.log.messages > 0) require(report.met || !report.causes.empty());
    for (const gdr::nccl::Cause& cause : report.causes) require(!cause.next.empty());
    check_text(to_text(report, false));
    check_text(to_text(report, true));
    require(nlohmann::json::accept(to_json(report)));
  }
  return 0;
}
