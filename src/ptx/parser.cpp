// SPDX-License-Identifier: Apache-2.0
// The module level of the reader: header, variables, functions, debug sections. Functions' insides
// are read by BodyReader, declarations by DeclarationReader, operands by OperandReader; all share
// one Cursor.
#include "ptx/parser.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <system_error>
#include <utility>

#include "ptx/body_reader.h"
#include "ptx/cursor.h"
#include "ptx/declaration_reader.h"
#include "ptx/operand_reader.h"
#include "ptx/recover.h"
#include "ptx/words.h"

namespace ww::ptx {
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
