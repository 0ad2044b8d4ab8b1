// A command that somebody is told to type. Only literals of this program become part of it as they
// are. Each word that others chose (names of devices, hosts and files, versions, what a log says)
// is quoted, so that it reaches the program as one word, whatever POSIX shell or fish it is pasted
// into.
//
//   Command up("sudo ip link set {} up", port.netdev);
//   up.then(Command("sudo systemctl restart {}", service));
//   fmt::print("{}\n", up.text());
#pragma once

#include <concepts>
#include <cstddef>
#include <initializer_list>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

namespace gdr::text {

// A text that stands in the program: nothing else can be made into one.
class Literal {
 public:
  consteval Literal(const char* text) : text_(text) {}           // NOLINT(*-explicit-*)
  constexpr operator std::string_view() const { return text_; }  // NOLINT(*-explicit-*)

 private:
  std::string_view text_;
};

// The literal that a command is made from, with a "{}" outside of quotes for each foreign word.
template <std::size_t kWords>
class CommandForm : public Literal {
 public:
  consteval CommandForm(const char* text) : Literal(text) {  // NOLINT(*-explicit-*)
    const std::string_view form = *this;
    std::size_t found = 0;
    char quote = '\0';
    for (std::size_t i = 0; i < form.size(); ++i) {
      if ((form[i] < ' ' && form[i] != '\n') || form[i] > '~') throw "not printable";
      if (quote != '\0') {
        if (form[i] == quote) quote = '\0';
      } else if (form[i] == '\'' || form[i] == '"') {
        quote = form[i];
      } else if (form.substr(i, 2) == "{}") {
        ++found;
      }
      if (quote != '\0' && form.substr(i, 2) == "{}") throw "a word within quotes";
    }
    if (found != kWords) throw "not as many words as {}";
  }
};

class Command {
 public:
  // What stands for one "{}".
  class Word {
   public:
    Word(std::string_view foreign) : words_{std::string(foreign)} {}       // NOLINT(*-explicit-*)
    Word(const std::string& foreign) : Word(std::string_view(foreign)) {}  // NOLINT(*-explicit-*)
    Word(const char* foreign) : Word(std::string_view(foreign)) {}         // NOLINT(*-explicit-*)
    Word(std::integral auto number) : as_is_(std::to_string(number)) {}    // NOLINT(*-explicit-*)
    Word(const Command& part) : as_is_(part.text()) {}                     // NOLINT(*-explicit-*)
    // Several words, with a space between them.
    Word(std::vector<std::string> foreign) : words_(std::move(foreign)) {}  // NOLINT(*-explicit-*)

   private:
    friend class Command;
    std::vector<std::string> words_;
    std::string as_is_;  // where there are no words
  };

  Command() = default;  // none
  template <typename... Words>
  explicit Command(std::type_identity_t<CommandForm<sizeof...(Words)>> form, const Words&... words)
      : text_(filled(form, {Word(words)...})) {}
  // For several devices, which for_each() names: one at each "{}" of a line.
  static Command of_each(Literal form);
  // A line of what gdrkit knows (knowledge/), or of a site's own files of that kind: who wrote
  // these tells the reader what to type. Empty where it is not printable.
  static Command known(std::string_view line);

  bool empty() const { return text_.empty(); }
  // Lines of printable characters, in their order; each can be pasted as it is.
  const std::string& text() const { return text_; }
  bool operator==(const Command&) const = default;

  // Goes on in the same line, and in the next one.
  Command& with(const Command& more) { return joined(" ", more); }
  Command& then(const Command& next) { return joined("\n", next); }
  // With a word behind the beginning, for a command that begins so.
  Command with_behind(Literal beginning, const Word& word) const;
  // The lines of of_each(): the name itself for one device, a loop for several.
  Command for_each(const std::vector<std::string>& devices) const;

 private:
  Command& joined(std::string_view between, const Command& next);
  static void add(const Word& word, std::string& text);
  static std::string filled(std::string_view form, std::initializer_list<Word> words);

  std::string text_;
};

// Letters, digits and what PCI addresses and names of interfaces and hosts have besides: it means
// itself in shells, in files of settings and in lists of names.
bool is_plain_name(std::string_view name);

}  // namespace gdr::text
