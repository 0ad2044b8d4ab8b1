#include "peermem/build.h"

#include <fmt/format.h>
#include <unistd.h>

#include <array>

#include "base/environment.h"
#include "base/output_file.h"
#include "base/printable.h"
#include "fix/run_program.h"
#include "host/plain_path.h"
#include "peermem/driver_source.h"
#include "peermem/elf.h"
#include "peermem/headers.h"
#include "peermem/symvers.h"
#include "peermem/whole_file.h"
#include "process/private_folder.h"

namespace gdr::peermem {
namespace {

using host::Tri;
using process::PrivateFolder;

constexpr Nanoseconds kBuildLimit = 600 * kSecond;
constexpr std::array kSources = {"nvidia_peermem.c", "Kbuild", "Makefile"};

std::string shown(const ModuleFile& module) { return "/" + printable(module.path); }

bool has_versions(const Exports& exports) {
  for (const auto& [name, symbol] : exports) {
    if (symbol.crc) return true;
  }
  return false;
}

Result<void> check_driver(const Survey& survey) {
  if (survey.drivers.empty()) {
    return Error{ENOENT, fmt::format("no GPU driver for kernel {} is here; give its nvidia.ko with "
                                     "--driver-module, or its folder with --driver-root",
                                     survey.kernel)};
  }
  const ModuleFile* driver = survey.driver();
  if (driver == nullptr) return Error{EINVAL, survey.drivers.front().problem};
  if (driver->machine != machine_here()) {
    return Error{EINVAL, fmt::format("{} is for {}, and this machine is {}; give the nvidia.ko of "
                                     "this machine",
                                     shown(*driver), machine_name(driver->machine),
                                     machine_name(machine_here()))};
  }
  if (driver->kernel() != survey.kernel) {
    return Error{EINVAL, fmt::format("{} was built for kernel {}, not {}; give --kernel {}, or the "
                                     "nvidia.ko of kernel {}",
                                     shown(*driver), driver->kernel(), survey.kernel,
                                     driver->kernel(), survey.kernel)};
  }
  if (!driver->exports.contains(kPagesSymbol)) {
    return Error{EINVAL,
                 fmt::format("{} exports no {}, so it is not the GPU driver; give nvidia.ko",
                             shown(*driver), kPagesSymbol)};
  }
  if (!has_versions(driver->exports) && has_versions(survey.kernel_symbols.exports)) {
    return Error{EINVAL, fmt::format("{} has no symbol versions, which kernel {} wants; give an "
                                     "nvidia.ko that was built for it and not stripped",
                                     shown(*driver), survey.kernel)};
  }
  return {};
}

Result<void> check_rdma(const Survey& survey) {
  if (survey.has_interface == Tri::kYes && !survey.rdma.source.empty()) return {};
  if (survey.has_interface == Tri::kNo) {
    const std::string where =
        survey.rdma.source.empty() ? "of this kernel" : "(" + printable(survey.rdma.source) + ")";
    return Error{ENOTSUP, fmt::format("the RDMA stack {} has no {}, so no peer-memory module can "
                                      "help; use dma-buf, or give another stack with --rdma",
                                      where, kClientSymbol)};
  }
  return Error{ENOENT,
               "neither modules nor a Module.symvers of the RDMA stack are here; give its build "
               "folder with --rdma, such as /usr/src/ofa_kernel/default"};
}

// Debian's headers name the compiler of their kernel: "CC = … $(CROSS_COMPILE)gcc-12".
std::string compiler_of(const std::string& headers) {
  for (const std::string& line :
       host::Files("/").lines_with(headers.substr(1) + "/.kernelvariables", "CC = ")) {
    const std::size_t at = line.rfind("gcc");
    if (line.starts_with("CC = ") && at != std::string::npos) return line.substr(at);
  }
  return "gcc";
}

Result<void> check_tools(const std::string& headers, const Workshop& workshop) {
  const std::string compiler = compiler_of(headers);
  for (const std::string& program : {std::string("make"), compiler}) {
    if (workshop.has(program)) continue;
    return Error{ENOENT,
                 fmt::format("{0} is not installed; install it (Debian, Ubuntu: apt install "
                             "{0}; RHEL: dnf install {1})",
                             program, program == "make" ? "make" : "gcc")};
  }
  return {};
}

Result<void> fill(const PrivateFolder& scratch, const Survey& survey, const BuildOrder& order) {
  for (const char* name : kSources) {
    const Result<std::string> text = read_whole_file(order.source + "/" + name);
    if (!text) {
      return Error{text.error().code, text.error().message + "; install gdrkit as a whole"};
    }
    if (Result<void> put = write_output(scratch.name() + "/" + name, *text, Existing::kRefuse);
        !put)
      return put;
  }
  const std::string rdma = symvers_text(survey.rdma.exports, "ib_core");
  const std::string driver = symvers_text(survey.driver()->exports, "nvidia");
  if (Result<void> put = write_output(scratch.name() + "/rdma.symvers", rdma, Existing::kRefuse);
      !put)
    return put;
  return write_output(scratch.name() + "/nvidia.symvers", driver, Existing::kRefuse);
}

// What a reader wants first of a compiler's output.
std::string reason_in(const std::string& output) {
  std::string last, of_make;
  for (std::string_view line : split(output, '\n')) {
    if (line.find("error: ") != line.npos || line.find("ERROR: ") != line.npos) {
      return printable(line);
    }
    if (!line.empty()) (line.starts_with("make") ? of_make : last) = printable(line);
  }
  return last.empty() ? of_make : last;
}

Result<void> make(const PrivateFolder& scratch, const std::string& headers, const BuildOrder& order,
                  const Workshop& workshop) {
  const std::string& work = scratch.name();
  // Types for BPF would need the whole kernel image.
  const Result<fix::Ran> ran = workshop.run(
      {"make", "-s", "-C", work, "KDIR=" + headers, "NVIDIA_SYMVERS=" + work + "/nvidia.symvers",
       "RDMA_SYMVERS=" + work + "/rdma.symvers", "CONFIG_DEBUG_INFO_BTF_MODULES="});
  if (!ran) return ran.error();
  if (ran->status == 0 && access((work + "/nvidia-peermem.ko").c_str(), F_OK) == 0) return {};
  const std::string log = order.output + ".log";
  const bool kept = static_cast<bool>(write_output(log, ran->output));
  return Error{EIO, fmt::format("the build failed: {}{}", reason_in(ran->output),
                                kept ? "; all that the compiler said is in " + log : "")};
}

Result<void> put_in_place(const PrivateFolder& scratch, const Survey& survey,
                          const BuildOrder& order) {
  const std::string file = scratch.name() + "/nvidia-peermem.ko";
  const Result<ModuleFile> module = read_given_module(file);
  if (!module) return module.error();
  const std::vector<Refusal> found = refusals(*module, survey.sides());
  if (!found.empty()) {
    return Error{EIO, "the kernel would refuse what was built: " + found.front().text};
  }
  const Result<std::string> bytes = read_whole_file(file);
  if (!bytes) return bytes.error();
  return write_output(order.output, *bytes);
}

Result<void> check_source(const Survey& survey, const BuildOrder& order, Built& built) {
  if (order.driver_source.empty()) return {};
  const Result<DriverSource> source = read_driver_source(order.driver_source);
  if (!source) return source.error();
  const ModuleFile& driver = *survey.driver();
  if (!source->release.empty() && !driver.version.empty() && source->release != driver.version) {
    return Error{EINVAL,
                 fmt::format("{} is the source of driver {}, but {} is driver {}; give the "
                             "nvidia.ko that goes with it with --driver-module",
                             order.driver_source, source->release, shown(driver), driver.version)};
  }
  if (source->module.empty()) {
    built.notes.push_back(fmt::format("{} has no built nvidia.ko; the symbol versions come from {}",
                                      order.driver_source, shown(driver)));
  }
  return {};
}

}  // namespace

Workshop this_workshop() {
  const std::string folder = environment("TMPDIR").value_or("");
  const std::string scratch = folder.empty() || host::is_plain_path(folder) ? "" : "/tmp";
  return {[](const auto& command) { return fix::run_program(command, kBuildLimit); },
          fix::has_program, scratch};
}

Result<Built> build(const host::Files& files, const Survey& survey, const BuildOrder& order,
                    const Workshop& workshop) {
  if (Result<void> right = check_rdma(survey); !right) return right.error();
  if (Result<void> right = check_driver(survey); !right) return right.error();
  Built built{order.output, survey.kernel, shown(*survey.driver()), survey.rdma.source, {}};
  if (Result<void> right = check_source(survey, order, built); !right) return right.error();
  const Result<std::string> headers = find_headers(files, survey, order.headers);
  if (!headers) return headers.error();
  if (Result<void> there = check_tools(*headers, workshop); !there) return there.error();
  if (Result<void> writable = check_writable(order.output); !writable) {
    return Error{writable.error().code,
                 writable.error().message + "; give --output a file that you may write"};
  }
  const Result<PrivateFolder> scratch = PrivateFolder::make("peermem", workshop.scratch);
  if (!scratch) return scratch.error();
  if (Result<void> filled = fill(*scratch, survey, order); !filled) return filled.error();
  if (Result<void> made = make(*scratch, *headers, order, workshop); !made) return made.error();
  if (Result<void> put = put_in_place(*scratch, survey, order); !put) return put.error();
  if (survey.drivers.front().loaded == Tri::kNo && survey.plan.read.driver_loaded) {
    built.notes.push_back(built.driver + " is not the driver that is loaded");
  }
  return built;
}

}  // namespace gdr::peermem
