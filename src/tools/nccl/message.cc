#include "nccl/message.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "nccl/text.h"

namespace gdr::nccl {
namespace {

constexpr std::string_view kMark = "NCCL ";

struct Mark {
  std::size_t at;    // of "NCCL"
  std::size_t text;  // where the message begins
  Level level;
};

std::optional<Level> level_at(std::string_view rest, std::size_t& length) {
  constexpr std::pair<std::string_view, Level> kLevels[] = {{"INFO", Level::kInfo},
                                                            {"WARN", Level::kWarning},
                                                            {"TRACE", Level::kTrace},
                                                            {"CALL", Level::kTrace}};
  for (const auto& [word, level] : kLevels) {
    if (!rest.starts_with(word)) continue;
    if (rest.size() > word.size() && rest[word.size()] != ' ') continue;
    length = std::min(rest.size(), word.size() + 1);
    return level;
  }
  // "NCCL version 2.28.9+cuda12.9" comes without host and level.
  if (rest.starts_with("version ")) {
    length = 0;
    return Level::kVersion;
  }
  return std::nullopt;
}

std::optional<Mark> next_mark(std::string_view line, std::size_t from) {
  for (std::size_t at = line.find(kMark, from); at != std::string_view::npos;
       at = line.find(kMark, at + 1)) {
    std::size_t length = 0;
    const std::size_t word = at + kMark.size();
    if (const auto level = level_at(line.substr(word), length)) {
      return Mark{at, word + length, *level};
    }
  }
  return std::nullopt;
}

// "host:123:456" -> host and 123. The host's own name may have colons in it.
bool read_origin(std::string_view word, Message& message) {
  const std::size_t second = word.rfind(':');
  if (second == std::string_view::npos || second == 0) return false;
  const std::size_t first = word.rfind(':', second - 1);
  if (first == std::string_view::npos || first == 0) return false;
  const auto process = whole_number(word.substr(first + 1, second - first - 1));
  if (!process || !whole_number(word.substr(second + 1))) return false;
  message.process = *process;
  message.host = word.substr(0, first);
  // What stands directly before the host is a launcher's, as in "[1,0]<stdout>:host".
  const std::size_t before = message.host.find_last_of(":>)]|");
  if (before != std::string_view::npos) message.host.remove_prefix(before + 1);
  return true;
}

// Looks for "host:pid:tid" among the last words of `before`; returns where its word begins, or
// where `before` ends if it has none.
std::size_t read_header(std::string_view before, Message& message) {
  constexpr int kMostWords = 8;
  std::size_t end = before.size();
  for (int words = 0; words < kMostWords && end > 0; ++words) {
    while (end > 0 && before[end - 1] == ' ') --end;
    const std::size_t space = before.substr(0, end).rfind(' ');
    const std::size_t begin = space == std::string_view::npos ? 0 : space + 1;
    if (read_origin(before.substr(begin, end - begin), message)) return begin;
    end = begin;
  }
  return before.size();
}

std::string_view without_spaces_behind(std::string_view text) {
  const std::size_t last = text.find_last_not_of(' ');
  return last == std::string_view::npos ? std::string_view() : text.substr(0, last + 1);
}

// `between` is what stands between two levels: the first message's text and the second one's
// header.
void cut_before_next(std::string_view between, Message& message, Message& following) {
  std::size_t end = read_header(between, following);
  // Messages that were put into one line by a launcher are whole. Where a process wrote into the
  // middle of another's line, its header is glued to the other's last word: "NET/IB/0host:1:2".
  const bool glued = following.host.find('/') != std::string_view::npos;
  message.whole = end < between.size() && !glued;
  if (glued) {
    // Processes of one log are often of one host, which then says where the word ends.
    const bool known = !message.host.empty() && following.host.ends_with(message.host);
    end = known ? between.rfind(message.host) : between.size();
    following.host = known ? message.host : std::string_view();
  }
  message.text = without_spaces_behind(between.substr(0, end));
}

}  // namespace

void for_each_message(const Line& line, const std::function<void(const Message&)>& sink) {
  std::optional<Mark> mark = next_mark(line.text, 0);
  Message message;
  if (mark) read_header(line.text.substr(0, mark->at), message);
  while (mark) {
    message.line = line.number;
    message.level = mark->level;
    // The version names itself: its text begins at "NCCL".
    const std::size_t begin = mark->level == Level::kVersion ? mark->at : mark->text;
    const std::optional<Mark> next = next_mark(line.text, mark->text);
    Message following;
    if (next) {
      const std::string_view between = line.text.substr(begin, next->at - begin);
      cut_before_next(between, message, following);
    } else {
      message.text = without_spaces_behind(line.text.substr(begin));
      message.whole = line.whole;
    }
    sink(message);
    message = following;
    mark = next;
  }
}

}  // namespace gdr::nccl
