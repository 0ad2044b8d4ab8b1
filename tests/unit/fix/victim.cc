// victim ROOT JOURNAL apply|undo|module PORT...: makes the changes of a test, or undoes them, in a
// process that may be told to die on the way (GDR_KILL). Exit status 0: all is well.
#include <cstdio>
#include <cstring>

#include "fix/apply.h"
#include "fix/changes/access_control.h"
#include "fix/changes/stored_module.h"
#include "fix/changes/text_file.h"

using namespace gdr::fix;

namespace {

gdr::Result<std::vector<Record>> planned(const Machine& machine, int count, char** ports) {
  std::vector<Record> records;
  for (int i = 0; i < count; ++i) {
    const auto port = read_access_control_port(machine, ports[i]);
    if (!port) return port.error();
    records.push_back(without_redirects(*port));
  }
  gdr::Result<Record> file = written_file(machine, drop_in_file("docker"),
                                          file_text({"[Service]", "LimitMEMLOCK=infinity"}));
  if (!file) return file.error();
  records.push_back(*std::move(file));
  return records;
}

// The peer-memory module for the kernel of FakeHost.
gdr::Result<std::vector<Record>> planned_module(const Machine& machine) {
  const std::string bytes = "a module";
  if (const gdr::Result<void> kept = store_module(machine, bytes); !kept) return kept.error();
  const gdr::Result<Record> record =
      installed_module(machine, "6.8.0-50-generic", stored_name(bytes));
  if (!record) return record.error();
  return std::vector<Record>{*record};
}

int fail(const std::string& what) {
  std::printf("%s\n", what.c_str());
  return 1;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  Machine machine = captured_machine(argv[1]);
  machine.run = [](const auto&) { return gdr::Result<Ran>(Ran{}); };  // depmod
  gdr::Result<Journal> journal = Journal::open(argv[2]);
  if (!journal) return fail(journal.error().message);
  if (std::strcmp(argv[3], "undo") == 0) {
    if (!all_well(undo(machine, *journal, {}))) return 1;
    return journal->tidy() ? 0 : 1;
  }
  const auto records = std::strcmp(argv[3], "module") == 0 ? planned_module(machine)
                                                           : planned(machine, argc - 4, argv + 4);
  if (!records) return fail(records.error().message);
  std::vector<ChangePtr> changes;
  std::vector<const Change*> all;
  for (const Record& record : *records) {
    gdr::Result<ChangePtr> change = change_of(record);
    if (!change) return fail(change.error().message);
    all.push_back(changes.emplace_back(*std::move(change)).get());
  }
  return all_well(apply(all, machine, *journal)) ? 0 : 1;
}
