// SPDX-License-Identifier: Apache-2.0
#include "ptx/body_reader.h"

#include <cstddef>
#include <limits>
#include <optional>
#include <utility>

#include "base/ascii.h"
#include "ptx/recover.h"
#include "ptx/words.h"

namespace ww::ptx {
namespace {

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

}  // namespace

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

}  // namespace ww::ptx
