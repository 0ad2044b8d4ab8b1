// The decision of `gdr nccl run`: which variables are set, and where NCCL's log is caught. A
// function of its inputs alone.
//
//   NcclPlanInputs inputs;
//   inputs.folder = "/tmp/gdr-nccl-x7Yq2b";
//   inputs.environment = [](const char* name) { return gdr::environment(name); };
//   const NcclPlan plan = make_nccl_plan(inputs);
#pragma once

#include <string>

#include "cli/given_variables.h"

namespace gdr::cli {

enum class NcclCapture {
  kFolder,  // each process writes a file into the private folder
  kFiles,   // into the files that the user's own NCCL_DEBUG_FILE names
  kOutput,  // onto the program's standard output or error
};

struct NcclPlanInputs {
  bool tee = false;    // --tee
  std::string folder;  // private, and there
  Environment environment;
};

struct NcclPlan {
  NcclCapture capture = NcclCapture::kFolder;
  std::string files;    // kFiles: the user's pattern, with NCCL's %h and %p
  Variables variables;  // to set
  std::string summary;
};

NcclPlan make_nccl_plan(const NcclPlanInputs& inputs);

// NCCL's pattern of a file name as one of glob(3): "/tmp/a[1].%h" -> "/tmp/a\[1].*"
std::string glob_of(const std::string& debug_file);

}  // namespace gdr::cli
