// Journal: what gdr fix has changed and not put back, on disk before it is changed. One line of
// JSON for each change, and one for each state that it reaches:
//
//   {"gdr_fix":1,"id":3,"kind":"access-control","target":"0000:18:00.0",…,"old":"0x001d",…}
//   {"gdr_fix":1,"id":3,"state":"done"}
//
// A process that dies at any moment leaves lines from which every change can be put back: a change
// without a state may have been made or not, and what its target holds tells which. A last line
// without its end was being written when the process died: nothing had been changed for it.
//
//   Result<Journal> journal = Journal::open("/var/lib/gdrkit/fix");
//   Result<unsigned> id = journal->begin(record);   // on disk when this returns
//   ... change ...
//   journal->mark(*id, State::kDone);
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "fix/record.h"

namespace gdr::fix {

enum class State : std::uint8_t {
  kBegun,  // it may have been made, or not
  kDone,   // made, and read back
  kUndone  // put back, or found not to have been made
};
const char* name_of(State state);

struct Entry {
  unsigned id = 0;
  Record record;
  State state = State::kBegun;
};

struct JournalContent {
  std::vector<Entry> entries;            // in the order in which they were begun
  std::vector<unsigned> not_understood;  // numbers of lines
  bool torn = false;                     // the last line has no end
};

constexpr std::size_t kMostEntries = 10'000;

// Any bytes.
JournalContent parse_journal(std::string_view text);
std::string journal_line(unsigned id, const Record& record);
std::string journal_line(unsigned id, State state);

// Read-only view of the journal in `folder`; empty if there is none. EPERM as below.
Result<JournalContent> read_journal(const std::string& folder);
std::string journal_file(const std::string& folder);

class Journal {
 public:
  // Makes the folder where it is missing. EBUSY: another gdr fix is at work. EPERM: the folder or
  // the journal could have been written by somebody else.
  static Result<Journal> open(const std::string& folder);

  const JournalContent& content() const { return content_; }
  const std::vector<Entry>& entries() const { return content_.entries; }

  // EFBIG: it could not be read back, since there are too many or it is too long.
  Result<unsigned> begin(const Record& record);
  Result<void> mark(unsigned id, State state);
  // Writes it anew without what has been put back; removes it where nothing is left.
  Result<void> tidy();

 private:
  Journal(std::string folder, UniqueFd place, UniqueFd lock)
      : folder_(std::move(folder)), place_(std::move(place)), lock_(std::move(lock)) {}

  Result<void> append(const std::string& line);

  std::string folder_;
  UniqueFd place_;  // the folder
  UniqueFd lock_;
  UniqueFd file_;
  JournalContent content_;
};

}  // namespace gdr::fix
