// Survey: all that is known of a machine's GPU driver, RDMA stack and peer-memory modules, with the
// symbol versions of each. It only reads.
//
//   Result<Survey> survey = take_survey(files, inventory, {});
//   for (const Candidate& one : survey->candidates) ...
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "host/files.h"
#include "host/inventory.h"
#include "host/registration/peer_memory_plan.h"
#include "peermem/judge.h"
#include "peermem/module_file.h"
#include "peermem/places.h"

namespace gdr::peermem {

// What the user names; empty: it is looked for. Paths of files are of this machine, whatever root
// is looked at.
struct Choices {
  std::string kernel;         // its release
  std::string driver_module;  // nvidia.ko
  std::string driver_source;  // a folder of the driver's kernel sources
  std::string driver_root;    // below the root that is looked at
  std::string rdma;           // a folder with Module.symvers, or that file, or a module's
  std::string headers;        // of the kernel
};

struct FoundModule {
  Place place;
  ModuleFile module;
  std::string problem;                     // why it cannot be read; empty: it was
  host::Tri loaded = host::Tri::kUnknown;  // whether it is this file that runs
};

struct Candidate {
  FoundModule found;
  std::vector<Refusal> refusals;
};

// Exports of one side, and what they were read from.
struct Offered {
  Exports exports;
  std::string source;  // a path, for a reader; empty: nothing was found
};

struct Survey {
  std::string kernel;
  bool runs = false;                 // it is the kernel that runs
  host::PeerMemoryPlan plan;         // what gdr doctor and gdr fix say
  std::vector<FoundModule> drivers;  // first the one that modules are judged by
  Offered rdma, kernel_symbols;
  host::Tri has_interface = host::Tri::kUnknown;  // whether the RDMA stack takes such modules
  std::vector<Candidate> candidates;

  // Null: none can be read.
  const ModuleFile* driver() const;
  Sides sides() const;
};

// The error: no release of a kernel, or a file that was named cannot serve.
Result<Survey> take_survey(const host::Files& files, const host::Inventory& inventory,
                           const Choices& choices);

// A module's file that was named by its path on this machine.
Result<ModuleFile> read_given_module(const std::string& path);

}  // namespace gdr::peermem
