// The environment variables that gdr and the stand-ins read: the one table that --help, the manual
// pages and gdr-soft(7) are made of. A test compares it with the source and with the pages in docs.
//
//   const Variable* variable = find_variable("GDR_SOFT_GPUS");
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gdr::manual {

// In which part of gdr-soft(7) it stands.
enum class Concern {
  kDevices,   // which software NICs and GPUs there are
  kPackets,   // what the software NIC does with packets
  kRun,       // how gdr run starts a program
  kTools,     // gdr itself
  kInternal,  // set by gdr for the libraries that it loads
  kTests,     // test builds only
};

struct Variable {
  const char* name;
  const char* value;  // as typed behind "=": "udmabuf", "FILE"; "": any
  Concern concern;
  const char* brief;         // for --help: what it does
  const char* fallback;      // what holds without it; "": nothing
  const char* more = "";     // further sentences for gdr-soft(7)
  const char* option = "";   // "gdr run --pcap": the option that says the same
  const char* example = "";  // a longer value than `brief` has room for
};

const std::vector<Variable>& all_variables();
const Variable* find_variable(std::string_view name);

// "GDR_SOFT_DMA_BUF=udmabuf", or only the name.
std::string assignment_of(const Variable& variable);
// Its description, with "(default: ...)".
std::string brief_of(const Variable& variable);

// The heading of a part of gdr-soft(7), and what is said below it.
struct ConcernText {
  Concern concern;
  const char* heading;
  const char* text;
};
const std::vector<ConcernText>& all_concerns();

}  // namespace gdr::manual
