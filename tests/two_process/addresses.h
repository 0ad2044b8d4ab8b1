// Addresses that no other test program uses at the same time.
#pragma once

#include <string>

namespace gdr::test {

// An address of the loopback that no other test has at this time; `side` 0 to 3.
std::string loopback_address(int side);

}  // namespace gdr::test
