// cuInit, versions, error texts.
#include <errno.h>
#include <unistd.h>

#include <cstdlib>

#include "ledger/ledger.h"
#include "softgpu/process.h"

namespace gdr::softgpu {

using namespace cuda;

namespace {

struct Texts {
  const char* name = nullptr;
  const char* message = nullptr;
};

Texts texts_of(CUresult error) {
  switch (error) {
#define GDR_CUDA_RESULT(name, number, message) \
  case name:                                   \
    return {#name, message};
#include "cuda/driver_results.inc"
#undef GDR_CUDA_RESULT
  }
  return {};
}

CUresult answer(CUresult error, const char* Texts::*which, const char** text) {
  if (text == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *text = texts_of(error).*which;
  return *text != nullptr ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

// To the ledger of `gdr run`, for the line that it prints at the end of a program.
void tell_of_use() {
  ledger::Ledger* ledger = ledger::attach(std::getenv(ledger::kRunVariable));
  if (ledger == nullptr) return;
  ledger::Process* process = ledger::claim_process(*ledger, static_cast<std::uint32_t>(getpid()),
                                                   program_invocation_short_name);
  if (process != nullptr) process->libraries.fetch_or(ledger::kSoftGpu, std::memory_order_relaxed);
}

}  // namespace

GDR_CU cuInit(unsigned flags) {
  if (flags != 0) return CUDA_ERROR_INVALID_VALUE;
  static const bool told = (tell_of_use(), true);
  (void)told;
  return guarded([] { return Process::instance().initialise(); });
}

GDR_CU cuDriverGetVersion(int* version) {
  if (version == nullptr) return CUDA_ERROR_INVALID_VALUE;
  *version = kDriverVersion;
  return CUDA_SUCCESS;
}

GDR_CU cuGetErrorName(CUresult error, const char** text) {
  return answer(error, &Texts::name, text);
}

GDR_CU cuGetErrorString(CUresult error, const char** text) {
  return answer(error, &Texts::message, text);
}

}  // namespace gdr::softgpu
