#include "text/command.h"

#include <algorithm>
#include <utility>

#include "base/environment.h"
#include "base/printable.h"
#include "text/shell_word.h"

namespace gdr::text {
namespace {

constexpr std::string_view kHole = "{}";
// Stands where of_each() will have a device: no other text of a command has this character.
constexpr char kDevice = '\x01';
constexpr std::size_t kLongestWord = 4096;  // a path is no longer
// The reader's to replace. No shell has one way to write what cannot be shown, and programs take
// different ways to tell a name from an option.
constexpr const char* kNoWord = "NAME";

bool begins_word(std::string_view before) {
  return before.empty() || std::string_view(" \n;|&(").find(before.back()) != before.npos;
}

std::string quoted_word(const std::string& foreign, bool begins) {
  const bool is_option = begins && foreign.starts_with('-');
  if (is_option || foreign.size() > kLongestWord || printable(foreign) != foreign) return kNoWord;
  return shell_word(foreign);
}

std::string with_device(std::string_view line, const std::string& device) {
  std::string text;
  for (const char c : line) text += c == kDevice ? device : std::string(1, c);
  return text;
}

std::string loop(std::string_view line, const std::vector<std::string>& devices) {
  const std::size_t at = line.find(kDevice);
  if (at == line.npos || devices.empty()) return std::string(line);
  std::vector<std::string> names;
  for (const std::string& device : devices) {
    // In a list all are words of their own, whatever the line has in front of them.
    std::string name = quoted_word(device, devices.size() > 1 || begins_word(line.substr(0, at)));
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  if (names.size() == 1) return with_device(line, names.front());
  std::string list;
  for (const std::string& name : names) list += name + " ";
  const bool plain = std::ranges::all_of(names, is_plain_name);
  list.back() = ';';
  return "for d in " + list + " do " + with_device(line, plain ? "$d" : "\"$d\"") + "; done";
}

}  // namespace

Command Command::of_each(Literal form) {
  Command command;
  command.text_ = std::string_view(form);
  for (std::size_t at = 0; (at = command.text_.find(kHole, at)) != std::string::npos;) {
    command.text_.replace(at, kHole.size(), 1, kDevice);
  }
  return command;
}

Command Command::known(std::string_view line) {
  Command command;
  if (printable(line) == line) command.text_ = line;
  return command;
}

Command& Command::joined(std::string_view between, const Command& next) {
  if (!empty() && !next.empty()) text_ += between;
  text_ += next.text_;
  return *this;
}

Command Command::for_each(const std::vector<std::string>& devices) const {
  Command command;
  for (const std::string_view line : split(text_, '\n')) {
    Command one;
    one.text_ = loop(line, devices);
    command.then(one);
  }
  return command;
}

std::string Command::filled(std::string_view form, std::initializer_list<Word> words) {
  std::string text;
  for (const Word& word : words) {
    const std::size_t at = form.find(kHole);
    text += form.substr(0, at);
    form.remove_prefix(at + kHole.size());
    add(word, text);
  }
  return text.append(form);
}

void Command::add(const Word& word, std::string& text) {
  text += word.as_is_;
  bool begins = begins_word(text);
  for (std::size_t i = 0; i < word.words_.size(); ++i) {
    if (i > 0) text += ' ';
    text += quoted_word(word.words_[i], std::exchange(begins, true));
  }
}

Command Command::with_behind(Literal beginning, const Word& word) const {
  const std::string_view head = beginning;
  if (!text_.starts_with(head)) return *this;
  Command command;
  command.text_ = std::string(head) + ' ';
  add(word, command.text_);
  command.text_ += text_.substr(head.size());
  return command;
}

bool is_plain_name(std::string_view name) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789:._-";
  return !name.empty() && name.front() != '-' && name.find_first_not_of(kPlain) == name.npos;
}

}  // namespace gdr::text
