// Installation: one MPI of a machine, and everything about it that decides what it does with GPU
// memory. The parsers fill it; judge.h says what follows.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "host/tri.h"

namespace gdr::mpi {

using host::Tri;

enum class Family : std::uint8_t {
  kUnknown,
  kOpenMpi,
  kMpich,
  kMvapich,  // MVAPICH2, MVAPICH2-GDR, MVAPICH and MVAPICH-Plus
  kIntel,
  kCray
};
const char* name_of(Family family);  // "Open MPI"

struct Version {
  unsigned major = 0, minor = 0, patch = 0;
  bool known() const { return major > 0; }
  // NOLINTNEXTLINE(modernize-use-nullptr): clang-tidy 14 sees a null pointer in the generated code
  auto operator<=>(const Version&) const = default;
};
// The first number of the form 1.2 or 1.2.3 in a text; what follows, as in "5.0.0rc2", is left out.
Version parse_version(const std::string& text);

// The UCX that an installation loads.
struct Ucx {
  std::string library;  // "/opt/hpcx/ucx/lib/libucp.so.0"; empty: its path is not known
  std::string asked;    // the ucx_info that spoke for it; empty: none
  bool hung = false;    // and did not answer in time
  std::string version;  // "1.17.0"
  Tri cuda = Tri::kUnknown, cuda_ipc = Tri::kUnknown, gdrcopy = Tri::kUnknown;
  Tri network = Tri::kUnknown;  // its transports for InfiniBand and RoCE
  Tri dma_buf = Tri::kUnknown;  // an RDMA device was seen to register dma-bufs
  std::string why_cuda;         // "libuct_cuda.so in /opt/hpcx/ucx/lib/ucx"
};

// The libfabric that an installation loads.
struct Ofi {
  std::string library, asked;
  bool hung = false;
  std::string version;
  Tri cuda = Tri::kUnknown;
  std::string why_cuda;
  std::set<std::string> providers;  // "verbs", "cxi", "efa"
};

// A parameter that was read, and where its value comes from.
struct Parameter {
  std::string value;
  std::string source;  // "default", "environment", "file (/etc/openmpi/openmpi-mca-params.conf:69)"
};

struct Installation {
  // These are filled in by find.h.
  Family family = Family::kUnknown;
  std::string prefix;    // "/opt/hpcx/ompi"
  std::string bin;       // folder of its programs
  std::string launcher;  // as a user would type it; empty: programs are started by srun
  std::vector<std::string> found_by;  // "PATH", "/usr/share/modulefiles/mpi/openmpi-x86_64"
  std::string module;                 // what `module load` takes; empty: none is known
  std::string origin;                 // "Debian package", "conda", "HPC-X"; empty: nothing special
  bool in_use = false;                // the first mpirun or mpiexec on PATH starts it

  // These come from its programs and files.
  std::string version;        // "4.1.4"
  std::string product;        // "MVAPICH2-GDR", where that says more than the family
  std::string library;        // its libmpi
  std::string device;         // of MPICH and its kin: "ch4:ucx"
  std::string configure;      // the options that it was built with
  Tri cuda = Tri::kUnknown;   // support for CUDA is compiled in
  std::string why_cuda;       // "mpi_built_with_cuda_support is true"
  Tri query = Tri::kUnknown;  // MPIX_Query_cuda_support is in the library
  std::string query_answer;   // and what it returns before MPI_Init: "0", "1"
  std::map<std::string, std::set<std::string>> components;  // of Open MPI: "pml" -> "ob1", "ucx"
  std::map<std::string, Parameter> parameters;              // of Open MPI, those that matter here
  std::optional<Ucx> ucx;                                   // nothing: it is built without
  std::optional<Ofi> ofi;
  std::string hung;  // the program that did not answer in time, by its path
  bool answered = false;
  // Why nothing of it was started: "/opt/x/bin/mpirun belongs to bob". Empty: it may be asked.
  std::string not_asked;
  std::string account;  // "bob", where it is a single one

  // The version that decides what it does: IBM counts its Open MPI from 10 on.
  Version number() const;
  bool has(const std::string& framework, const std::string& component) const;
  // Empty: not known.
  std::string parameter(const std::string& name) const;
  // The value of a parameter that is true or false.
  Tri flag(const std::string& name) const;
  // "MVAPICH2-GDR 2.3.7"
  std::string title() const;
};

}  // namespace gdr::mpi
