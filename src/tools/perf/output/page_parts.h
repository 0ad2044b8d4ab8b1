// What the page is made of besides the report, as bytes inside the program: see
// src/tools/perf/CMakeLists.txt.
#pragma once

#include <string_view>

namespace gdr::perf {

std::string_view chart_js();       // Chart.js as its package has it
std::string_view chart_licence();  // what its licence wants to be given along
std::string_view page_css();
std::string_view page_js();

}  // namespace gdr::perf
