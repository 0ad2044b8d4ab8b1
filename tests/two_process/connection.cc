#include "connection.h"

namespace gdr::test {

void be_target(Wire& wire, const TargetOptions& options,
               const std::function<void(TargetSide)>& body) {
  Side side(0, options.completions, options.with_channel);
  Memory& memory = side.memory(options.bytes, options.access);
  ibv_qp* qp = side.queue_pair(options.type);
  wire.send(side.endpoint(qp));
  wire.send(memory.remote());
  side.connect(qp, wire.receive<Endpoint>(), options.patience);
  wire.meet();
  body({side, memory, qp, wire});
}

Remote connect_to_target(Side& side, ibv_qp* qp, Wire& wire, const Patience& patience,
                         Endpoint* target) {
  const auto endpoint = wire.receive<Endpoint>();
  const auto remote = wire.receive<Remote>();
  wire.send(side.endpoint(qp));
  side.connect(qp, endpoint, patience);
  wire.meet();
  if (target != nullptr) *target = endpoint;
  return remote;
}

}  // namespace gdr::test
