// Words as a POSIX shell or fish reads them again.
//
//   shell_word("n07")        // n07
//   shell_word("it's here")  // 'it'\''s here'
#pragma once

#include <string>
#include <vector>

namespace gdr::text {

std::string shell_word(const std::string& word);
// With a space between them.
std::string shell_words(const std::vector<std::string>& words);

}  // namespace gdr::text
