#include "manual/man_page.h"

#include <algorithm>
#include <cctype>
#include <sstream>

#include "manual/variables.h"

namespace gdr::manual {
namespace {

std::string lowered(std::string text) {
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1]))) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

std::string capitalised(std::string text) {
  if (!text.empty()) {
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  }
  return text;
}

std::string uppered(std::string text) {
  for (char& letter : text) {
    letter = static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return text;
}

// "-q", "--quiet" as macros: "Fl q , Fl \-quiet".
std::string flags(const Option& option) {
  std::string text;
  for (const std::string& name : option.names) {
    text += (text.empty() ? "" : " , ");
    text += name.starts_with('-') ? "Fl " + escape(name.substr(1)) : "Ar " + argument(name);
  }
  return option.value.empty() ? text : text + " Ar " + argument(option.value);
}

bool is_placeholder(const std::string& word) {
  return std::all_of(word.begin(), word.end(),
                     [](unsigned char one) { return std::isupper(one) || one == '.'; });
}

// A word of a usage: literal, an option, or what stands for something to be typed.
std::string usage_word(const std::string& word) {
  if (word.starts_with('[') && word.ends_with(']')) {
    return "Op " + usage_word(word.substr(1, word.size() - 2));
  }
  if (word == "--") return "Fl \\-";
  if (word.starts_with("--")) return "Fl " + escape(word.substr(1));
  if (!is_placeholder(word)) return "Cm " + argument(word);
  const std::size_t dots = word.find("...");
  return dots == std::string::npos ? "Ar " + argument(word)
                                   : "Ar " + argument(word.substr(0, dots)) + " ...";
}

void synopsis(Mdoc& out, const Page& page) {
  out.macro("Sh", "SYNOPSIS");
  for (const Usage& usage : page.usages) {
    std::istringstream words(usage.words);
    std::string word, rest;
    words >> word;  // the program's own name, which .Nm begins a line with
    out.macro("Nm", escape(word));
    while (words >> word) out.macro(usage_word(word));
  }
}

void options(Mdoc& out, const Command& command) {
  if (!command.arguments.empty()) {
    out.macro("Pp");
    out.prose("The arguments are:");
    begin_list(out);
    for (const Option& one : command.arguments) {
      out.macro("It", flags(one));
      out.prose(one.text);
    }
    end_list(out);
  }
  out.macro("Sh", "OPTIONS");
  for (const OptionGroup& group : command.groups) {
    if (group.heading != "Options") out.macro("Ss", argument(group.heading));
    begin_list(out);
    for (const Option& one : group.options) {
      out.macro("It", flags(one));
      out.prose(one.text);
    }
    end_list(out);
  }
}

void subcommands(Mdoc& out, const Command& command) {
  if (command.subcommands.empty()) return;
  out.macro("Sh", "SUBCOMMANDS");
  begin_list(out);
  for (const Command& one : command.subcommands) {
    out.macro("It", "Xr " + page_name(one.name) + " 1");
    out.prose(one.summary);
  }
  end_list(out);
}

void environment(Mdoc& out, const Page& page) {
  if (page.variables.empty()) return;
  out.macro("Sh", "ENVIRONMENT");
  begin_list(out);
  for (const char* name : page.variables) {
    const Variable* variable = find_variable(name);
    if (variable == nullptr) continue;
    out.macro("It", "Ev " + argument(assignment_of(*variable)));
    out.prose(brief_of(*variable) + ".");
  }
  end_list(out);
}

void entries(Mdoc& out, const char* kind, const std::vector<Entry>& all) {
  begin_list(out);
  for (const Entry& one : all) {
    out.macro("It", kind + argument(one.term));
    out.prose(one.text);
  }
  end_list(out);
}

void examples(Mdoc& out, const Page& page) {
  out.macro("Sh", "EXAMPLES");
  for (const Example& one : page.examples) {
    if (*one.note != '\0') {
      if (&one != &page.examples.front()) out.macro("Pp");
      out.prose(capitalised(one.note) + ":");
    }
    out.literal({one.command});
  }
}

}  // namespace

void begin_page(Mdoc& out, const std::string& name, const std::string& section,
                const std::string& summary, const Edition& edition) {
  out.macro("Dd", edition.date);
  out.macro("Dt", uppered(name) + " " + section);
  out.macro("Os", "gdrkit " + edition.version);
  out.macro("Sh", "NAME");
  out.macro("Nm", escape(name));
  out.macro("Nd", escape(lowered(summary.ends_with('.') ? summary.substr(0, summary.size() - 1)
                                                        : summary)));
}

void see_also(Mdoc& out, std::vector<std::string> pages) {
  const auto section = [](const std::string& page) { return page[page.find('(') + 1]; };
  std::sort(pages.begin(), pages.end(), [&](const std::string& one, const std::string& other) {
    return std::pair(section(one), one) < std::pair(section(other), other);
  });
  out.macro("Sh", "SEE ALSO");
  for (const std::string& page : pages) {
    const std::string name = page.substr(0, page.find('('));
    out.macro("Xr", name + " " + section(page) + (&page == &pages.back() ? "" : " ,"));
  }
}

std::string man_page(const Command& command, const Page& page, const Edition& edition,
                     const Aliases& aliases) {
  Mdoc out;
  begin_page(out, page_name(command.name), "1", command.summary, edition);
  synopsis(out, page);
  out.macro("Sh", "DESCRIPTION");
  std::vector<const char*> paragraphs = page.description;
  paragraphs.insert(paragraphs.end(), page.help.begin(), page.help.end());
  for (const char* paragraph : paragraphs) {
    if (paragraph != paragraphs.front()) out.macro("Pp");
    out.prose(paragraph);
  }
  options(out, command);
  if (!aliases.options.empty()) {
    out.macro("Ss", argument(aliases.heading));
    out.prose(aliases.text);
    begin_list(out);
    for (const Option& one : aliases.options) {
      out.macro("It", flags(one));
      out.prose(one.text);
    }
    end_list(out);
  }
  subcommands(out, command);
  environment(out, page);
  if (!page.files.empty()) {
    out.macro("Sh", "FILES");
    entries(out, "Pa ", page.files);
  }
  out.macro("Sh", "EXIT STATUS");
  if (*page.exit_note != '\0') out.prose(page.exit_note);
  entries(out, "", page.exit_status);
  examples(out, page);
  see_also(out, {page.see_also.begin(), page.see_also.end()});
  return out.take();
}

}  // namespace gdr::manual
