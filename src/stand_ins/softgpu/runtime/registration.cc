// What nvcc's start-up code calls in every program with kernels. Registering does nothing, so that
// such programs start and may copy memory; launching says that it is not supported.
#include "softgpu/runtime/call.h"

#define GDR_RT_VOID extern "C" __attribute__((visibility("default"))) void

namespace gdr::softgpu::runtime {

// Programs only hand this back.
static void* registered_binary = nullptr;

extern "C" __attribute__((visibility("default"))) void** __cudaRegisterFatBinary(void*) {
  return &registered_binary;
}
extern "C" __attribute__((visibility("default"))) char __cudaInitModule(void**) { return 0; }
GDR_RT_VOID __cudaRegisterFatBinaryEnd(void**) {}
GDR_RT_VOID __cudaUnregisterFatBinary(void**) {}
GDR_RT_VOID __cudaRegisterFunction() {}
GDR_RT_VOID __cudaRegisterVar() {}
GDR_RT_VOID __cudaRegisterHostVar() {}
GDR_RT_VOID __cudaRegisterManagedVar() {}
GDR_RT_VOID __cudaRegisterUnifiedTable() {}

// Not zero: the launch that follows in the program is then left out.
extern "C" __attribute__((visibility("default"))) unsigned __cudaPushCallConfiguration() {
  keep(cudaErrorNotSupported);
  return 1;
}
GDR_RT __cudaPopCallConfiguration() { return keep(cudaErrorNotSupported); }
GDR_RT __cudaLaunchKernel() { return keep(cudaErrorNotSupported); }
GDR_RT __cudaLaunchKernel_ptsz() { return keep(cudaErrorNotSupported); }
GDR_RT __cudaGetKernel() { return keep(cudaErrorNotSupported); }

#define GDR_RT_UNSUPPORTED(name) \
  GDR_RT name() { return keep(cudaErrorNotSupported); }
#include "softgpu/runtime/unsupported.inc"
#undef GDR_RT_UNSUPPORTED

}  // namespace gdr::softgpu::runtime
