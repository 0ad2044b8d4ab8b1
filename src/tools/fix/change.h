// Change: one thing that gdr fix sets on a machine. It is read, written and put back through the
// same two functions, so that undoing is no other code than doing; the engine (apply.h) does the
// rest: it journals, reads back and rolls back.
//
//   Result<std::unique_ptr<Change>> change = change_of(record);
//   Result<Value> now = (*change)->read(machine);
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "base/result.h"
#include "fix/machine.h"
#include "fix/record.h"
#include "text/command.h"

namespace gdr::fix {

class Change {
 public:
  explicit Change(Record record) : record_(std::move(record)) {}
  Change(const Change&) = delete;
  Change& operator=(const Change&) = delete;
  virtual ~Change() = default;

  const Record& record() const { return record_; }

  // "ACS control register of PCI function 0000:18:00.0 (10b5:8749)"
  virtual std::string where() const = 0;
  // A value for a reader: "0x001d: source validation, request redirect".
  virtual std::string told(const Value& value) const = 0;
  // This command undoes the change without gdr fix, as root; empty if none is as safe.
  virtual text::Command undo_command() const { return {}; }
  // Registers and modules are gone with the next boot; files stay.
  virtual bool outlives_boot() const { return false; }

  // The target's present value. An error if the target is not the recorded one any more, or is
  // unreadable.
  virtual Result<Value> read(const Machine& machine) const = 0;
  // `value` is the record's old or new one. Changes nothing where read() would fail.
  virtual Result<void> write(const Machine& machine, const Value& value) const = 0;
  // Removes what a write that was killed may have left beside the target.
  virtual void tidy(const Machine& /*machine*/) const {}

 private:
  Record record_;
};
using ChangePtr = std::unique_ptr<Change>;

// EINVAL: no record that gdr fix writes. A record comes from a file: whatever it says, a change
// that is made from it reaches nothing but what gdr fix itself could have changed.
Result<ChangePtr> change_of(const Record& record);

}  // namespace gdr::fix
