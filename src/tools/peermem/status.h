// What gdr peermem status says: whether a peer-memory module would help at all on a host, and which
// of those that are there the kernel would take.
//
//   const Verdict verdict = verdict_of(survey);
//   fputs(to_text(survey, style).c_str(), stdout);
#pragma once

#include <cstdint>
#include <string>

#include "peermem/survey.h"
#include "text/envelope.h"
#include "text/style.h"

namespace gdr::peermem {

enum class Verdict : std::uint8_t {
  kNoDriver,  // no GPU driver of NVIDIA's
  kUseless,   // the RDMA stack has no such interface
  kLoaded,
  kFits,     // one is there that the kernel would take
  kBuild,    // none that it would
  kUnknown,  // too little is seen
};
const char* name_of(Verdict verdict);
Verdict verdict_of(const Survey& survey);
// Null: none fits.
const Candidate* fitting(const Survey& survey);

// 0: a module is loaded, fits, or is not needed; else 1.
int exit_status(const Survey& survey);

std::string to_text(const Survey& survey, const text::Style& style);
std::string to_json(const Survey& survey, const text::Provenance& provenance = {});

}  // namespace gdr::peermem
