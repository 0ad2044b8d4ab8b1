// What copies between processes cost on this machine's GPUs: the measurements behind the choices of
// stand_ins/memory and stand_ins/local. Prints tables, and says nothing of right or wrong.
//
//   copy_costs                 # everything, from GPU 0 to GPU 1 (to GPU 0 if there is no other)
//   copy_costs small flow      # some of: small, flow, kernel, from-host, to-host, queued,
//                              # reset
//
// Some minutes; two processes at a time, one of which only owns the memory that is copied to.
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "ways.h"

namespace {

using namespace gdr::costs;

constexpr struct {
  const char* name;
  void (*measure)(int gpu, int far);
} kTopics[] = {{"small", small_copies},     {"flow", copies_in_flight},
               {"kernel", beside_a_kernel}, {"from-host", from_host_memory},
               {"to-host", to_host_memory}, {"queued", behind_queued_work},
               {"reset", after_a_reset}};

bool is_topic(const char* text) {
  for (const auto& topic : kTopics) {
    if (std::strcmp(topic.name, text) == 0) return true;
  }
  return false;
}

// In a process of its own, since the driver survives no fork.
int last_gpu() {
  int found[1] = {0};
  FILE* file = std::tmpfile();
  if (file == nullptr) return 0;
  apart([&] {
    load();
    must(driver->device_get_count(found), "cuDeviceGetCount");
    (void)std::fwrite(found, sizeof found, 1, file);
    (void)std::fflush(file);
  });
  std::rewind(file);
  const std::size_t items = std::fread(found, sizeof found, 1, file);
  (void)std::fclose(file);
  return items == 1 && found[0] > 1 ? 1 : 0;
}

}  // namespace

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) {
    if (is_topic(arguments[i])) continue;
    std::fprintf(
        stderr,
        "copy_costs: no topic '%s'; small, flow, kernel, from-host, to-host, queued, reset\n",
        arguments[i]);
    return 2;
  }
  const int far = last_gpu();
  std::printf("from GPU 0 to GPU %d\n", far);
  for (const auto& topic : kTopics) {
    bool wanted = count == 1;
    for (int i = 1; i < count; ++i) wanted |= std::strcmp(topic.name, arguments[i]) == 0;
    if (wanted) topic.measure(0, far);
  }
  return 0;
}
