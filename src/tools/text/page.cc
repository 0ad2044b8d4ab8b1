#include "text/page.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/markup.h"

namespace gdr::text {
namespace {

// Wide drawings and tables scroll within the page.
constexpr const char* kPageStyle = R"(
:root { color-scheme: light dark; --page: #ffffff; --card: #f6f8fa; --line: #d0d7de; --text: #1b1f24;
  --quiet: #57606a; --fail: #b3261e; --warn: #8a5a00; --ok: #1a7f37; }
@media screen and (prefers-color-scheme: dark) {
  :root { --page: #0d1117; --card: #161b22; --line: #30363d; --text: #e6edf3; --quiet: #9198a1;
    --fail: #ff8a80; --warn: #f0c060; --ok: #5fd08a; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem 1.25rem 3rem; background: var(--page);
  color: var(--text); font: 15px/1.45 system-ui, "DejaVu Sans", sans-serif; }
h1 { margin: 0 0 .25rem; font-size: 1.5rem; line-height: 1.25; overflow-wrap: anywhere; }
h2 { margin: 2rem 0 .6rem; font-size: 1.15rem; }
p { margin: .3rem 0; }
.quiet { color: var(--quiet); }
.fail { color: var(--fail); }
.warn { color: var(--warn); }
.ok { color: var(--ok); }
.unknown { color: var(--quiet); }
table.facts { border-collapse: collapse; }
.facts th { padding: .15rem 1.25rem .15rem 0; color: var(--quiet); font-weight: normal;
  text-align: left; vertical-align: top; white-space: nowrap; }
.facts td { padding: .15rem 0; overflow-wrap: anywhere; }
.finding { margin: .6rem 0; padding: .6rem .9rem; border: 1px solid var(--line);
  border-left: 4px solid currentColor; border-radius: 4px; background: var(--card); }
.finding > * { color: var(--text); }
.finding b { text-transform: uppercase; font-size: .85em; }
.finding b.fail { color: var(--fail); }
.finding b.warn { color: var(--warn); }
.finding b.unknown { color: var(--quiet); }
pre { margin: .2rem 0 .5rem; padding: .5rem .7rem; overflow-x: auto; border: 1px solid var(--line);
  border-radius: 4px; background: var(--page); font: 13px/1.4 ui-monospace, "DejaVu Sans Mono",
  monospace; }
.step pre { white-space: pre-wrap; overflow-wrap: anywhere; }
.step p { margin-bottom: 0; color: var(--quiet); }
.wide { overflow-x: auto; }
table.figures { border-collapse: collapse; }
.figures th, .figures td { padding: .2rem 1.1rem .2rem 0; border-bottom: 1px solid var(--line);
  text-align: left; vertical-align: top; white-space: nowrap; }
.figures td:last-child { min-width: 18rem; white-space: normal; }
.figures th { color: var(--quiet); font-weight: normal; white-space: nowrap; }
details { margin: .3rem 0; }
summary { color: var(--quiet); cursor: pointer; }
.drawing { overflow-x: auto; border: 1px solid var(--line); border-radius: 4px; }
.drawing svg { display: block; }
ul { margin: .3rem 0; padding-left: 1.2rem; }
@media print { .drawing svg { max-width: 100%; height: auto; } details { display: none; }
  pre { white-space: pre-wrap; } }
)";

}  // namespace

std::string escaped_lines(const std::string& given) {
  std::string text;
  for (std::size_t at = 0; at <= given.size();) {
    const std::size_t end = std::min(given.find('\n', at), given.size());
    text += (at == 0 ? "" : "\n") + escape_markup(given.substr(at, end - at));
    at = end + 1;
  }
  return text;
}

std::string page_head(const std::string& title) {
  return "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
         "style-src 'unsafe-inline'; img-src data:\">\n"
         "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
         "<link rel=\"icon\" href=\"data:,\">\n<title>" +
         escape_markup(title) + "</title>\n<style>" + kPageStyle + "</style>\n</head>\n<body>\n";
}

std::string page_fact(const std::string& name, const std::string& value) {
  if (value.empty()) return {};
  return fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td></tr>\n", escape_markup(name),
                     escape_markup(value));
}

}  // namespace gdr::text
