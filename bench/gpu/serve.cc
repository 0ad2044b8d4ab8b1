#include "serve.h"

#include <unistd.h>

#include <bit>

#include "cases.h"
#include "child.h"
#include "clock.h"
#include "socket.h"
#include "staged.h"

namespace gdr::bench {
namespace {

struct Copier {
  Memories& memories;
  std::uint64_t opened;  // the peer's GPU memory
  int in_flight;

  void run(const Case& which, std::size_t bytes, int count);
  void run_in_flight(std::uint64_t to, std::uint64_t from, std::size_t bytes, int count);
};

void Copier::run(const Case& which, std::size_t bytes, int count) {
  Gpu& gpu = memories.gpu();
  const std::uint64_t from = is_from_peer(which) ? opened : memories.address(which.from);
  const std::uint64_t to = is_into_peer(which) ? opened : memories.address(which.to);
  if (which.in_flight) return run_in_flight(to, from, bytes, count);
  const Gpu::Kind kind = which.from != Memory::kGpu ? Gpu::Kind::kFromHost
                         : which.to != Memory::kGpu ? Gpu::Kind::kToHost
                                                    : Gpu::Kind::kOnDevice;
  for (int i = 0; i < count; ++i) {
    gpu.copy(to, from, bytes, kind);
    gpu.finish();
  }
}

void Copier::run_in_flight(std::uint64_t to, std::uint64_t from, std::size_t bytes, int count) {
  Gpu& gpu = memories.gpu();
  for (int i = 0; i < count; ++i) {
    const int slot = i % in_flight;
    const std::size_t offset = bytes * static_cast<std::size_t>(slot);
    if (i >= in_flight) gpu.await(slot);
    gpu.copy(to + offset, from + offset, bytes);
    gpu.mark(slot);
  }
  gpu.finish();
}

}  // namespace

void serve_as_peer(const Options& options, int socket, Flags& flags) {
  Side side(options, true, socket, flags);
  Order order;
  while (receive_packet_or_end(socket, &order, sizeof order)) {
    const bool stages = order.kind == Order::Kind::kStage;
    const std::uint64_t answer = stages ? 0 : fill_or_compare(side.memories(), order);
    send_packet(socket, &answer, sizeof answer);
    if (stages) take_staged(side, order.bytes, order.chunk, static_cast<int>(order.count));
  }
}

void serve_copies(const Options& options, int socket) {
  ExportedMemory exported;
  int descriptor = -1;
  if (!receive_packet_or_end(socket, &exported, sizeof exported, &descriptor)) return;
  Memories memories(options, choose_gpu(options, false));
  Copier copier{memories, memories.gpu().open(exported, descriptor), options.in_flight};
  if (descriptor >= 0) close(descriptor);
  Order order;
  while (receive_packet_or_end(socket, &order, sizeof order)) {
    std::uint64_t answer = 0;
    if (order.kind == Order::Kind::kCopy) {
      const Case& which = case_of(order.which);
      const int count = static_cast<int>(order.count);
      copier.run(which, order.bytes, 1);
      answer = std::bit_cast<std::uint64_t>(
          seconds_of_each(count, [&] { copier.run(which, order.bytes, count); }));
    } else {
      answer = fill_or_compare(memories, order);
    }
    send_packet(socket, &answer, sizeof answer);
  }
}

}  // namespace gdr::bench
