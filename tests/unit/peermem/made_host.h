// A host whose GPU driver, RDMA stack and peer-memory modules are files of a test.
//
//   MadeHost host;
//   host.write(MadeHost::kDriver, driver_maker().bytes());
//   Result<Survey> survey = host.survey();
#pragma once

#include <string>
#include <vector>

#include "module_maker.h"
#include "peermem/build.h"
#include "peermem/survey.h"
#include "scratch_folder.h"

namespace gdr::peermem {

inline constexpr std::uint32_t kGetPages = 0x219924d1, kRegister = 0x0badcafe;

class MadeHost : public test::ScratchFolder {
 public:
  static constexpr const char* kKernel = "6.1.0-56-amd64";
  static constexpr const char* kTree = "lib/modules/6.1.0-56-amd64/";

  MadeHost() {
    write("proc/sys/kernel/osrelease", std::string(kKernel) + "\n");
    make("sys/module");
  }

  static test::ModuleMaker driver(std::uint32_t crc = kGetPages) {
    test::ModuleMaker maker("nvidia", kKernel);
    maker.version = "550.163.01";
    maker.srcversion = "DRIVER" + std::to_string(crc);
    maker.machine = machine();
    maker.export_symbol("nvidia_p2p_get_pages", crc, true);
    return maker;
  }
  static test::ModuleMaker ib_core(bool interface = true) {
    test::ModuleMaker maker("ib_core", kKernel);
    maker.machine = machine();
    if (interface) maker.export_symbol("ib_register_peer_memory_client", kRegister);
    maker.export_symbol("ib_register_device", 1);
    return maker;
  }
  static test::ModuleMaker client(std::uint32_t crc = kGetPages) {
    test::ModuleMaker maker("nvidia_peermem", kKernel);
    maker.srcversion = "CLIENT" + std::to_string(crc);
    maker.machine = machine();
    maker.import_symbol("nvidia_p2p_get_pages", crc);
    maker.import_symbol("ib_register_peer_memory_client", kRegister);
    return maker;
  }
  // This machine's type: what is built for another one is refused.
  static std::uint16_t machine() {
#if defined(__aarch64__)
    return EM_AARCH64;
#else
    return EM_X86_64;
#endif
  }

  void module(const std::string& path, test::ModuleMaker maker) const {
    write(kTree + path, maker.bytes());
  }
  // A driver, and an RDMA stack that takes peer-memory modules.
  void usual() const {
    module("updates/dkms/nvidia.ko", driver());
    module("updates/dkms/ib_core.ko", ib_core());
  }

  host::Files files() const { return host::Files(root()); }
  Result<Survey> survey(const Choices& choices = {}) const {
    return take_survey(files(), host::take_inventory(root()), choices);
  }
};

}  // namespace gdr::peermem
