// The ledger of a program that is watched: made here, given to the program by a variable, read
// while it runs. In no file system; gone with its last user.
//
//   Result<LedgerFile> file = LedgerFile::make();
//   setenv(ledger::kWatchVariable, file->variable().c_str(), 1);
//   Snapshot now = take_snapshot(file->ledger());
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"
#include "ledger/ledger.h"

namespace gdr::watching {

class LedgerFile {
 public:
  // Children of this process inherit its descriptor.
  static Result<LedgerFile> make();
  LedgerFile(LedgerFile&& other) noexcept;
  LedgerFile& operator=(LedgerFile&&) = delete;
  LedgerFile(const LedgerFile&) = delete;
  LedgerFile& operator=(const LedgerFile&) = delete;
  ~LedgerFile();

  std::string variable() const;  // the variable's value, in this process and its children
  const ledger::Ledger& ledger() const { return *ledger_; }

 private:
  LedgerFile(UniqueFd descriptor, ledger::Ledger* mapped)
      : descriptor_(std::move(descriptor)), ledger_(mapped) {}

  UniqueFd descriptor_;
  ledger::Ledger* ledger_;
};

}  // namespace gdr::watching
