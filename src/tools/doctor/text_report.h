// The report for a person: first what is to be set right first.
//
//   std::string text = to_text(report, {});
#pragma once

#include <string>

#include "doctor/container.h"
#include "doctor/host.h"
#include "doctor/report.h"
#include "text/style.h"

namespace gdr::doctor {

struct TextOptions {
  bool all = false;  // also what is well, and what does not apply
  text::Style style;
};

// Lines, broken where the style says so.
std::string to_text(const Report& report, const TextOptions& options);

// "2 fail, 1 warning, 1 unknown, 20 ok", and how long that took.
std::string summary(const Report& report);

// One check: what it is about, how it judges, what it has found and read here.
std::string explain(const Judgement& judgement, const TextOptions& options);

std::string to_text(const ContainerView& view, const TextOptions& options);

}  // namespace gdr::doctor
