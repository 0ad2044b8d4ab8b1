// A report for somebody who was not there: as one page to attach to a ticket, and as Markdown to
// paste into an issue, without the host's name and addresses.
//
//   Result<void> written = write_output("proof.html", to_html(report));
#pragma once

#include <string>

#include "proof/report.h"

namespace gdr::proof {

std::string to_html(const Report& report);
std::string to_markdown(const Report& report);

}  // namespace gdr::proof
