// A process whose address space is limited (RLIMIT_AS, as batch systems and `ulimit -v` set it)
// runs out of memory while the machine has plenty, and no error number says so.
//
//   return Error{code, "ibv_open_device: " + text + address_space_advice(code)};
#pragma once

#include <cstdint>
#include <string>

namespace gdr {

// "this process may map only 512 MiB (RLIMIT_AS): type 'ulimit -v unlimited'". Empty where it may
// map as many bytes.
std::string address_space_shortage(std::uint64_t needed);
// Whether the process may lift the limit itself.
bool may_lift_address_space();

// The same behind "; ", for an error. Empty unless the code is ENOMEM and there is a limit.
std::string address_space_advice(int code);

}  // namespace gdr
