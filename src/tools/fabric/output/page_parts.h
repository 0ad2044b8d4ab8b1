// What the page is made of besides the report, as bytes inside the program: see
// src/tools/fabric/CMakeLists.txt.
#pragma once

#include <string_view>

namespace gdr::fabric {

std::string_view page_css();
std::string_view cells_js();
std::string_view words_js();
std::string_view map_js();
std::string_view edges_js();
std::string_view page_js();

}  // namespace gdr::fabric
