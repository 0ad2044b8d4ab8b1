// The process that owns the rails of a host, or a share of them. The member starts it as a child,
// so that a driver's library that crashes or hangs is a finding; it does what the collector says
// (fabric/messages.h), which the member passes on.
//
//   Result<process::Worker> worker =
//       process::Worker::start("/proc/self/exe", {"fabric-worker"});
//   Talk talk(worker->take_socket());
//   talk.send(Begin{...});                      // answered by Ready or Unable
//   talk.send(Connect{...}); talk.send(Go{...});  // answered by StepDone each
//   talk.send(Abandon{...});                    // at any time, without an answer
//   talk.send(Finish{});
#pragma once

#include "fabric/messages.h"

namespace gdr::fabric {

// Until the other end says Finish or closes: 0. What does not belong there ends it, too: 1.
int serve_fabric_worker(Talk& talk);

// What the started process does: serves its parent. Returns its exit status.
int fabric_worker_main();

}  // namespace gdr::fabric
