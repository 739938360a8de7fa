// SPDX-License-Identifier: Apache-2.0
#include "ptx/declaration_reader.h"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/suggest.h"
#include "ptx/parser.h"
#include "ptx/variable_check.h"
#include "ptx/words.h"

namespace ww::ptx {
namespace {

// Limit on names per declaration, to keep lists of them short.
constexpr std::uint64_t kMaxNames = std::uint64_t{1} << 24U;
constexpr std::size_t kMaxDims = 16;

}  // namespace

// --- variables ----------------------------------------------------------------------------------

bool DeclarationReader::variables(Linkage linkage, std::vector<Variable>& out) {
  Variable common;
  common.linkage = linkage;
  if (!head(common)) return false;
  do {
    Variable variable = common;
    if (!declarator(variable)) return false;
    out.push_back(std::move(variable));
  } while (cursor_.accept(','));
  return cursor_.expect(';', "`,` or `;`");
}

// The words before the name.
bool DeclarationReader::head(Variable& out) {
  const std::optional<Space> space = space_of(cursor_.text());
  if (!space) return cursor_.unexpected("a state space such as `.global`");
  cursor_.take();
  out.space = *space;
  return attributes(out.attributes) && align(out.align) && opaque_or_type(out);
}

bool DeclarationReader::align(std::uint32_t& out) {
  if (!cursor_.accept_word(".align")) return true;
  const Token number = cursor_.peek();
  const std::optional<std::uint64_t> bytes = cursor_.integer("an alignment", kMaxU32);
  if (!bytes) return false;
  out = static_cast<std::uint32_t>(*bytes);
  if (std::has_single_bit(out)) return true;
  return cursor_.error(diag(DiagKind::Syntax, "found alignment {}, expected a power of two", out)
                           .with_span(number.span()));
}

bool DeclarationReader::opaque_or_type(Variable& out) {
  const std::optional<Opaque> opaque =
      cursor_.at_dot_word() ? opaque_of(cursor_.text()) : std::nullopt;
  if (!opaque) return vector_and_type(out.vector, out.type);
  cursor_.take();
  out.opaque = *opaque;
  return true;
}

bool DeclarationReader::vector_and_type(std::uint8_t& vector, isa::Type& type) {
  if (!cursor_.at_dot_word()) return cursor_.unexpected("a type such as `.b32`");
  if (const auto length = vector_of(cursor_.text())) {
    vector = *length;
    cursor_.take();
  }
  const auto word = cursor_.at_dot_word() ? declared_type_of(cursor_.text()) : std::nullopt;
  if (!word) return cursor_.unexpected("a type such as `.b32`");
  type = *word;
  cursor_.take();
  return true;
}

bool DeclarationReader::declarator(Variable& variable) {
  variable.offset = cursor_.offset();
  return name("a name", variable.name) && count(variable.count) && dims(variable) &&
         fits(variable) && init(variable);
}

// The layout of variables adds their sizes up, and the sum must not overflow.
bool DeclarationReader::fits(const Variable& variable) {
  std::uint64_t room =
      kMaxVariableBytes /
      std::max<std::uint64_t>(
          1, static_cast<std::uint64_t>(isa::info(variable.type).bits) * variable.vector / 8);
  if (variable.count != kSingle) room /= std::max(1U, variable.count);
  for (const std::uint64_t extent : variable.dims) {
    if (extent == kUnsized || extent == 0) continue;
    room /= extent;
  }
  if (room > 0) return true;
  const std::string_view text = names_.text(variable.name);
  return cursor_.error(
      diag(DiagKind::TooLarge, "`{}` has more than {} bytes", text, kMaxVariableBytes)
          .with_span(Span::at(variable.offset, variable.offset + text.size())));
}

bool DeclarationReader::name(std::string_view wanted, NameId& out) {
  if (!cursor_.at_name() || cursor_.at_word("_") || cursor_.at_word("WARP_SZ"))
    return cursor_.unexpected(wanted);
  const std::uint32_t begin = cursor_.offset();
  const std::string_view text = cursor_.take_word();
  if (is_plain_name(text)) {
    out = names_.intern(text);
    return true;
  }
  cursor_.go_back_to(begin);
  return cursor_.unexpected(std::string(wanted) + " without dots");
}

// `<4>`
bool DeclarationReader::count(std::uint32_t& out) {
  if (!cursor_.accept('<')) return true;
  const Token number = cursor_.peek();
  const std::optional<std::uint64_t> names =
      cursor_.integer("a count", std::numeric_limits<std::uint64_t>::max());
  if (!names) return false;
  if (*names > kMaxNames)
    return cursor_.error(
        diag(DiagKind::TooLarge, "`<{}>` declares more than {} names", *names, kMaxNames)
            .with_span(number.span()));
  out = static_cast<std::uint32_t>(*names);
  return cursor_.expect('>', "`>`");
}

// `[3][]`
bool DeclarationReader::dims(Variable& variable) {
  while (cursor_.at('[')) {
    const Token bracket = cursor_.take();
    if (variable.dims.size() == kMaxDims)
      return cursor_.error(
          diag(DiagKind::TooLarge, "the array has more than {} dimensions", kMaxDims)
              .with_span(bracket.span()));
    std::uint64_t extent = kUnsized;
    if (cursor_.accept_word("WARP_SZ")) {
      extent = 32;
    } else if (!cursor_.at(']')) {
      const auto read = cursor_.integer("an extent", kUnsized - 1);
      if (!read) return false;
      extent = *read;
    }
    if (!cursor_.expect(']', "`]`")) return false;
    variable.dims.push_back(extent);
  }
  return true;
}

bool DeclarationReader::init(Variable& variable) {
  if (!cursor_.accept('=')) return true;
  Operand value;
  if (!operands_.initializer(variable.init, value)) return false;
  variable.set_init(value);
  return true;
}

bool DeclarationReader::attributes(SmallVec<Attribute, 1>& out) {
  if (!cursor_.accept_word(".attribute")) return true;
  if (!cursor_.expect('(', "`(`")) return false;
  do {
    if (!attribute(out)) return false;
  } while (cursor_.accept(','));
  return cursor_.expect(')', "`,` or `)`");
}

bool DeclarationReader::attribute(SmallVec<Attribute, 1>& out) {
  Attribute attribute;
  if (cursor_.accept_word(".managed")) {
    attribute.kind = AttributeKind::Managed;
  } else if (cursor_.accept_word(".unified")) {
    attribute.kind = AttributeKind::Unified;
    if (!uuid(attribute)) return false;
  } else {
    return cursor_.unexpected("`.managed` or `.unified`");
  }
  out.push_back(attribute);
  return true;
}

bool DeclarationReader::uuid(Attribute& attribute) {
  constexpr std::uint64_t kLargest = std::numeric_limits<std::uint64_t>::max();
  if (!cursor_.expect('(', "`(`")) return false;
  const auto upper = cursor_.integer("half a uuid", kLargest);
  if (!upper || !cursor_.expect(',', "`,`")) return false;
  const auto lower = cursor_.integer("half a uuid", kLargest);
  if (!lower || !cursor_.expect(')', "`)`")) return false;
  attribute.uuid = {*upper, *lower};
  return true;
}

// --- registers ----------------------------------------------------------------------------------

bool DeclarationReader::registers(isa::Type& type, std::uint8_t& vector,
                                  std::vector<RegisterName>& names) {
  if (!vector_and_type(vector, type)) return false;
  do {
    RegisterName next;
    next.offset = cursor_.offset();
    if (!name("a register's name", next.name) || !count(next.count)) return false;
    names.push_back(next);
  } while (cursor_.accept(','));
  return cursor_.expect(';', "`,` or `;`");
}

// --- parameters ---------------------------------------------------------------------------------

bool DeclarationReader::parameters(std::vector<Variable>& out) {
  if (!cursor_.accept('(')) return true;
  if (cursor_.accept(')')) return true;
  do {
    Variable variable;
    if (!parameter(variable)) return false;
    out.push_back(std::move(variable));
  } while (cursor_.accept(','));
  return cursor_.expect(')', "`,` or `)`");
}

bool DeclarationReader::parameter(Variable& out) {
  out.space = cursor_.at_word(".reg") ? Space::Reg : Space::Param;
  if (!cursor_.accept_word(word_of(out.space))) return cursor_.unexpected("`.param` or `.reg`");
  if (!align(out.align) || !opaque_or_type(out) || !pointee(out.pointee)) return false;
  out.offset = cursor_.offset();
  if (cursor_.accept_word("_"))
    out.name = names_.intern("_");
  else if (!name("the parameter's name", out.name))
    return false;
  return dims(out) && fits(out);
}

// `.ptr .global .align 16`
bool DeclarationReader::pointee(Pointee& out) {
  if (!cursor_.accept_word(".ptr")) return true;
  out.present = true;
  const auto space = cursor_.at_dot_word() ? space_of(cursor_.text()) : std::nullopt;
  if (space && (*space == Space::Reg || *space == Space::Param))
    return cursor_.unexpected("`.global`, `.const`, `.shared` or `.local`");
  if (space) {
    out.is_generic = false;
    out.space = *space;
    cursor_.take();
  }
  return align(out.align);
}

// --- directives ---------------------------------------------------------------------------------

bool DeclarationReader::directives(std::vector<Directive>& out) {
  while (cursor_.at_dot_word() && !at_item(cursor_))
    if (!directive(out)) return false;
  return true;
}

bool DeclarationReader::directive(std::vector<Directive>& out) {
  const std::optional<DirectiveKind> kind = directive_of(cursor_.text());
  if (!kind) return unknown_directive();
  Directive directive;
  directive.kind = *kind;
  directive.offset = cursor_.take().begin;
  if (directive.kind != DirectiveKind::Pragma) {
    if (!directive_values(directive)) return false;
    out.push_back(std::move(directive));
    return true;
  }
  std::vector<NameId> texts;
  if (!pragmas(texts)) return false;
  for (const NameId text : texts) {
    directive.text = text;
    out.push_back(directive);
  }
  return true;
}

bool DeclarationReader::directive_values(Directive& directive) {
  const DirectiveInfo& row = info(directive.kind);
  while (directive.values.size() < row.most) {
    if (!directive.values.empty()) {
      if (!cursor_.accept(',')) break;
    } else if (row.fewest == 0 && !cursor_.at_kind(TokenKind::Int)) {
      break;
    }
    const auto value = cursor_.integer("an integer", kMaxU32);
    if (!value) return false;
    directive.values.push_back(static_cast<std::uint32_t>(*value));
  }
  return true;
}

// The next directives may be fine, and so may the body.
bool DeclarationReader::unknown_directive() {
  std::vector<std::string> known;
  std::vector<std::string_view> views;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(DirectiveKind::Pragma); ++i)
    known.push_back("." + std::string(info(static_cast<DirectiveKind>(i)).text));
  views.assign(known.begin(), known.end());
  cursor_.error(diag(DiagKind::Syntax, "found {}, expected a directive, `{{` or `;`{}",
                     describe(cursor_.peek(), cursor_.lexer().text()),
                     did_you_mean(cursor_.text(), views))
                    .with_span(cursor_.peek().span()));
  cursor_.take();
  while (cursor_.at_kind(TokenKind::Int) || cursor_.at(',')) cursor_.take();
  return true;
}

bool DeclarationReader::pragmas(std::vector<NameId>& out) {
  do {
    NameId text{};
    if (!string("a string", text)) return false;
    out.push_back(text);
  } while (cursor_.accept(','));
  return cursor_.expect(';', "`,` or `;`");
}

bool DeclarationReader::string(std::string_view wanted, NameId& out) {
  if (!cursor_.at_kind(TokenKind::String)) return cursor_.unexpected(wanted);
  const std::string_view quoted = cursor_.text_of(cursor_.take());
  out = names_.intern(quoted.substr(1, quoted.size() - 2));
  return true;
}

}  // namespace ww::ptx
