// errno_or(): why a call of librdmacm or libibverbs failed. Not all of them say it.
//
//   errno = 0;
//   if (rdma_create_qp(id, nullptr, &attributes) != 0) return errno_or(EINVAL);
#pragma once

#include <cerrno>

namespace gdr::rsockets {

inline int errno_or(int otherwise) { return errno != 0 ? errno : otherwise; }

}  // namespace gdr::rsockets
