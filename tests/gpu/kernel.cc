#include "kernel.h"

#include <dlfcn.h>
#include <unistd.h>

namespace gdr::test {
namespace {

using cuda::CUresult;

// The first thread of each block looks, the others wait for it at a barrier. Only the first block
// looks at the host's words, and tells the others by `relay`: many readers of host memory slow
// every copy.
constexpr const char* kText = R"(
.version 7.0
.target sm_75
.address_size 64
.visible .entry spin(.param .u64 p_flag, .param .u64 p_relay, .param .u64 p_words,
                     .param .u64 p_limit)
{
  .reg .pred %first, %done;
  .reg .b32 %value, %outcome, %index;
  .reg .b64 %flag, %relay, %words, %limit, %begin, %time;
  mov.u32 %index, %tid.x;
  setp.ne.u32 %done, %index, 0;
  @%done bra WAIT;
  ld.param.u64 %flag, [p_flag];
  ld.param.u64 %relay, [p_relay];
  ld.param.u64 %words, [p_words];
  ld.param.u64 %limit, [p_limit];
  mov.u32 %index, %ctaid.x;
  setp.eq.u32 %first, %index, 0;
  mov.u64 %begin, %globaltimer;
  mov.u32 %value, 1;
  @%first st.volatile.global.u32 [%words + 4], %value;
LOOK:
  mov.u32 %outcome, 2;
  ld.volatile.global.u32 %value, [%flag];
  setp.ne.u32 %done, %value, 0;
  @%done bra DONE;
  mov.u32 %outcome, 3;
  ld.volatile.global.u32 %value, [%relay];
  @%first ld.volatile.global.u32 %value, [%words];
  setp.ne.u32 %done, %value, 0;
  @%done bra DONE;
  mov.u32 %outcome, 4;
  mov.u64 %time, %globaltimer;
  sub.u64 %time, %time, %begin;
  setp.lt.u64 %done, %time, %limit;
  @%done bra LOOK;
DONE:
  mov.u32 %value, 1;
  @%first st.volatile.global.u32 [%relay], %value;
  @%first st.volatile.global.u32 [%words + 8], %outcome;
WAIT:
  bar.sync 0;
  ret;
}
)";

template <typename Function>
Function* entry(const cuda::Driver& driver, const char* name) {
  void* library = dlopen(driver.path().c_str(), RTLD_NOW | RTLD_NOLOAD);
  void* found = library != nullptr ? dlsym(library, name) : nullptr;
  if (found == nullptr) throw Failure(std::string("the driver has no ") + name);
  return reinterpret_cast<Function*>(found);
}

using LoadModule = CUresult(void** module, const void* text);
using GetFunction = CUresult(void** function, void* module, const char* name);
using Launch = CUresult(void* function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                        unsigned, cuda::CUstream stream, void** parameters, void** extra);

}  // namespace

void check(const cuda::Driver& driver, CUresult result, const char* call) {
  if (result != cuda::CUDA_SUCCESS) {
    throw Failure(std::string(call) + ": " + driver.describe(result));
  }
}
#define CHECK(call) check(driver_, driver_.call, #call)

namespace {

class Current {
 public:
  Current(const cuda::Driver& driver, cuda::CUcontext context) : driver_(driver) {
    CHECK(ctx_push_current(context));
  }
  ~Current() {
    cuda::CUcontext popped = nullptr;
    (void)driver_.ctx_pop_current(&popped);
  }
  Current(const Current&) = delete;
  Current& operator=(const Current&) = delete;

 private:
  const cuda::Driver& driver_;
};

}  // namespace

bool Kernel::can_run(const cuda::Driver& driver) {
  void* module = nullptr;
  return entry<LoadModule>(driver, "cuModuleLoadData")(&module, kText) !=
         cuda::CUDA_ERROR_NOT_SUPPORTED;
}

Kernel::Kernel(const cuda::Driver& driver, bool whole) : driver_(driver) {
  CHECK(ctx_get_current(&context_));
  void* module = nullptr;
  check(driver_, entry<LoadModule>(driver_, "cuModuleLoadData")(&module, kText), "the kernel");
  check(driver_, entry<GetFunction>(driver_, "cuModuleGetFunction")(&function_, module, "spin"),
        "the kernel's function");
  if (whole) {
    cuda::CUdevice device = 0;
    int processors = 0, threads = 0;
    CHECK(ctx_get_device(&device));
    CHECK(
        device_get_attribute(&processors, cuda::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, device));
    CHECK(device_get_attribute(&threads, cuda::CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR,
                               device));
    threads_ = 1024;
    blocks_ = static_cast<unsigned>(processors) * (static_cast<unsigned>(threads) / threads_);
  }
  void* words = nullptr;
  CHECK(mem_host_alloc(&words, sizeof(Words), 0));
  words_ = static_cast<Words*>(words);
  CHECK(mem_host_get_device_pointer(&words_on_device_, words, 0));
  CHECK(mem_alloc(&relay_, 4));
  CHECK(stream_create(&stream_, cuda::CU_STREAM_NON_BLOCKING));
  start(relay_, 0);  // the first launch may bring the code to the GPU, which waits for what runs
  (void)end();
}

void Kernel::start(cuda::CUdeviceptr flag, Nanoseconds limit) {
  const Current current(driver_, context_);
  CHECK(memset_d32(relay_, 0, 1));
  CHECK(ctx_synchronize());
  words_->stop = 0;
  words_->started = 0;
  words_->outcome = Outcome::kNone;
  std::uint64_t nanoseconds = limit;
  void* parameters[] = {&flag, &relay_, &words_on_device_, &nanoseconds};
  check(driver_,
        entry<Launch>(driver_, "cuLaunchKernel")(function_, blocks_, 1, 1, threads_, 1, 1, 0,
                                                 stream_, parameters, nullptr),
        "cuLaunchKernel");
  const Nanoseconds patience = now() + 5 * kSecond;
  while (words_->started == 0) {
    if (now() > patience) throw Failure("the kernel does not start");
  }
}

Kernel::Outcome Kernel::end(Nanoseconds patience) {
  const Current current(driver_, context_);
  for (const Nanoseconds end = now() + patience;
       words_->outcome == Outcome::kNone && now() < end;) {
    usleep(10);
  }
  words_->stop = 1;
  CHECK(stream_synchronize(stream_));
  return words_->outcome;
}

}  // namespace gdr::test
