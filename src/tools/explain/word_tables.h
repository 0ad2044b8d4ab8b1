// The tables of word sets, each defined in the file of its name.
#pragma once

#include "explain/word_set.h"

namespace gdr::explain {

const std::vector<WordSet>& error_words();  // numbers and messages as in Linux and glibc
const std::vector<WordSet>& name_words();   // modules, libraries, drivers
const std::vector<WordSet>& rdma_words();   // the parts of RDMA
// Names of this field, folded, that no other word has in it: where one is near, words that
// everybody uses ("times slower", "completed", "register") are likely to be about it.
const std::vector<std::string>& field_names();

}  // namespace gdr::explain
