// SPDX-License-Identifier: Apache-2.0
#include "soak/auto_layouts.h"

#include <fmt/format.h>

#include <sstream>
#include <string_view>

namespace ww::test {
namespace {

// "r0" of `    r0 = T.alloc_buffer(…, scope="local", layout=…)`; nothing for other lines.
std::string declared_tile(std::string_view line) {
  const std::size_t begin = line.find_first_not_of(' ');
  const std::size_t end = line.find(" = T.alloc_buffer(");
  if (begin == std::string_view::npos || end == std::string_view::npos) return "";
  const bool is_tile = line.find("scope=\"local\"") != std::string_view::npos ||
                       line.find("scope=\"shared\"") != std::string_view::npos;
  if (!is_tile || line.find(", layout=") == std::string_view::npos) return "";
  return std::string(line.substr(begin, end - begin));
}

std::string registers_line(const std::string& name) {
  return fmt::format("{0}_r = {0}.local(", name);
}

// Is anything of the tile used but itself?
bool has_views(const std::string& source, const std::string& name) {
  const std::size_t own = count_of(source, registers_line(name));
  std::size_t uses = 0;
  for (const char* before : {" ", "(", "="}) uses += count_of(source, before + name + ".");
  return uses > own || count_of(source, name + "_r[") > 0;
}

}  // namespace

WholeProgram with_auto_layouts(WholeProgram made, Tape& tape) {
  made.written = made.program.source;
  std::istringstream lines(made.written);
  std::string source, dropped;
  for (std::string line; std::getline(lines, line);) {
    const std::string name = declared_tile(line);
    if (!name.empty() && tape.one_in(2) && !has_views(made.written, name)) {
      line = line.substr(0, line.find(", layout=")) + ", layout=\"auto\")";
      dropped += " " + registers_line(name);
    }
    const std::size_t local = line.find(".local(");
    const bool is_dropped = local != std::string::npos &&
                            dropped.find(line.substr(3, local - 3 + 7)) != std::string::npos;
    if (!is_dropped) source += line + "\n";
  }
  made.program.source = std::move(source);
  return made;
}

}  // namespace ww::test
