// The journal's lines: JSON that is trusted in nothing but its size.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "fix/journal.h"

namespace gdr::fix {
namespace {

using nlohmann::ordered_json;

constexpr unsigned kFormat = 1;
constexpr unsigned kLargestId = 1'000'000'000;  // the next one must exist
constexpr std::size_t kLongestLine = 64 * 1024;

ordered_json json_of(const Value& value) { return value ? ordered_json(*value) : ordered_json(); }

bool read_text(const ordered_json& line, const char* name, std::string& text) {
  const auto found = line.find(name);
  if (found == line.end() || !found->is_string()) return false;
  text = found->get<std::string>();
  return true;
}

bool read_value(const ordered_json& line, const char* name, Value& value) {
  const auto found = line.find(name);
  if (found == line.end()) return false;
  if (found->is_null()) return true;
  return found->is_string() && (value = found->get<std::string>(), true);
}

bool read_number(const ordered_json& line, const char* name, unsigned& number) {
  const auto found = line.find(name);
  if (found == line.end() || !found->is_number_unsigned()) return false;
  const auto wide = found->get<std::uint64_t>();
  number = static_cast<unsigned>(wide);
  return number == wide;
}

bool read_record(const ordered_json& line, Record& record) {
  return read_text(line, "kind", record.kind) && read_text(line, "target", record.target) &&
         read_text(line, "identity", record.identity) && read_text(line, "path", record.path) &&
         read_number(line, "offset", record.offset) && read_value(line, "old", record.old_value) &&
         read_value(line, "new", record.new_value) && read_text(line, "boot_id", record.boot) &&
         read_text(line, "time", record.time);
}

// Nesting deeper than a record has is refused while it is parsed: JSON may nest without end.
ordered_json parse(std::string_view text) {
  const auto shallow = [](int depth, ordered_json::parse_event_t, ordered_json&) {
    return depth <= 1;
  };
  return ordered_json::parse(text.begin(), text.end(), shallow, false);
}

bool take_line(std::string_view text, JournalContent& content) {
  if (text.size() > kLongestLine) return false;
  const ordered_json line = parse(text);
  unsigned format = 0, id = 0;
  if (!line.is_object() || !read_number(line, "gdr_fix", format) || format != kFormat ||
      !read_number(line, "id", id) || id > kLargestId) {
    return false;
  }
  const auto same = [&](const Entry& entry) { return entry.id == id; };
  const auto entry = std::find_if(content.entries.begin(), content.entries.end(), same);
  if (const auto state = line.find("state"); state != line.end()) {
    if (entry == content.entries.end() || !state->is_string()) return false;
    for (const State reached : {State::kDone, State::kUndone}) {
      if (*state == name_of(reached)) return entry->state = reached, true;
    }
    return false;
  }
  Entry fresh{id, {}, State::kBegun};
  if (entry != content.entries.end() || !read_record(line, fresh.record)) return false;
  if (content.entries.size() >= kMostEntries) return false;
  content.entries.push_back(std::move(fresh));
  return true;
}

}  // namespace

const char* name_of(State state) {
  constexpr const char* kNames[] = {"begun", "done", "undone"};
  return kNames[static_cast<std::size_t>(state)];
}

JournalContent parse_journal(std::string_view text) {
  JournalContent content;
  for (unsigned number = 1; !text.empty(); ++number) {
    const std::size_t end = text.find('\n');
    if (end == std::string_view::npos) {
      content.torn = true;
      break;
    }
    if (!take_line(text.substr(0, end), content)) content.not_understood.push_back(number);
    text.remove_prefix(end + 1);
  }
  return content;
}

std::string journal_line(unsigned id, const Record& record) {
  const ordered_json line = {{"gdr_fix", kFormat},
                             {"id", id},
                             {"kind", record.kind},
                             {"target", record.target},
                             {"identity", record.identity},
                             {"path", record.path},
                             {"offset", record.offset},
                             {"old", json_of(record.old_value)},
                             {"new", json_of(record.new_value)},
                             {"boot_id", record.boot},
                             {"time", record.time}};
  return line.dump(-1, ' ', true, ordered_json::error_handler_t::replace) + "\n";
}

std::string journal_line(unsigned id, State state) {
  const ordered_json line = {{"gdr_fix", kFormat}, {"id", id}, {"state", name_of(state)}};
  return line.dump() + "\n";
}

}  // namespace gdr::fix
