// SPDX-License-Identifier: Apache-2.0
#include "ptx/random_scopes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <utility>

namespace ww::test {
namespace {

constexpr int kDeepest = 4;
constexpr std::uint32_t kMaxBranches = 9;  // taken in one run, so that every run ends

// `f12` is number 12 of the family `f`.
std::pair<std::string, unsigned> split(const std::string& name) {
  std::size_t end = name.size();
  while (end > 0 && name[end - 1] >= '0' && name[end - 1] <= '9') --end;
  if (end == name.size()) return {name, ~0U};
  return {name.substr(0, end), static_cast<unsigned>(std::stoul(name.substr(end)))};
}

}  // namespace

ScopeProgram::ScopeProgram(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  parents_.push_back(-1);
  // Every name is declared around everything, so that most uses mean something.
  for (const char* const name : {"a", "b"})
    lines_.push_back({.kind = Kind::Register, .name = name});
  lines_.push_back({.kind = Kind::Family, .name = "f", .count = 4});
  lines_.push_back({.kind = Kind::List, .name = "t", .labels = {"L", "M"}});
  write(0, 0, random);
  for (const char* const name : {"L", "M"}) {
    if (random() % 4 != 0) lines_.push_back({.kind = Kind::Label, .name = name});
  }
  resolve();
}

void ScopeProgram::write(int block, int depth, std::mt19937_64& random) {
  const auto below = [&](unsigned n) { return static_cast<unsigned>(random() % n); };
  const auto one_of = [&](std::initializer_list<const char*> names) {
    return std::string(names.begin()[below(static_cast<unsigned>(names.size()))]);
  };
  const unsigned count = 2 + below(depth == 0 ? 7 : 5);
  for (unsigned i = 0; i < count; ++i) {
    // Few things are declared twice in a block.
    const auto add = [&](const Line& line) {
      const bool is_there = std::ranges::any_of(
          lines_, [&](const Line& other) { return other.block == block && clash(other, line); });
      if (!is_there || below(20) == 0) lines_.push_back(line);
    };
    Line line;
    line.block = block;
    line.number = 1 + below(1000);
    switch (below(16)) {
      case 0:
      case 1:
      case 2:
        if (depth == kDeepest) break;
        line.kind = Kind::Open;
        lines_.push_back(line);
        parents_.push_back(block);
        write(static_cast<int>(parents_.size()) - 1, depth + 1, random);
        line.kind = Kind::Close;
        lines_.push_back(line);
        break;
      case 3:
      case 4:
        line.kind = Kind::Label;
        line.name = below(24) == 0 ? one_of({"a", "f2"}) : one_of({"L", "M"});
        add(line);
        break;
      case 5:
        line.kind = Kind::Register;
        line.name = below(16) == 0 ? "L" : one_of({"a", "b", "f2"});
        line.bits = below(12) == 0 ? 64 : 32;
        add(line);
        break;
      case 6:
        line.kind = Kind::Family;
        line.name = "f";
        line.count = 1 + below(4);
        add(line);
        break;
      case 7:
        line.kind = Kind::List;
        line.name = one_of({"t", "u"});
        line.labels = {one_of({"L", "M"}), one_of({"L", "M"})};
        add(line);
        break;
      case 8:
        line.kind = Kind::Jump;
        line.name = below(12) == 0 ? "u" : "t";
        lines_.push_back(line);
        break;
      case 9:
      case 10:
      case 11:
      case 12:
        line.kind = Kind::Branch;
        line.name = one_of({"L", "M"});
        lines_.push_back(line);
        break;
      default:
        line.kind = Kind::Add;
        line.name = one_of({"a", "b", "f0", "f2", "f03"});
        lines_.push_back(line);
    }
  }
}

// --- what names mean -----------------------------------------------------------------------------

bool ScopeProgram::declares(const Line& line, const std::string& name) const {
  switch (line.kind) {
    case Kind::Label:
    case Kind::Register:
    case Kind::List:
      return line.name == name;
    case Kind::Family: {
      const auto [prefix, number] = split(name);
      return prefix == line.name && number < line.count;
    }
    default:
      return false;
  }
}

// The innermost declaration above the line. In one block a family goes before a label of a member's
// name.
ScopeProgram::Found ScopeProgram::declared_above(std::size_t at, const std::string& name) const {
  for (int block = lines_[at].block; block != -1;
       block = parents_[static_cast<std::size_t>(block)]) {
    Found found;
    for (std::size_t i = 0; i < at; ++i) {
      if (lines_[i].block != block || !declares(lines_[i], name)) continue;
      if (!found || lines_[*found].kind == Kind::Label) found = i;
    }
    if (found) return found;
  }
  return std::nullopt;
}

// A label of the block below the line; else the label above in a block around it; else the next one
// below in a block around it. What else has the name stands in the way.
ScopeProgram::Found ScopeProgram::label_for(std::size_t at, const std::string& name) const {
  const Found above = declared_above(at, name);
  if (above && (lines_[*above].kind != Kind::Label || lines_[*above].block == lines_[at].block))
    return above;
  for (int block = lines_[at].block; block != -1;
       block = parents_[static_cast<std::size_t>(block)]) {
    for (std::size_t i = at + 1; i < lines_.size(); ++i) {
      const bool is_it = lines_[i].kind != Kind::Family && declares(lines_[i], name);
      if (lines_[i].block == block && is_it) return i;
    }
    if (above) return above;
  }
  return std::nullopt;
}

// Whether two declarations of one block exclude each other: a label may be called like a member of
// a family.
bool ScopeProgram::clash(const Line& a, const Line& b) const {
  const bool has_family = a.kind == Kind::Family || b.kind == Kind::Family;
  if (has_family && a.kind == b.kind) return a.name == b.name;
  if (has_family && (a.kind == Kind::Label || b.kind == Kind::Label)) return false;
  return (declares(a, b.name) && declares(b, b.name)) ||
         (declares(b, a.name) && declares(a, a.name));
}

std::string ScopeProgram::find_twice() const {
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (lines_[i].block == lines_[j].block && clash(lines_[i], lines_[j]))
        return fmt::format("lines {} and {} declare one name", j, i);
    }
  }
  return "";
}

void ScopeProgram::resolve_line(std::size_t at) {
  const Line& line = lines_[at];
  const auto note = [&](const Found& found, const std::string& name, auto fits) {
    if (!found || !fits(lines_[*found])) {
      problem_ = fmt::format("line {}: `{}` means nothing that fits", at, name);
      return;
    }
    targets_[at].push_back(*found);
  };
  const auto is_label = [](const Line& to) { return to.kind == Kind::Label; };
  switch (line.kind) {
    case Kind::Add:
      note(declared_above(at, line.name), line.name, [](const Line& to) {
        return (to.kind == Kind::Register || to.kind == Kind::Family) && to.bits == 32;
      });
      return;
    case Kind::Branch:
      note(label_for(at, line.name), line.name, is_label);
      return;
    case Kind::List:
      for (const std::string& name : line.labels) note(label_for(at, name), name, is_label);
      return;
    case Kind::Jump:
      note(declared_above(at, line.name), line.name,
           [](const Line& to) { return to.kind == Kind::List; });
      return;
    default:
      return;
  }
}

void ScopeProgram::resolve() {
  targets_.resize(lines_.size());
  problem_ = find_twice();
  for (std::size_t i = 0; i < lines_.size() && problem_.empty(); ++i) resolve_line(i);
}

// --- what it computes ----------------------------------------------------------------------------

std::uint32_t ScopeProgram::result_of(const std::vector<std::vector<std::size_t>>& targets) const {
  std::map<std::pair<std::size_t, unsigned>, std::uint32_t> registers;
  std::uint32_t sum = 0;
  std::uint32_t branches = 0;
  for (std::size_t at = 0; at < lines_.size(); ++at) {
    const Line& line = lines_[at];
    if (line.kind == Kind::Add) {
      const bool is_member = lines_[targets[at][0]].kind == Kind::Family;
      std::uint32_t& value = registers[{targets[at][0], is_member ? split(line.name).second : 0}];
      value += line.number;
      sum = sum * 33 + value;
    }
    if (line.kind != Kind::Branch && line.kind != Kind::Jump) continue;
    if (++branches >= kMaxBranches) continue;
    at = line.kind == Kind::Branch ? targets[at][0] : targets[targets[at][0]][sum % 2];
  }
  return sum;
}

std::uint32_t ScopeProgram::result_without_blocks() const {
  std::map<std::string, std::size_t> last;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (lines_[i].kind == Kind::Label) last[lines_[i].name] = i;
  }
  auto targets = targets_;
  for (std::size_t i = 0; i < lines_.size(); ++i) {
    if (lines_[i].kind != Kind::Branch && lines_[i].kind != Kind::List) continue;
    for (std::size_t& target : targets[i]) target = last[lines_[target].name];
  }
  return result_of(targets);
}

// --- as text -------------------------------------------------------------------------------------

std::string ScopeProgram::line_text(std::size_t at, bool is_unambiguous) const {
  const Line& line = lines_[at];
  // The name of the declaration at a line.
  const auto own = [&](std::size_t i) {
    const std::string& name = lines_[i].name;
    return is_unambiguous ? fmt::format("{}_{}_", name, i) : name;
  };
  const auto meant = [&](std::size_t k, const std::string& name) {
    if (!is_unambiguous) return name;
    const std::size_t to = targets_[at][k];
    const bool is_member = lines_[to].kind == Kind::Family;
    return own(to) + (is_member ? fmt::format("{}", split(name).second) : "");
  };
  switch (line.kind) {
    case Kind::Open:
      return "{";
    case Kind::Close:
      return "}";
    case Kind::Label:
      return own(at) + ":";
    case Kind::Register:
      return fmt::format(".reg .b{} {};", line.bits, own(at));
    case Kind::Family:
      return fmt::format(".reg .b32 {}<{}>;", own(at), line.count);
    case Kind::Add:
      return fmt::format("add.u32 {0}, {0}, {1}; mad.lo.u32 %sum, %sum, 33, {0};",
                         meant(0, line.name), line.number);
    case Kind::Branch:
      return fmt::format("add.u32 %n, %n, 1; setp.lt.u32 %q, %n, {}; @%q bra {};", kMaxBranches,
                         meant(0, line.name));
    case Kind::List:
      return fmt::format("{}: .branchtargets {}, {};", own(at), meant(0, line.labels[0]),
                         meant(1, line.labels[1]));
    case Kind::Jump:
      return fmt::format(
          "add.u32 %n, %n, 1; setp.lt.u32 %q, %n, {}; and.b32 %i, %sum, 1; @%q brx.idx %i, {};",
          kMaxBranches, meant(0, line.name));
  }
  return "";
}

std::string ScopeProgram::text_of(bool is_unambiguous) const {
  std::string text =
      ".version 8.6\n.target sm_90a\n.address_size 64\n.visible .entry k(.param .u64 out)\n{\n"
      ".reg .b32 %sum, %n, %i; .reg .pred %q; .reg .b64 %out;\n"
      "ld.param.u64 %out, [out]; mov.u32 %sum, 0; mov.u32 %n, 0;\n";
  for (std::size_t i = 0; i < lines_.size(); ++i) text += line_text(i, is_unambiguous) + "\n";
  return text + "st.global.u32 [%out], %sum;\nret;\n}\n";
}

}  // namespace ww::test
