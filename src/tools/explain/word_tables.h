// The tables of word sets, each defined in the file of its name.
#pragma once

#include "explain/word_set.h"

namespace gdr::explain {

const std::vector<WordSet>& error_words();  // numbers and messages as in Linux and glibc
const std::vector<WordSet>& name_words();   // modules, libraries, drivers
const std::vector<WordSet>& rdma_words();   // the parts of RDMA

}  // namespace gdr::explain
