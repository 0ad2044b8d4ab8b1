// Symptom: an error text that tools print if GPUDirect RDMA does not work, with its cause, the
// checks that confirm it, and its fix. The tables are in symptoms/, one file per area; `gdr
// explain` and docs/handbook.md are both made from them.
//
//   if (const Symptom* symptom = find_symptom("mr-bad-address")) puts(symptom->cause);
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
  const char* pattern;
  unsigned part = 0;
  Scope scope = Scope::kOwn;
};

// An idea in anybody's words, as kGeneral.
constexpr Text general(const char* pattern) { return {pattern, 0, Scope::kGeneral}; }
constexpr Text fallback(const char* pattern) { return {pattern, 0, Scope::kFallback}; }
constexpr Text last(const char* pattern) { return {pattern, 0, Scope::kLast}; }

struct Source {
  const char* url;
  Stated stated;
};

// Commands, settings and paths stand in `backticks` in what is prose.
struct Symptom {
  const char* id;  // lower case with dashes: as typed after --symptom
  Program program;
  Certainty certainty;
  const char* title;
  std::vector<Text> texts;
  // Patterns of what says, where it is seen, that it is not this.
  std::vector<const char*> unless = {};
  const char* cause;
  const char* consequence;
  // Checks of `gdr doctor`, most telling first.
  std::vector<const char*> checks;
  text::Literal fix_now;       // a command line, or a sentence where no command can do it
  text::Literal fix_for_good;  // over boots; empty: as now
  std::vector<Source> sources;
  // Symptoms that are seen because of this one, where both are.
  std::vector<const char*> explains;
};
using Symptoms = std::vector<Symptom>;

// A part of `fix_now` or `fix_for_good`; they stand with "; " between them.
struct Step {
  std::string_view text;
  bool is_command = false;  // was nothing but a span in backticks: can be pasted as it is
};
std::vector<Step> steps_of(std::string_view fix);
// The commands among them.
std::vector<text::Command> commands_of(text::Literal fix);

const char* name_of(Program program);      // "NCCL", "perftest, rdma-core", ...
const char* name_of(Certainty certainty);  // "certain", "likely", "possible"
const char* name_of(Stated stated);        // "states cause and fix", ...

// In the order of the handbook.
const std::vector<const Symptom*>& all_symptoms();
// Null: there is none of this id.
const Symptom* find_symptom(std::string_view id);

}  // namespace gdr::explain
