// Everything that `gdr mpi check` answers: the MPIs, what each does, and what of them does not go
// together.
//
//   Result<Report> report = examine(machine, inventory, "");
//   return exit_status(*report);
#pragma once

#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "host/inventory.h"
#include "mpi/driver_half.h"
#include "mpi/installation.h"
#include "mpi/judge.h"
#include "mpi/machine.h"

namespace gdr::mpi {

struct Judged {
  Installation installation;
  Judgement judgement;
};

// Parts of different MPIs that are used together.
struct Mixture {
  bool fails = false;  // a program cannot work like this; else it is worth knowing
  std::string what;
  std::string next;  // what to do
};

struct Report {
  std::string origin;  // "this host", or the recorded machine's folder
  DriverHalf half;
  std::vector<Judged> mpis;  // the one in use first
  std::vector<Mixture> mixtures;
  std::set<std::string> slurm;  // what `srun --mpi` takes here; empty: no Slurm, or not known
  bool given = false;           // one was named
};

// `launcher`: the one to look at; empty: all of the machine. An error: there is none, or it is no
// launcher, in one line.
Result<Report> examine(const Machine& machine, const host::Inventory& inventory,
                       const std::string& launcher);

// As gdr doctor's. The MPI that counts is the given one, or the one in use; where none is in use,
// the best of all.
int exit_status(const Report& report);

// Finds what the machine's variables and PATH mix up. `given`: the only one of `mpis` was named,
// and stands in the place of the one that mpirun starts.
std::vector<Mixture> find_mixtures(const Machine& machine, const std::vector<Judged>& mpis,
                                   bool given);

}  // namespace gdr::mpi
