// A report as rich as one can be, made up: several sizes, all measures, direct and staged, data
// that was wrong, a row that failed. The tests of the outputs and of the page start from it.
#pragma once

#include "perf/report.h"

namespace gdr::perf {

// A name that would end a script, and quotes of every kind.
constexpr const char* kEvilName = "</script><script>document.title='taken over'</script>\"'&,";

Report sample_report();

// ESC, U+009B (a terminal's ESC [ in one character) and U+202E, and how they may be shown.
constexpr const char* kHostile =
    "a\x1b[2Jb\xc2\x9b"
    "31mc\xe2\x80\xae"
    "d";
constexpr const char* kHostileShown = "a [2Jb 31mc?d";

// One row, in which all that a server can say is kHostile.
Report report_of_hostile_server();

}  // namespace gdr::perf
