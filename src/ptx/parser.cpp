// SPDX-License-Identifier: Apache-2.0
// The module level of the reader: header, variables, functions, debug sections. Functions' insides
// are read by BodyReader, declarations by DeclarationReader, operands by OperandReader; all share
// one Cursor.
#include "ptx/parser.h"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "base/ascii.h"
#include "ptx/declaration_reader.h"
#include "ptx/lexer.h"
#include "ptx/module.h"
#include "ptx/operand_reader.h"
#include "ptx/words.h"

namespace ww::ptx {

// --- body reader ---------------------------------------------------------------------------------
//
// Reads the body of a function, statement by statement. Used inside this folder;
// ptx/lexer.h says how errors are reported.

namespace {

class BodyReader {
 public:
  BodyReader(Cursor& cursor, NamePool& names, OperandReader& operands,
             DeclarationReader& declarations)
      : cursor_(cursor), names_(names), operands_(operands), declarations_(declarations) {}

  /// Reads from the `{` at the cursor to its `}`, both taken. After an error goes on with the next
  /// statement; false only when the `}` is missing.
  bool read(Function& function);

 private:
  void lend_buffers(Function& f);
  void take_buffers_back(Function& f);
  bool statements(Function& f);
  bool statement(Function& f);
  bool label_or_instruction(Function& f);
  bool guarded(Function& f);
  bool instruction(Function& f, Guard guard, std::string_view opcode);
  std::string_view joined_opcode(std::string_view first);
  bool open_block(Function& f);
  bool close_block(Function& f);
  bool empty_statement();

  bool directive(Function& f);
  bool registers(Function& f);
  bool variables(Function& f);
  bool pragmas(Function& f);
  bool loc(Function& f);
  bool inlining(Loc& loc);
  bool place(Loc::Place& out);

  bool labelled(Function& f, std::string_view label);
  bool prototype(Function& f, NameId label);
  bool targets(Function& f, StatementKind kind, NameId label);

  void comments(Function& f);
  bool missing_brace(const Function& f, const Token& brace);

  Cursor& cursor_;
  NamePool& names_;
  OperandReader& operands_;
  DeclarationReader& declarations_;
  std::uint32_t open_blocks_ = 0;
  std::vector<Statement> statements_;
  std::vector<Instruction> instructions_;
  OperandPool operands_of_body_;
  std::string joined_;                   // an opcode written in parts
  std::vector<Variable> variables_;      // of the declaration being read
  std::vector<RegisterName> registers_;  // likewise
};

constexpr std::uint32_t kDeepestBlocks = 1024;
constexpr std::size_t kLongestOpcode = 512;  // in characters; real ones have a few dozen

// Leaves a copy of just the right size in `own` and its memory in `buffer`. What is large keeps the
// memory: copying would cost more than it spares.
template <typename Vector>
void take_back(Vector& own, Vector& buffer) {
  constexpr std::size_t kLarge = 10000;
  if (own.size() > kLarge) return;
  buffer = Vector(own);
  std::swap(own, buffer);
  buffer.clear();
}

bool BodyReader::read(Function& f) {
  f.has_body = true;
  open_blocks_ = 0;
  lend_buffers(f);
  const bool is_closed = statements(f);
  take_buffers_back(f);
  return is_closed;
}

bool BodyReader::statements(Function& f) {
  const Token brace = cursor_.take();
  for (;;) {
    if (cursor_.lexer().has_comments()) comments(f);
    if (cursor_.at('}') && open_blocks_ == 0) break;
    if (cursor_.at_end() || at_item(cursor_)) return missing_brace(f, brace);
    const std::uint32_t begin = cursor_.offset();
    const std::size_t before = f.statements.size();
    if (!statement(f)) skip_statement(cursor_);
    for (std::size_t i = before; i < f.statements.size(); ++i) f.statements[i].offset = begin;
  }
  f.end_offset = cursor_.take().begin;
  return true;
}

// The three long vectors of a body grow in the reader's memory, which is kept for the next one.
void BodyReader::lend_buffers(Function& f) {
  f.statements.swap(statements_);
  f.instructions.swap(instructions_);
  std::swap(f.operands, operands_of_body_);
}

void BodyReader::take_buffers_back(Function& f) {
  take_back(f.statements, statements_);
  take_back(f.instructions, instructions_);
  take_back(f.operands, operands_of_body_);
}

bool BodyReader::missing_brace(const Function& f, const Token& brace) {
  const Token found = cursor_.peek();
  return cursor_.error(
      diag(DiagKind::Syntax, "found {}, expected `}}`", describe(found, cursor_.lexer().text()))
          .with_span(found.span())
          .with_note(fmt::format("the body of `{}` begins here", names_.text(f.name)),
                     brace.span()));
}

void BodyReader::comments(Function& f) {
  for (const Lexer::Comment& comment : cursor_.lexer().take_comments()) {
    f.add_comment(names_.intern(comment.text));
    f.statements.back().offset = comment.offset;
  }
}

// --- statements ---------------------------------------------------------------------------------

bool BodyReader::statement(Function& f) {
  if (cursor_.at_name()) return label_or_instruction(f);
  if (cursor_.at('@')) return guarded(f);
  if (cursor_.at_dot_word()) return directive(f);
  if (cursor_.at('{')) return open_block(f);
  if (cursor_.at('}')) return close_block(f);
  if (cursor_.at(';')) return empty_statement();
  return cursor_.unexpected("a statement or `}`");
}

// C has these, behind a block above all; ptxas does not.
bool BodyReader::empty_statement() {
  const Token semicolon = cursor_.peek();
  return cursor_.error(diag(DiagKind::Syntax,
                            "found `;` without a statement before it, which ptxas does not take; "
                            "leave it out")
                           .with_span(semicolon.span()));
}

bool BodyReader::label_or_instruction(Function& f) {
  const std::string_view word = cursor_.take_word();
  return cursor_.at(':') ? labelled(f, word) : instruction(f, {}, word);
}

bool BodyReader::guarded(Function& f) {
  cursor_.take_punct();
  Guard guard;
  guard.is_negated = cursor_.accept('!');
  if (!cursor_.at_name()) return cursor_.unexpected("a predicate");
  guard.name = names_.intern(cursor_.take_word());
  if (!cursor_.at_name()) return cursor_.unexpected("an instruction");
  return instruction(f, guard, cursor_.take_word());
}

bool BodyReader::instruction(Function& f, Guard guard, std::string_view opcode) {
  const std::uint32_t offset = cursor_.offset_of(opcode);
  if (!is_letter(opcode.front())) {
    cursor_.go_back_to(offset);
    return cursor_.unexpected("an instruction");
  }
  const std::string_view whole = joined_opcode(opcode);
  if (whole.size() > kLongestOpcode)
    return cursor_.error(diag(DiagKind::TooLarge,
                              "an opcode of {} characters; there may be at most {}", whole.size(),
                              kLongestOpcode)
                             .with_span(Span::at(offset, offset + opcode.size())));
  Instruction next{names_.intern(whole), guard, {}, offset};
  if (!operands_.instruction(f.operands, opcode.starts_with("call"), next.operands)) return false;
  f.statements.push_back(
      {StatementKind::Instruction, static_cast<std::uint32_t>(f.instructions.size()), 0});
  f.instructions.push_back(next);
  return true;
}

// The parts of an opcode may stand apart: `ld.global .v4 .b32`.
std::string_view BodyReader::joined_opcode(std::string_view first) {
  if (!cursor_.at_dot_word()) return first;
  joined_ = first;
  while (cursor_.at_dot_word()) joined_ += cursor_.take_word();
  return joined_;
}

bool BodyReader::open_block(Function& f) {
  const Token brace = cursor_.take();
  if (++open_blocks_ > kDeepestBlocks)
    return cursor_.fatal(
        diag(DiagKind::TooLarge, "the blocks nest more than {} deep", kDeepestBlocks)
            .with_span(brace.span()));
  f.open_block();
  return true;
}

bool BodyReader::close_block(Function& f) {
  cursor_.take_punct();
  --open_blocks_;
  f.close_block();
  return true;
}

// --- directives ---------------------------------------------------------------------------------

bool BodyReader::directive(Function& f) {
  const Token word = cursor_.peek();
  const std::string_view text = cursor_.text_of(word);
  if (text == ".reg") return registers(f);
  if (text == ".loc") return loc(f);
  if (text == ".pragma") return pragmas(f);
  if (space_of(text)) return variables(f);
  if (linkage_of(text))
    return cursor_.error(diag(DiagKind::Syntax,
                              "found `{}` in a function; such variables are declared outside", text)
                             .with_span(word.span()));
  if (text == ".callprototype" || text == ".branchtargets" || text == ".calltargets")
    return cursor_.error(
        diag(DiagKind::Syntax, "found `{0}`, expected `label: {0}`", text).with_span(word.span()));
  return cursor_.unexpected("a statement");
}

bool BodyReader::registers(Function& f) {
  cursor_.take_word();
  registers_.clear();
  isa::Type type{};
  std::uint8_t vector = 1;
  if (!declarations_.registers(type, vector, registers_)) return false;
  f.add_registers(type, registers_, vector);
  return true;
}

bool BodyReader::variables(Function& f) {
  variables_.clear();
  if (!declarations_.variables(Linkage::None, variables_)) return false;
  for (Variable& variable : variables_) f.add_variable(std::move(variable));
  return true;
}

bool BodyReader::pragmas(Function& f) {
  cursor_.take_word();
  std::vector<NameId> texts;
  if (!declarations_.pragmas(texts)) return false;
  for (const NameId text : texts) f.add_pragma(text);
  return true;
}

// `.loc 1 20 3` and perhaps `, function_name f+4, inlined_at 1 9 2`
bool BodyReader::loc(Function& f) {
  cursor_.take_word();
  Loc loc;
  if (!place(loc.at)) return false;
  if (cursor_.accept(',') && !inlining(loc)) return false;
  f.add_loc(loc);
  return true;
}

bool BodyReader::inlining(Loc& loc) {
  if (!cursor_.accept_word("function_name")) return cursor_.unexpected("`function_name`");
  if (!declarations_.name("a label", loc.function)) return false;
  if (cursor_.accept('+')) {
    const auto offset = cursor_.integer("an offset", std::numeric_limits<std::uint64_t>::max());
    if (!offset) return false;
    loc.function_offset = *offset;
  }
  if (!cursor_.expect(',', "`,`")) return false;
  if (!cursor_.accept_word("inlined_at")) return cursor_.unexpected("`inlined_at`");
  return place(loc.inlined_at);
}

bool BodyReader::place(Loc::Place& out) {
  const auto file = cursor_.integer("a file's number", kMaxU32);
  const auto line = file ? cursor_.integer("a line", kMaxU32) : std::nullopt;
  const auto column = line ? cursor_.integer("a column", kMaxU32) : std::nullopt;
  if (!column) return false;
  out = {static_cast<std::uint32_t>(*file), static_cast<std::uint32_t>(*line),
         static_cast<std::uint32_t>(*column)};
  return true;
}

// --- what has a label ---------------------------------------------------------------------------

// The cursor is at the colon.
bool BodyReader::labelled(Function& f, std::string_view label) {
  if (!is_plain_name(label) || label == "WARP_SZ") {
    cursor_.go_back_to(cursor_.offset_of(label));
    return cursor_.unexpected("a label without dots");
  }
  cursor_.take_punct();
  const NameId name = names_.intern(label);
  if (cursor_.accept_word(".callprototype")) return prototype(f, name);
  if (cursor_.accept_word(".branchtargets")) return targets(f, StatementKind::BranchTargets, name);
  if (cursor_.accept_word(".calltargets")) return targets(f, StatementKind::CallTargets, name);
  f.add_label(name);
  return true;
}

// `p : .callprototype (.param .b32 _) _ (.param .b64 _) .noreturn;`
bool BodyReader::prototype(Function& f, NameId label) {
  Prototype out;
  out.label = label;
  if (!declarations_.parameters(out.results)) return false;
  if (!cursor_.accept_word("_")) return cursor_.unexpected("`_`");
  if (!declarations_.parameters(out.params) || !declarations_.directives(out.directives) ||
      !cursor_.expect(';', "`;`"))
    return false;
  f.add_prototype(std::move(out));
  return true;
}

// `t: .branchtargets a, b;`
bool BodyReader::targets(Function& f, StatementKind kind, NameId label) {
  TargetList out;
  out.label = label;
  do {
    if (!declarations_.name("a name", out.names.emplace_back())) return false;
  } while (cursor_.accept(','));
  if (!cursor_.expect(';', "`,` or `;`")) return false;
  f.add_targets(kind, std::move(out));
  return true;
}

}  // namespace

// --- recover -------------------------------------------------------------------------------------

namespace {

void skip_braces(Cursor& cursor) {
  std::size_t depth = 0;
  do {
    const char first = cursor.here();
    cursor.take();
    if (first == '{') ++depth;
    if (first == '}') --depth;
  } while (depth > 0 && !cursor.at_end());
}

}  // namespace

bool at_item(const Cursor& cursor) {
  static constexpr std::string_view kWords[] = {".visible", ".weak",    ".entry", ".func",
                                                ".version", ".section", ".alias"};
  constexpr std::string_view kLetters = "vwefsa";
  if (cursor.here() != '.') return false;
  const std::string_view rest = cursor.rest();
  return rest.size() > 1 && kLetters.contains(rest[1]) &&
         std::ranges::find(kWords, cursor.text()) != std::end(kWords);
}

// Braces are a list of operands or a block; what stands before the `{` and after the `}` tells. The
// list that the cursor is in when the error is found was opened before.
void skip_statement(Cursor& cursor) {
  const auto precedes_operand = [](char c) {
    return c == ',' || c == '|' || c == '{' || c == '[' || c == '(';
  };
  std::size_t blocks = 0;
  std::size_t lists = 0;
  bool expects_operand = precedes_operand(cursor.last_char());
  while (!cursor.at_end() && !at_item(cursor)) {
    const std::uint32_t place = cursor.offset();
    const char first = cursor.here();
    const bool is_name = cursor.at_name();
    cursor.take();
    if (first == ';') lists = 0;
    if (first == ';' && blocks == 0) return;
    if (first == '{') ++(expects_operand ? lists : blocks);
    if (first == '}' && lists > 0) {
      --lists;
    } else if (first == '}' && !cursor.at(',') && !cursor.at(';') && !cursor.at('|')) {
      if (blocks == 0) return cursor.go_back_to(place);
      if (--blocks == 0) return;
    }
    expects_operand = is_name || precedes_operand(first);
  }
}

void skip_item(Cursor& cursor) {
  while (!cursor.at_end() && !at_item(cursor)) {
    const char first = cursor.here();
    if (first == '{')
      skip_braces(cursor);
    else
      cursor.take();
    if (first == ';') return;
    if (first == '{' || (first == '}' && !cursor.at(',') && !cursor.at('}'))) {
      cursor.accept(';');
      return;
    }
  }
}

void skip_to(Cursor& cursor, std::string_view any_of) {
  while (!cursor.at_end() && !any_of.contains(cursor.here()) && !at_item(cursor)) cursor.take();
}

namespace {

constexpr std::uint64_t kLargest64 = std::numeric_limits<std::uint64_t>::max();

class ModuleReader {
 public:
  ModuleReader(std::string_view text, const ParseOptions& options)
      : cursor_(text, options.keep_comments, std::max<std::size_t>(options.max_errors, 1)) {}

  ParseResult run() {
    header();
    for (;;) {
      comments();
      if (cursor_.at_end()) break;
      const std::uint32_t begin = cursor_.offset();
      if (item(begin)) continue;
      // A word that begins an item may be what is wrong; it must not be met again.
      if (cursor_.offset() == begin) cursor_.take();
      skip_item(cursor_);
    }
    return {std::move(module_), cursor_.take_errors()};
  }

 private:
  // --- header -----------------------------------------------------------------------------------

  // Nothing ends these lines, so after an error the next one is looked for; where there is none,
  // one error says enough.
  void header() {
    comments();
    if (!version() && !next_is(".target")) return;
    comments();
    if (!targets() && !next_is(".address_size")) return;
    comments();
    if (!address_size()) skip_to_dot_word();
  }

  void skip_to_dot_word() {
    while (!cursor_.at_dot_word() && !cursor_.at_end()) cursor_.take();
  }
  bool next_is(std::string_view word) {
    skip_to_dot_word();
    return cursor_.at_word(word);
  }

  bool version() {
    if (!cursor_.accept_word(".version")) return cursor_.unexpected("`.version`");
    if (!cursor_.at_kind(TokenKind::Decimal) || !split_version(cursor_.text()))
      return cursor_.unexpected("a version such as `8.8`");
    module_.version_offset = cursor_.offset();
    cursor_.take();
    return true;
  }

  bool split_version(std::string_view text) {
    const std::size_t dot = text.find('.');
    const auto whole = [](std::string_view digits, std::uint16_t& out) {
      const char* const end = digits.data() + digits.size();
      const auto [stop, error] = std::from_chars(digits.data(), end, out);
      return stop == end && error == std::errc();
    };
    return dot != std::string_view::npos && whole(text.substr(0, dot), module_.version.major) &&
           whole(text.substr(dot + 1), module_.version.minor);
  }

  bool targets() {
    if (!cursor_.accept_word(".target")) return cursor_.unexpected("`.target`");
    module_.target_offset = cursor_.offset();
    do {
      if (!declarations_.name("a target such as `sm_90`", module_.targets.emplace_back()))
        return false;
    } while (cursor_.accept(','));
    return true;
  }

  bool address_size() {
    module_.address_size = 0;
    if (!cursor_.accept_word(".address_size")) return true;
    const Token bits = cursor_.peek();
    if (bits.kind != TokenKind::Int || (bits.value != 32 && bits.value != 64))
      return cursor_.unexpected("32 or 64");
    module_.address_size = static_cast<std::uint32_t>(cursor_.take().value);
    return true;
  }

  // --- items ------------------------------------------------------------------------------------

  bool item(std::uint32_t begin) {
    if (!cursor_.at_dot_word()) return cursor_.unexpected("a variable or function");
    const std::string_view word = cursor_.text();
    bool read = false;
    if (word == ".file")
      read = file();
    else if (word == ".section")
      read = section();
    else if (word == ".alias")
      read = alias();
    else if (word == ".pragma")
      read = pragmas();
    else
      return linked(begin);
    if (read) module_.items.back().offset = begin;
    return read;
  }

  // A variable or function, perhaps with its linkage before it.
  bool linked(std::uint32_t begin) {
    const std::optional<Linkage> linkage = linkage_of(cursor_.text());
    if (linkage) cursor_.take();
    const Linkage which = linkage.value_or(Linkage::None);
    if (cursor_.at_word(".entry") || cursor_.at_word(".func")) return function(which, begin);
    const auto space = cursor_.at_dot_word() ? space_of(cursor_.text()) : std::nullopt;
    if (!space || *space == Space::Reg) return cursor_.unexpected("a variable or function");
    return variables(which, begin);
  }

  bool variables(Linkage linkage, std::uint32_t begin) {
    std::vector<Variable> read;
    if (!declarations_.variables(linkage, read)) return false;
    for (Variable& variable : read) {
      module_.add_variable(std::move(variable));
      module_.items.back().offset = begin;
    }
    return true;
  }

  bool file() {
    cursor_.take();
    File out;
    const auto index = cursor_.integer("a file's number", kMaxU32);
    if (!index || !declarations_.string("a path in quotes", out.path)) return false;
    out.index = static_cast<std::uint32_t>(*index);
    if (cursor_.accept(',')) {
      const auto time = cursor_.integer("a time", kLargest64);
      if (!time || !cursor_.expect(',', "`,`")) return false;
      const auto bytes = cursor_.integer("a size", kLargest64);
      if (!bytes) return false;
      out.has_stamp = true;
      out.time = *time;
      out.bytes = *bytes;
    }
    module_.add_file(out);
    return true;
  }

  bool alias() {
    cursor_.take();
    NameId name{};
    NameId target{};
    if (!declarations_.name("a function", name) || !cursor_.expect(',', "`,`") ||
        !declarations_.name("a function", target) || !cursor_.expect(';', "`;`"))
      return false;
    module_.add_alias(name, target);
    return true;
  }

  bool pragmas() {
    cursor_.take();
    std::vector<NameId> texts;
    if (!declarations_.pragmas(texts)) return false;
    for (const NameId text : texts) module_.add_pragma(module_.text(text));
    return true;
  }

  void comments() {
    if (!cursor_.lexer().has_comments()) return;
    for (const Lexer::Comment& comment : cursor_.lexer().take_comments()) {
      module_.add_comment(comment.text);
      module_.items.back().offset = comment.offset;
    }
  }

  // --- functions --------------------------------------------------------------------------------

  bool function(Linkage linkage, std::uint32_t begin) {
    Function f;
    f.linkage = linkage;
    f.offset = begin;
    f.kind = cursor_.take_word() == ".entry" ? FunctionKind::Entry : FunctionKind::Func;
    // The body may be fine when the head is not, and has errors of its own to tell.
    if (!function_head(f)) skip_to_body();
    if (cursor_.at('{')) {
      body_.read(f);
    } else {
      f.end_offset = cursor_.offset();
      if (!cursor_.accept(';')) return false;
    }
    module_.add_function(std::move(f));
    module_.items.back().offset = begin;
    return true;
  }

  // A `.pragma` has a `;` of its own.
  void skip_to_body() {
    skip_to(cursor_, "{;");
    const std::uint32_t semicolon = cursor_.offset();
    if (cursor_.accept(';') && !cursor_.at('{')) cursor_.go_back_to(semicolon);
  }

  bool function_head(Function& f) {
    if (!declarations_.attributes(f.attributes)) return false;
    if (f.kind == FunctionKind::Func && !declarations_.parameters(f.results)) return false;
    return declarations_.name("the function's name", f.name) &&
           declarations_.parameters(f.params) && declarations_.directives(f.directives) &&
           (cursor_.at('{') || cursor_.at(';') || cursor_.unexpected("`{` or `;`"));
  }

  // --- debug sections ---------------------------------------------------------------------------

  bool section() {
    cursor_.take();
    Section out;
    if (!cursor_.at_dot_word()) return cursor_.unexpected("a section such as `.debug_str`");
    out.name = module_.names.intern(cursor_.take_word());
    if (!cursor_.expect('{', "`{`")) return false;
    while (!cursor_.at('}') && section_line(out)) {
    }
    skip_to(cursor_, "}");
    cursor_.accept('}');
    module_.add_section(std::move(out));
    return true;
  }

  bool section_line(Section& out) {
    SectionLine line;
    if (cursor_.at_name()) {
      if (!declarations_.name("a label", line.label)) return false;
      out.lines.push_back(line);
      return cursor_.expect(':', "`:`");
    }
    if (!section_type(line.type))
      return cursor_.unexpected("a label, `.b8`, `.b16`, `.b32` or `.b64`");
    cursor_.take();
    if (!operands_.section_values(out.values, line.values)) return false;
    out.lines.push_back(line);
    return true;
  }

  // Sections are long, and nearly all of their lines begin with `.b8`.
  bool section_type(isa::Type& out) const {
    if (!cursor_.at_dot_word()) return false;
    const std::string_view word = cursor_.text();
    if (word == ".b8")
      out = isa::Type::B8;
    else if (word == ".b16")
      out = isa::Type::B16;
    else if (word == ".b32")
      out = isa::Type::B32;
    else if (word == ".b64")
      out = isa::Type::B64;
    else
      return false;
    return true;
  }

  Cursor cursor_;
  Module module_;
  OperandReader operands_{cursor_, module_.names};
  DeclarationReader declarations_{cursor_, module_.names, operands_};
  BodyReader body_{cursor_, module_.names, operands_, declarations_};
};

}  // namespace

ParseResult parse(std::string_view text, const ParseOptions& options) {
  if (text.size() < kMaxU32) return ModuleReader(text, options).run();
  ParseResult refused;
  refused.errors.push_back(diag(DiagKind::TooLarge,
                                "the text has {} bytes; {} is the most that is read", text.size(),
                                kMaxU32 - 1)
                               .with_span(Span::at(0, 0)));
  return refused;
}

}  // namespace ww::ptx
