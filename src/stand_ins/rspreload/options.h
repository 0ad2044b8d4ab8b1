// What an rsocket gets beside its address: the sizes that the environment asks for, and what the
// program has set on its front before.
#pragma once

namespace gdr::rspreload {

// Without effect where the rsocket refuses one of them: it then keeps its own.
void set_sizes(int rsocket);
void copy_options(int front, int rsocket);

bool is_nonblocking(int front);

}  // namespace gdr::rspreload
