// Text as the content of an element, or the value of an attribute in double quotes, of HTML and
// XML.
//
//   page += "<td>" + escape_markup(name) + "</td>";
#pragma once

#include <string>
#include <string_view>

namespace gdr::text {

// Made fit to be shown first (printable.h). What XML cannot hold even escaped (U+FFFE, U+FFFF) is a
// question mark.
std::string escape_markup(std::string_view given);

}  // namespace gdr::text
