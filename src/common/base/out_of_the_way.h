// Descriptors that a library keeps in a program of others, which may have no more than 1,024, are
// moved to numbers beyond its limit, which is raised for them. The program keeps as many as it had,
// and its own stay low, as select() needs.
//
//   UniqueFd exported = out_of_the_way(UniqueFd(made));
//
// The descriptor stays as it is if the hard limit leaves no room. Any thread may call it.
#pragma once

#include "base/unique_fd.h"

namespace gdr {

UniqueFd out_of_the_way(UniqueFd descriptor);

}  // namespace gdr
