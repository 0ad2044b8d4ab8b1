// Manual pages in mdoc(7).
//
//   Edition edition{"0.1.0", "November 26, 2026"};
//   write("gdr-prove.1", man_page(command, *find_page("gdr prove"), edition));
//   write("gdr-soft.7", soft_page(edition));
#pragma once

#include <string>
#include <vector>

#include "manual/command.h"
#include "manual/mdoc.h"
#include "manual/page.h"

namespace gdr::manual {

struct Edition {
  std::string version;  // of the program
  std::string date;     // "November 26, 2026"
};

// A table of other names for options: perftest's beside ours.
struct Aliases {
  std::string heading, text;
  std::vector<Option> options;
};

std::string man_page(const Command& command, const Page& page, const Edition& edition,
                     const Aliases& aliases = {});

// gdr-soft(7): the stand-ins and the environment variables.
std::string soft_page(const Edition& edition);

// ".Dd", ".Dt" and ".Os", and the section NAME.
void begin_page(Mdoc& page, const std::string& name, const std::string& section,
                const std::string& summary, const Edition& edition);
// The section SEE ALSO; "gdr-fix(1)" and so on are sorted as mdoc wants it.
void see_also(Mdoc& page, std::vector<std::string> pages);

}  // namespace gdr::manual
