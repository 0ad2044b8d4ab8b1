#include "cli/nccl_answer.h"

#include <fmt/format.h>

#include <map>

#include "base/environment.h"
#include "nccl/text_report.h"
#include "text/format.h"
#include "text/wrap.h"

namespace gdr::cli {

void add_expectation(CLI::App& command, nccl::Expectation& expectation) {
  command
      .add_option_function<std::string>(
          "--expect",
          [&expectation](const std::string& word) {
            const std::map<std::string, nccl::Expectation> words = {
                {"gdrdma", nccl::Expectation::kGdrdma},
                {"local", nccl::Expectation::kLocal},
                {"any", nccl::Expectation::kAny}};
            const auto found = words.find(word);
            if (found == words.end()) {
              throw CLI::ValidationError(
                  fmt::format("unknown expectation '{}'; allowed: gdrdma, local, any", word));
            }
            expectation = found->second;
          },
          "What the log must show. gdrdma: network connections, all with GPUDirect RDMA; local: no "
          "network connection; any: connections of any kind (default: gdrdma)")
      ->type_name("WHAT");
}

bool print_answer(const nccl::Report& report, bool all, std::FILE* file) {
  const std::size_t columns = text::terminal_columns(file);
  const std::string text = nccl::to_text(report, all);
  for (std::string_view line : split(std::string_view(text).substr(0, text.size() - 1), '\n')) {
    fmt::print(file, "{}\n", text::wrap(printable(line), columns, nccl::kTextIndent));
  }
  return std::fflush(file) == 0 && std::ferror(file) == 0;
}

}  // namespace gdr::cli
