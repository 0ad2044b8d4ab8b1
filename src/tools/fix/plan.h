// What gdr fix would change on a machine, topic by topic, and the reasons for what it does not
// change. Planning only reads.
//
//   Wishes wishes;
//   wishes.topics = {"acs"};
//   std::vector<Proposal> plan = make_plan({machine, inventory, journal, wishes});
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "fix/change.h"
#include "fix/journal.h"
#include "fix/machine.h"
#include "host/inventory.h"
#include "text/command.h"

namespace gdr::fix {

struct Wishes {
  std::vector<std::string> topics;  // none: all of them, as far as they are needed
  bool persist = false;             // also what configures the next boots
  bool emulated = false;            // the PCI tree of this virtual machine may be written to
  std::vector<std::string> ports;   // for acs: exactly these
  std::string driver_root;          // for peer-memory: where a driver's own modules lie

  // Somebody asked for it, so that "not needed" is no reason.
  bool named(const std::string& topic) const;
};

struct Situation {
  const Machine& machine;
  const host::Inventory& inventory;
  const JournalContent& journal;
  const Wishes& wishes;
};

struct Planned {
  ChangePtr change;
  std::string refusal;  // why it may not be made; empty: it may
};

// For the reader to type: gdr fix does not.
struct ToType {
  text::Command command;
  std::string note;  // prose
};

struct Proposal {
  std::string topic;  // "acs"
  std::string title;
  std::vector<Planned> changes;
  std::vector<std::string> refusals;  // of what could not even be planned
  std::vector<std::string> notes;     // what to know, what to do afterwards
  std::vector<ToType> commands;
  std::string nothing;  // why there is nothing to change

  void propose(const Result<Record>& record, const std::string& refusal = {});
  void say_to_type(text::Command command, std::string note = {}) {
    commands.push_back({std::move(command), std::move(note)});
  }
  // The first refusal of each kind; empty if there is none.
  bool is_refused() const;
};

struct Topic {
  const char* id;
  const char* title;
  void (*plan)(const Situation& situation, Proposal& proposal);
};
const std::vector<Topic>& all_topics();
std::string topic_names();  // "acs, peer-memory, …"
// Whether gdr peermem install makes such a change.
bool is_of_peermem(const Record& record);
// Which topic makes such a change; empty: none.
std::string topic_of(const Record& record);

std::vector<Proposal> make_plan(const Situation& situation);

}  // namespace gdr::fix
