// A libnvidia-ml with two GPUs, each with an NVLink to the other and two to switches; a third one
// has fallen off the bus. It lacks the virtualization mode, as an old library may.
#include <cstring>

#include "cuda/nvml.h"

using gdr::cuda::NvmlBar1Memory;
using gdr::cuda::NvmlDevice;
using gdr::cuda::NvmlPciInformation;

namespace {

constexpr int kInvalidArgument = 2, kNotSupported = 3, kGpuIsLost = 15;
int started = 0;
char first, second;

void fill(NvmlPciInformation* information, unsigned bus) {
  std::memset(information, 0, sizeof *information);
  information->bus = bus;
  std::strcpy(information->address, "00000000:3B:00.0");
}

}  // namespace

extern "C" {

int nvmlInit_v2() { return ++started, 0; }
int nvmlShutdown() { return --started, 0; }
int fake_nvml_started() { return started; }

int nvmlSystemGetDriverVersion(char* text, unsigned length) {
  return std::strncpy(text, "570.86.15", length), 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) { return *count = 3, 0; }
int nvmlDeviceGetHandleByIndex_v2(unsigned index, NvmlDevice* device) {
  if (index == 2) return kGpuIsLost;
  return *device = index == 0 ? &first : &second, 0;
}
int nvmlDeviceGetName(NvmlDevice, char* text, unsigned length) {
  return std::strncpy(text, "NVIDIA H200", length), 0;
}
int nvmlDeviceGetPciInfo_v3(NvmlDevice device, NvmlPciInformation* information) {
  return fill(information, device == &first ? 0x3b : 0x4c), 0;
}
int nvmlDeviceGetBAR1MemoryInfo(NvmlDevice, NvmlBar1Memory* memory) {
  return *memory = {256ull << 30, 255ull << 30, 1ull << 30}, 0;
}
int nvmlDeviceGetPersistenceMode(NvmlDevice device, int* enabled) {
  return *enabled = device == &first, 0;
}
int nvmlDeviceGetMigMode(NvmlDevice, unsigned*, unsigned*) { return kNotSupported; }
int nvmlDeviceGetNvLinkState(NvmlDevice, unsigned link, int* active) {
  if (link >= 18) return kInvalidArgument;
  return *active = link < 3, 0;
}
int nvmlDeviceGetNvLinkRemoteDeviceType(NvmlDevice, unsigned link, unsigned* type) {
  return *type = link == 0 ? 0 : 2, 0;
}
int nvmlDeviceGetNvLinkRemotePciInfo_v2(NvmlDevice device, unsigned link,
                                        NvmlPciInformation* information) {
  if (link != 0) return kNotSupported;
  return fill(information, device == &first ? 0x4c : 0x3b), 0;
}
}
