// Root's gdr looks for programs and libraries in no folder of PATH and LD_LIBRARY_PATH that another
// account can put something into.
#pragma once

#include <string>

namespace gdr::cli {

// Takes such folders out of both variables, and says so. The loader has read the second one when
// this process started, so with another one this program begins again with the words `argv`. Does
// nothing for other accounts than root: what they search is their own choice.
void leave_out_unsafe_folders(char** argv);

// PATH as it was given.
const std::string& given_path();

}  // namespace gdr::cli
