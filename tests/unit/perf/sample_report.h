// A report as rich as one can be, made up: several sizes, all measures, direct and staged, data
// that was wrong, a row that failed. The tests of the outputs and of the page start from it.
#pragma once

#include "perf/report.h"

namespace gdr::perf {

// A name that would end a script, and quotes of every kind.
constexpr const char* kEvilName = "</script><script>document.title='taken over'</script>\"'&,";

Report sample_report();

}  // namespace gdr::perf
