// The shared object itself: what it exports, what it needs, and how entry points are asked for.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <string>

#include "soft_gpu.h"

namespace gdr::softgpu {
namespace {

using namespace cuda;

std::string output_of(const std::string& command) {
  std::string text;
  FILE* pipe = popen(command.c_str(), "r");
  std::array<char, 4096> part;
  for (std::size_t n; pipe != nullptr && (n = fread(part.data(), 1, part.size(), pipe)) > 0;) {
    text.append(part.data(), n);
  }
  EXPECT_EQ(pipe != nullptr ? pclose(pipe) : -1, 0) << command;
  return text;
}

class Library : public SoftGpu {};

TEST_F(Library, NeedsNothingBeyondLibc) {
#if GDR_SANITIZED
  GTEST_SKIP() << "a sanitizer adds its own library";
#endif
  const std::set<std::string> allowed{"libc.so.6",
                                      "libm.so.6",
                                      "libpthread.so.0",
                                      "libdl.so.2",
                                      "ld-linux-x86-64.so.2",
                                      "ld-linux-aarch64.so.1"};
  std::istringstream lines(output_of("readelf -d " GDR_SOFT_LIBCUDA));
  int needed = 0;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("(NEEDED)") == std::string::npos) continue;
    ++needed;
    const auto open = line.find('[');
    EXPECT_TRUE(allowed.contains(line.substr(open + 1, line.find(']') - open - 1))) << line;
  }
  EXPECT_GT(needed, 0);
}

TEST_F(Library, ExportsTheDriversFunctionsAndNothingElse) {
  std::istringstream lines(output_of("nm -D --defined-only " GDR_SOFT_LIBCUDA));
  int functions = 0;
  for (std::string line; std::getline(lines, line);) {
    const std::string name = line.substr(line.rfind(' ') + 1);
    EXPECT_TRUE(name.size() > 2 && name.starts_with("cu") && std::isupper(name[2])) << name;
    ++functions;
  }
  EXPECT_GT(functions, 600);
}

TEST_F(Library, ExportsEveryFunctionThatTheGenuineHeaderDeclares) {
  std::ifstream header(GDR_CUDA_HEADERS "/cuda.h");
  if (!header) GTEST_SKIP() << "no <cuda.h> when this build was configured";
  const std::string text{std::istreambuf_iterator<char>(header), {}};
  void* library = dlopen(GDR_SOFT_LIBCUDA, RTLD_NOW);
  int functions = 0;
  // What a declaration or a macro of the header makes of a call, by what stands in front of it.
  const std::pair<std::string, std::string> kinds[] = {
      {"CUresult CUDAAPI ", ""}, {"__CUDA_API_PTDS(", "_ptds"}, {"__CUDA_API_PTSZ(", "_ptsz"}};
  for (const auto& [marker, suffix] : kinds) {
    for (auto at = text.find(marker); at != std::string::npos; at = text.find(marker, at)) {
      at += marker.size();
      const auto end = text.find_first_not_of(
          "_0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", at);
      const std::string name = text.substr(at, end - at);
      if (!name.starts_with("cu")) continue;
      EXPECT_NE(dlsym(library, (name + suffix).c_str()), nullptr) << name + suffix;
      ++functions;
    }
  }
  EXPECT_GT(functions, 500);
}

TEST_F(Library, GivesTheVersionThatTheAskedCudaHad) {
  void* function = nullptr;
  CUdriverProcAddressQueryResult status{};
  void* library = dlopen(GDR_SOFT_LIBCUDA, RTLD_NOW);
  ASSERT_CU(CUDA_SUCCESS, cu.get_proc_address("cuMemAlloc", &function, 13000, 0, &status));
  EXPECT_EQ(function, dlsym(library, "cuMemAlloc_v2"));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SUCCESS);
  ASSERT_CU(CUDA_SUCCESS, cu.get_proc_address("cuCtxCreate", &function, 11040, 0, &status));
  EXPECT_EQ(function, dlsym(library, "cuCtxCreate_v3"));
  ASSERT_CU(CUDA_SUCCESS,
            cu.get_proc_address("cuMemcpyAsync", &function, 12000,
                                CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, &status));
  EXPECT_EQ(function, dlsym(library, "cuMemcpyAsync_ptsz"));
  // Not to find one is no error, asked for the status or not.
  EXPECT_CU(CUDA_SUCCESS,
            cu.get_proc_address("cuMemGetHandleForAddressRange", &function, 11060, 0, &status));
  EXPECT_EQ(status, CU_GET_PROC_ADDRESS_VERSION_NOT_SUFFICIENT);
  EXPECT_EQ(function, nullptr);
  for (const char* name : {"cuNoSuchFunction", "malloc", ""}) {
    function = library;
    EXPECT_CU(CUDA_SUCCESS, cu.get_proc_address(name, &function, 13000, 0, &status));
    EXPECT_EQ(status, CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND);
    EXPECT_EQ(function, nullptr);
    EXPECT_CU(CUDA_SUCCESS, cu.get_proc_address(name, &function, 13000, 0, nullptr));
  }
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.get_proc_address("cuMemAlloc", &function, 99000, 0, &status));
  EXPECT_CU(CUDA_ERROR_INVALID_VALUE,
            cu.get_proc_address("cuMemAlloc", &function, 13000, 8, &status));
  // The first version of the interface has no status and says it by its result.
  ASSERT_CU(CUDA_SUCCESS, cu.get_proc_address("cuGetProcAddress", &function, 11030, 0, &status));
  auto first = reinterpret_cast<CUresult (*)(const char*, void**, int, std::uint64_t)>(function);
  EXPECT_CU(CUDA_ERROR_NOT_FOUND, first("cuNoSuchFunction", &function, 11030, 0));
  EXPECT_CU(CUDA_SUCCESS, first("cuMemAlloc", &function, 11030, 0));
  EXPECT_EQ(function, dlsym(library, "cuMemAlloc_v2"));
}

TEST_F(Library, KernelsAreRefusedAsNotSupported) {
  void* library = dlopen(GDR_SOFT_LIBCUDA, RTLD_NOW);
  for (const char* name : {"cuModuleLoadData", "cuLaunchKernel", "cuGraphCreate", "cuGraphLaunch",
                           "cuMemAllocManaged", "cuGetExportTable"}) {
    auto function = reinterpret_cast<CUresult (*)(void*, void*)>(dlsym(library, name));
    ASSERT_NE(function, nullptr) << name;
    EXPECT_CU(CUDA_ERROR_NOT_SUPPORTED, function(nullptr, nullptr)) << name;
  }
}

TEST_F(Library, IsFoundByWhoeverRunsInTheSameProcess) {
  // Its SONAME is the driver's, so the software NIC sees it as the process's driver.
  EXPECT_EQ(Driver::already_loaded(), &cu);
}

}  // namespace
}  // namespace gdr::softgpu
