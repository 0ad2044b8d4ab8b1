// The processors that this process may use. Cold: a system call.
//
//   if (gdr::usable_processors() >= 8) start_another_thread();
#pragma once

namespace gdr {

unsigned usable_processors();  // 0: not known

}  // namespace gdr
