// Verifier: what a client's threads ask the server for, with --check, while a row runs.
#pragma once

#include "base/result.h"
#include "perf/messages.h"

namespace gdr::perf {

// Asks the server, over the control connection.
class Verifier {
 public:
  virtual ~Verifier() = default;
  // The window has been sent: compare it.
  virtual Result<VerifyWindow::Reply> verify(const Window& window) = 0;
  // The window is to be read: fill it.
  virtual Result<void> fill(const Window& window) = 0;
};

}  // namespace gdr::perf
