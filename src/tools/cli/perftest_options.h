// The table of perftest's options; perftest.h makes use of it.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace gdr::cli {

struct PerftestOption {
  enum class Kind {
    kValue,      // ours with the same value
    kOptional,   // ours, with its value if there is one
    kFixed,      // ours as it stands
    kDevice,     // -d: together with -i one --nic
    kPort,       // -i
    kNotNeeded,  // nothing to say, because ...
    kRefused     // gdr perf does not have it, because ...
  };
  char letter;       // '\0': none
  const char* name;  // without dashes; "": ours has the same
  const char* value;
  Kind kind;
  const char* ours;  // our words, or the reason
};

std::span<const PerftestOption> perftest_options();
const PerftestOption* find_perftest_option(char letter);
const PerftestOption* find_perftest_option(std::string_view name);

bool takes_value(const PerftestOption& option);

}  // namespace gdr::cli
