// The C library's own dlvsym, read from its symbol table: both ways of asking for it by name are
// this library's own functions.
#pragma once

namespace gdr::watch {

// Null where it was not found.
void* dlvsym_of_c_library();

}  // namespace gdr::watch
