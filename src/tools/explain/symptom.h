// Symptom: an error text that tools print if GPUDirect RDMA does not work, with its cause, the
// checks that confirm it, and its fix. Each is a file below knowledge/symptoms (see README.md
// there), which symptom_file.h reads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "text/command.h"

namespace gdr::explain {

// Who prints the text: the handbook's chapters.
enum class Program : std::uint8_t {
  kNccl,
  kPerftest,  // and rdma-core's own programs
  kMpi,       // Open MPI, UCX
  kShmem,     // NVSHMEM, GDRCopy
  kModules,   // modprobe, dkms, depmod
  kKernel,    // dmesg
  kCuda,      // nvidia-smi, CUDA programs
  kPci,       // lspci, setpci
  kContainers,
  kTransfer,  // Mooncake, NIXL, DeepEP, libfabric and others that move data of GPUs
  kOther      // what surely is not GPUDirect RDMA, and where to look instead
};

// How sure the cause is from the text alone.
enum class Certainty : std::uint8_t {
  kCertain,  // the text says so
  kLikely,   // what it mostly is
  kPossible  // one of several; may be harmless
};

// What a source states about the symptom; the rest is our own diagnosis.
enum class Stated : std::uint8_t { kCauseAndFix, kCause, kFix, kSymptom };

enum class Scope : std::uint8_t {
  kOwn,       // the words of one program
  kGeneral,   // an idea in anybody's words: counts where no text of its own scope fits the line
  kFallback,  // the same idea without its reason: counts where neither of these fits the line
  kLast       // a library's or driver's name and that something failed: where nothing else fits
};

// `pattern` is as in pattern.h. A text of part 0 is enough by itself; of the others parts 1 and 2
// must both have been seen, whichever of their texts it was, or 3 and 4, and so on.
struct Text {
  std::string pattern;
  unsigned part = 0;
  Scope scope = Scope::kOwn;
  unsigned line = 0;  // of its file
};

struct Source {
  std::string url;
  Stated stated = Stated::kSymptom;
};

// A text as a program printed it.
struct SeenText {
  std::string source;  // owner/repository#number, or an address
  std::string text;    // lines
  unsigned line = 0;   // of its file
};

// A part of what is to be done.
struct Step {
  std::string text;
  bool is_command = false;  // can be pasted as it is
};

// Commands, settings and paths stand in `backticks` in what is prose.
struct Symptom {
  std::string id;    // lower case with dashes: as typed after --symptom
  std::string file;  // that it was read from
  std::string site;  // the folder of --symptoms; empty: this program's own
  Program program = Program::kOther;
  Certainty certainty = Certainty::kPossible;
  std::string title;
  std::vector<Text> texts;
  // Patterns of what says, where it is seen, that it is not this.
  std::vector<std::string> unless;
  std::vector<SeenText> seen;
  std::string cause;
  std::string consequence;
  // Checks of `gdr doctor`, most telling first.
  std::vector<std::string> checks;
  std::vector<Step> fix_now;
  std::vector<Step> fix_for_good;  // over boots; empty: as now
  std::vector<Source> sources;
  // Symptoms that are seen because of this one, where both are.
  std::vector<std::string> explains;
};

// The commands among them.
std::vector<text::Command> commands_of(const std::vector<Step>& fix);
// All of them in one line, with "; " between them and commands in backticks.
std::string line_of(const std::vector<Step>& fix);

const char* name_of(Program program);      // "NCCL", "perftest, rdma-core", ...
const char* folder_of(Program program);    // of its symptoms' files: "nccl", "verbs", ...
const char* name_of(Certainty certainty);  // "certain", "likely", "possible"
const char* name_of(Stated stated);        // "states cause and fix", ...

}  // namespace gdr::explain
