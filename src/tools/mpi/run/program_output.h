// The output of gdr-mpi.c, line by line, as data. Lines of others between them (warnings of an MPI,
// prefixes of a launcher) do no harm.
//
//   ProgramOutput output;
//   for (...) output.take(line);
//   const Program program = output.finish();
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

#include "mpi/run/report.h"

namespace gdr::mpi_run {

class ProgramOutput {
 public:
  // True: a line of the program. False: somebody else's.
  bool take(std::string_view line);
  const Program& so_far() const { return program_; }
  Program finish() { return std::move(program_); }

 private:
  bool take_object(const nlohmann::json& object);

  Program program_;
};

}  // namespace gdr::mpi_run
