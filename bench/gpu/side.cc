#include "side.h"

#include <unistd.h>

#include <cstdio>

#include "socket.h"

namespace gdr::bench {
namespace {

struct Introduction {
  LinkAddress link;
  std::array<Place, kMemories> places;
  ExportedMemory gpu;
  char gpu_name[128];
};

constexpr const char* kNames[kMemories] = {"GPU memory", "pinned host memory", "host memory"};

}  // namespace

Side::Side(const Options& options, bool is_peer, int socket, Flags& flags)
    : flags_(flags), memories_(options, choose_gpu(options, is_peer)) {
  for (std::size_t i = 0; i < kMemories; ++i) {
    const auto memory = static_cast<Memory>(i);
    own_[i] = link_.enroll(memories_.address(memory), memories_.bytes(memory), kNames[i]);
  }
  introduce(socket, options.vmm);
}

void Side::introduce(int socket, bool vmm) {
  Introduction introduction{link_.address(), own_, {}, {}};
  int own_descriptor = -1;
  introduction.gpu = gpu().share(own(Memory::kGpu).address, vmm, own_descriptor);
  std::snprintf(introduction.gpu_name, sizeof introduction.gpu_name, "GPU %d (%.100s)",
                gpu().ordinal(), gpu().name().c_str());
  send_packet(socket, &introduction, sizeof introduction, own_descriptor);
  if (own_descriptor >= 0) close(own_descriptor);
  receive_packet(socket, &introduction, sizeof introduction, &descriptor_);
  peers_ = introduction.places;
  peers_gpu_ = introduction.gpu_name;
  exported_ = introduction.gpu;
  link_.connect(introduction.link);
  // Neither writes before the other is connected.
  const char connected = 1;
  char answer = 0;
  send_packet(socket, &connected, 1);
  receive_packet(socket, &answer, 1);
}

}  // namespace gdr::bench
