// What to do about the peer-memory module of a machine: what gdr doctor says and gdr fix does.
//
//   const PeerMemoryPlan plan = plan_peer_memory(files, inventory, {});
//   if (plan.loading == Loading::kCannot) say(plan.reason + ": " + plan.advice.note);
#pragma once

#include <string>

#include "host/registration/facts.h"
#include "host/registration/ways.h"
#include "text/command.h"

namespace gdr::host {

// A module file that is installed for the running kernel.
struct InstalledModule {
  PeerModule module = PeerModule::kNone;
  std::string root;           // the driver's own; empty: the system's
  std::string line;           // of modules.dep
  bool needs_rdma = false;    // it was built with the RDMA stack
  bool has_modprobe = false;  // below `root`
  bool both = false;          // nvidia-peermem and nv_peer_mem are installed

  std::string name() const { return name_of(module); }
  // "sudo chroot /run/nvidia/driver modprobe nvidia-peermem"
  text::Command command() const;
};

enum class Loading : std::uint8_t { kLoaded, kCanLoad, kCannot };

// Commands and words are the same for all who advise.
struct Advice {
  text::Command command;
  std::string note;
};

struct PeerMemoryPlan {
  ReadFacts read;
  RegistrationWays ways;
  Tri needed = Tri::kUnknown;  // no: dma-bufs work by all that is seen
  Loading loading = Loading::kCannot;
  std::string loaded;  // "nvidia_peermem"
  InstalledModule installed;
  std::string reason;              // of kCannot, for a sentence: "ib_core is not loaded"
  bool wants_rdma_driver = false;  // of kCannot: only with it would show what else there is
  Advice advice;                   // of kCannot: what takes the reason away
  Advice rebuild;                  // for a module of another build than what runs
};

struct PlanOptions {
  std::string driver_root;  // an absolute path that was given; empty: none
  HasSymbol has_symbol;     // as in read_registration_facts()
};

PeerMemoryPlan plan_peer_memory(const Files& files, const Inventory& inventory,
                                const PlanOptions& options = {});

}  // namespace gdr::host
