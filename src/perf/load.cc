#include "perf/load.h"

namespace gdr::perf {

bool is_staged(const Load& load) {
  return load.near.kind == Place::Kind::kStaged || load.far.kind == Place::Kind::kStaged;
}

bool is_polled_in_memory(const Load& load) {
  return load.measure == Measure::kLatency && load.operation == Operation::kWrite && !load.check &&
         !load.events && !load.near.is_gpu() && !load.far.is_gpu();
}

bool needs_receives(const Load& load) {
  if (is_received(load.operation) || is_staged(load)) return true;
  return load.operation == Operation::kWrite && load.measure == Measure::kLatency &&
         !is_polled_in_memory(load);
}

const char* name_of(Operation operation) {
  switch (operation) {
    case Operation::kWrite:
      return "write";
    case Operation::kWriteWithImmediate:
      return "write-imm";
    case Operation::kRead:
      return "read";
    case Operation::kSend:
      return "send";
    case Operation::kFetchAndAdd:
      return "fetch-add";
    default:
      return "compare-swap";
  }
}

const char* name_of(Transport transport) {
  switch (transport) {
    case Transport::kRc:
      return "RC";
    case Transport::kUc:
      return "UC";
    case Transport::kUd:
      return "UD";
    default:
      return "XRC";
  }
}

const char* name_of(Measure measure) {
  switch (measure) {
    case Measure::kBandwidth:
      return "bandwidth";
    case Measure::kLatency:
      return "latency";
    default:
      return "rate";
  }
}

const char* name_of(Way way) {
  switch (way) {
    case Way::kDmaBuf:
      return "dma-buf";
    case Way::kPeerMemory:
      return "peer-memory";
    default:
      return "any";
  }
}

std::string text_of(const Place& place) {
  switch (place.kind) {
    case Place::Kind::kGpu:
      return "gpu:" + std::to_string(place.gpu);
    case Place::Kind::kGpuVmm:
      return "gpu-vmm:" + std::to_string(place.gpu);
    case Place::Kind::kStaged:
      return "staged:" + std::to_string(place.gpu);
    default:
      return "host";
  }
}

}  // namespace gdr::perf
