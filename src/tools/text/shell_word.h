// A word as a POSIX shell reads it again.
//
//   shell_word("n07")        // n07
//   shell_word("it's here")  // 'it'\''s here'
#pragma once

#include <string>

namespace gdr::text {

std::string shell_word(const std::string& word);

}  // namespace gdr::text
