// Verifier: what a client's threads ask the server for, with --check, while a row runs.
#pragma once

#include "base/result.h"
#include "perf/messages.h"
#include "perf/statistics/clock.h"

namespace gdr::perf {

// Asks the server, over the control connection.
class Verifier {
 public:
  virtual ~Verifier() = default;
  virtual Result<void> fill(const Window& window) = 0;
  // When it was asked: it begins between that and the return.
  virtual Result<Ticks> move(const Window& window) = 0;
  virtual Result<VerifyWindow::Reply> verify(const Window& window) = 0;
};

}  // namespace gdr::perf
