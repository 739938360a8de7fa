// SPDX-License-Identifier: Apache-2.0
#include "driver/isa/tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "base/join.h"
#include "base/printable.h"
#include "base/suggest.h"
#include "driver/report_parts.h"
#include "isa/catalogue.h"
#include "isa/check.h"
#include "isa/form.h"
#include "isa/fragment.h"
#include "isa/matrix_copy.h"
#include "isa/special_registers.h"
#include "ptx/check.h"
#include "ptx/parser.h"
#include "ptx/register_class.h"
#include "ptx/source_place.h"
#include "target/target.h"

namespace ww::driver {

// --- text ----------------------------------------------------------------------------------------
//
// Pieces that the parts of `warpwright isa` share: what a form needs, its operands in words.

namespace {

/// The operand's type and count in words: "4 registers of .b32", "`num` registers of .b32".
std::string operand_text(const isa::OperandSpec& spec, const isa::Form& form);

using isa::OperandSpec;

// "sm_90 or later, PTX 7.8"
std::string needs_text(isa::Feature feature, int ptx) {
  return fmt::format("{}, PTX {}", to_text(archs_with(feature)), target::ptx_version_text(ptx));
}

// Each gate of a form in words, the general one first: "sm_75 or later, PTX 6.5", "with
// `.shared::cta`: PTX 7.8".
std::vector<std::string> gate_lines(const isa::Form& form) {
  std::vector<std::string> lines;
  for (const isa::GateInfo& gate : form.gates) {
    std::string needs = needs_text(gate.needs, gate.ptx);
    if (gate.early.ptx != 0)
      needs += fmt::format("; from PTX {} on {}", target::ptx_version_text(gate.early.ptx),
                           to_text(archs_with(gate.early.on)));
    if (gate.until != 0)
      needs += fmt::format(" to {}; any PTX before sm_70", target::ptx_version_text(gate.until));
    if (gate.when.empty())
      lines.insert(lines.begin(), needs);
    else
      lines.push_back(fmt::format("with {}: {}", to_text(gate.when, form), needs));
  }
  if (lines.empty() || lines[0].starts_with("with")) {
    lines.insert(lines.begin(), needs_text(isa::Feature::Sm75, 63));
  }
  return lines;
}

// Each rule in words.
std::vector<std::string> rule_lines(const isa::Form& form) {
  std::vector<std::string> lines;
  for (const isa::RuleInfo& rule : form.rules) {
    const std::string when = to_text(rule.when, form);
    lines.push_back(rule.then ? fmt::format("{} needs {}", when, to_text(*rule.then, form))
                              : fmt::format("never {}", when));
  }
  return lines;
}

// "written", "read", "address", …
std::string_view role_text(isa::Role role) {
  static constexpr std::string_view kTexts[] = {"written", "read",           "immediate", "address",
                                                "label",   "list of labels", "any"};
  return kTexts[std::to_underlying(role)];
}

std::string type_text(const OperandSpec& spec, const isa::Form& form) {
  if (spec.type) return fmt::format(".{}", isa::info(*spec.type).name);
  if (!spec.type_slot) return "";
  const std::string type = fmt::format(".{}", form.slots[*spec.type_slot].name);
  return spec.widen == 1 ? type : fmt::format("{} × {}", type, spec.widen);
}

std::string count_text(const OperandSpec& spec, const isa::Form& form) {
  switch (spec.count) {
    case OperandSpec::Count::Scalar:
      return "";
    case OperandSpec::Count::Fixed:
      return fmt::format("{} of ", spec.fixed_count);
    case OperandSpec::Count::BySlot:
      return fmt::format(".{} of ", form.slots[spec.count_slot].name);
    case OperandSpec::Count::ByFunction:
      return "several of ";
  }
  return "";
}

std::string operand_text(const OperandSpec& spec, const isa::Form& form) {
  std::string text(role_text(spec.role));
  if (spec.role == isa::Role::Address) {
    const std::string space = spec.space_slot
                                  ? fmt::format(".{}", form.slots[*spec.space_slot].name)
                                  : std::string(isa::name_of(spec.space));
    text += fmt::format(" in {}", space);
    if (spec.count != OperandSpec::Count::Scalar)
      text += fmt::format(", {}coordinates", count_text(spec, form));
  } else if (spec.role == isa::Role::Write || spec.role == isa::Role::Read) {
    text += fmt::format(", {}{}", count_text(spec, form), type_text(spec, form));
    if (spec.wider) text += " or wider";
    if (spec.role == isa::Role::Read && spec.register_only) text += ", a register";
  }
  if (const std::string values = spec.values_text(); !values.empty())
    text += fmt::format(", {}", values);
  if (spec.sink) text += ", or `_`";
  if (spec.optional) text += ", optional";
  if (spec.present) text += fmt::format(", with {}", to_text(*spec.present, form));
  return text;
}

// The names in a set.
std::vector<std::string> arch_names(target::ArchSet archs) {
  std::vector<std::string> names;
  for (const target::ArchInfo& arch : target::kArchs) {
    if (archs.contains(arch.arch)) names.emplace_back(arch.name);
  }
  return names;
}

}  // namespace

// --- check ---------------------------------------------------------------------------------------
//
// `warpwright isa check`: a PTX file against the catalogue.

namespace {

Json finding_json(const Diag& problem, const SourceText& source) {
  Json result;
  if (problem.span.known) {
    const SourceText::Position at = source.position(problem.span.begin);
    result["line"] = at.line;
    result["column"] = at.column;
  }
  result["kind"] = name_of(problem.kind);
  result["message"] = problem.text;
  Json notes = json_list(problem.notes, [&](const Note& note) { return note.text; });
  result["notes"] = notes;
  return result;
}

struct Judged {
  std::vector<Diag> errors;
  std::vector<Note> notes;
  std::string target;  // empty if the module could not be read that far
  std::string ptx;
  std::size_t instructions = 0;
  std::size_t kernels = 0;
};

// With the lines that they were made from, where a `.loc` tells.
std::vector<Diag> with_sources(std::vector<Diag> errors, const ptx::Module& module) {
  for (Diag& problem : errors)
    if (std::optional<Note> note = ptx::source_note(module, problem.span))
      problem.notes.push_back(*std::move(note));
  return errors;
}

Judged judge(const SourceText& source) {
  const ptx::ParseResult parsed = ptx::parse(source.text());
  if (!parsed.ok()) return {with_sources(parsed.errors, parsed.module), {}, "", "", 0, 0};
  const ptx::CheckResult checked = ptx::check(parsed.module);
  Judged result{with_sources(checked.errors, parsed.module),
                checked.notes,
                std::string(info(checked.target.arch).name),
                target::ptx_version_text(checked.target.ptx),
                checked.instructions,
                0};
  for (const ptx::Function& function : parsed.module.functions) {
    result.kernels += function.kind == ptx::FunctionKind::Entry && function.has_body ? 1U : 0U;
  }
  return result;
}

std::string to_json(const Judged& judged, const SourceText& source) {
  Json findings =
      json_list(judged.errors, [&](const Diag& problem) { return finding_json(problem, source); });
  Json notes = json_list(judged.notes, [&](const Note& note) { return note.text; });
  return json_lines(with_schema("isa-check", {{"file", source.name()},
                                              {"legal", judged.errors.empty()},
                                              {"target", judged.target},
                                              {"ptx", judged.ptx},
                                              {"notes", notes},
                                              {"kernels", judged.kernels},
                                              {"instructions", judged.instructions},
                                              {"findings", findings}}));
}

}  // namespace

IsaCheck isa_check(const SourceText& source, IsaFormat format) {
  const Judged judged = judge(source);
  IsaCheck result;
  result.legal = judged.errors.empty();
  if (format == IsaFormat::Json) {
    result.out = to_json(judged, source);
    return result;
  }
  for (const Diag& problem : judged.errors) result.err += render(problem, source);
  for (const Note& note : judged.notes) {
    result.out += fmt::format("{}:{}: note: {}\n", printable_name(source.name()),
                              source.position(note.span.begin).line, note.text);
  }
  if (result.legal) {
    result.out +=
        fmt::format("{}: {} in {}, all legal for {}, PTX {}\n", printable_name(source.name()),
                    plural(judged.instructions, "instruction"), plural(judged.kernels, "kernel"),
                    judged.target, judged.ptx);
  } else {
    result.out += fmt::format("{}: {}\n", printable_name(source.name()),
                              plural(judged.errors.size(), "error"));
  }
  return result;
}

// --- list ----------------------------------------------------------------------------------------
//
// `warpwright isa list`: families, or the syntax lines of one.

namespace {

std::vector<std::string_view> mnemonics_of(const isa::Family& family) {
  std::vector<std::string_view> names;
  for (const isa::Form& form : family.forms) {
    const std::string_view name = form.mnemonic.text();
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
  return names;
}

std::string families_text() {
  std::string out;
  std::size_t forms = 0;
  for (const isa::Family& family : isa::families()) {
    out += fmt::format("{:<12} {:>4}  {}\n", family.name, family.forms.size(), family.title);
    forms += family.forms.size();
  }
  return out + fmt::format("{} families, {} forms, {} mnemonics\n", isa::families().size(), forms,
                           isa::Mnemonic::all().size());
}

std::string families_json() {
  Json list = json_list(isa::families(), [&](const isa::Family& family) -> Json {
    return {{"family", family.name},
            {"title", family.title},
            {"forms", family.forms.size()},
            {"mnemonics", mnemonics_of(family)}};
  });
  return json_lines(with_schema("isa-list", {{"families", list}}));
}

std::vector<const isa::Form*> forms_named(std::string_view name) {
  if (const isa::Family* family = isa::find_family(name)) {
    std::vector<const isa::Form*> forms;
    for (const isa::Form& form : family->forms) forms.push_back(&form);
    return forms;
  }
  return isa::forms_of(name);
}

Diag unknown_name(std::string_view name) {
  const auto all = isa::Mnemonic::all();
  std::vector<std::string_view> known(all.begin(), all.end());
  for (const isa::Family& family : isa::families()) known.push_back(family.name);
  return diag(DiagKind::UnknownName, "no family or instruction is called `{}`{}", name,
              did_you_mean(name, known))
      .with_note("`warpwright isa list` shows the families");
}

std::string form_list_text(std::span<const isa::Form* const> forms) {
  std::string out;
  for (const isa::Form* form : forms) {
    out +=
        fmt::format("{}\n    {}; {}\n", syntax_line(*form), form->row->about, gate_lines(*form)[0]);
  }
  return out;
}

std::string forms_json(std::span<const isa::Form* const> forms) {
  Json list = json_list(forms, [&](const isa::Form* form) -> Json {
    return {{"family", form->family},
            {"mnemonic", form->mnemonic.text()},
            {"syntax", syntax_line(*form)},
            {"about", form->row->about},
            {"needs", gate_lines(*form)}};
  });
  return json_lines(with_schema("isa-forms", {{"forms", list}}));
}

}  // namespace

Result<std::string> isa_list(std::string_view name, IsaFormat format) {
  if (name.empty()) return format == IsaFormat::Json ? families_json() : families_text();
  const std::vector<const isa::Form*> forms = forms_named(name);
  if (forms.empty()) return fail(unknown_name(name));
  return format == IsaFormat::Json ? forms_json(forms) : form_list_text(forms);
}

// --- registers -----------------------------------------------------------------------------------
//
// `warpwright isa registers`: the register classes and how they contain each other.

namespace {

using ptx::RegisterClass;
using ptx::RegisterClassInfo;

// The classes that contain all of its registers, itself left out.
std::vector<std::string_view> superclasses(RegisterClass cls) {
  std::vector<std::string_view> names;
  for (const RegisterClassInfo& other : ptx::register_classes()) {
    if (other.id != cls && ptx::is_subclass(cls, other.id)) names.push_back(other.name);
  }
  return names;
}

// Pairs of classes between which a copy goes through a third.
struct Common {
  std::string_view a, b, through;
};
std::vector<Common> common_classes() {
  std::vector<Common> out;
  const auto classes = ptx::register_classes();
  for (std::size_t a = 0; a < classes.size(); ++a) {
    for (std::size_t b = a + 1; b < classes.size(); ++b) {
      if (const auto common = ptx::common_class(classes[a].id, classes[b].id))
        out.push_back({classes[a].name, classes[b].name, info(*common).name});
    }
  }
  return out;
}

std::string to_text() {
  std::string out = fmt::format("{:<4}{:<9}{:>5}  {:<10}{:<8}{:<13}{}\n", "id", "class", "bits",
                                "declared", "prefix", "inside", "holds");
  for (const RegisterClassInfo& cls : ptx::register_classes()) {
    out += fmt::format("{:<4}{:<9}{:>5}  {:<10}{:<8}{:<13}{}\n", static_cast<int>(cls.id), cls.name,
                       cls.bits, ptx::is_declared(cls.id) ? cls.declaration : "no",
                       cls.prefix.empty() ? "none" : cls.prefix, join(superclasses(cls.id), ", "),
                       cls.holds);
  }
  out += '\n';
  for (const Common& pair : common_classes())
    out += fmt::format("a copy between {} and {} is one of {}\n", pair.a, pair.b, pair.through);
  return out;
}

std::string to_json() {
  Json classes = json_list(ptx::register_classes(), [&](const RegisterClassInfo& cls) -> Json {
    return {{"id", static_cast<int>(cls.id)},
            {"name", cls.name},
            {"bits", cls.bits},
            {"declaration", cls.declaration},
            {"is_declared", ptx::is_declared(cls.id)},
            {"prefix", cls.prefix},
            {"superclasses", superclasses(cls.id)},
            {"holds", cls.holds}};
  });
  Json common = json_list(common_classes(), [&](const Common& pair) -> Json {
    return {{"a", pair.a}, {"b", pair.b}, {"through", pair.through}};
  });
  return json_lines(with_schema("isa-registers", {{"classes", classes}, {"common", common}}));
}

}  // namespace

std::string isa_registers(IsaFormat format) {
  return format == IsaFormat::Json ? to_json() : to_text();
}

// --- select --------------------------------------------------------------------------------------
//
// `warpwright isa select`: the matrix-copy selector from words such as num=2.

namespace {

using isa::MatrixCopy;
using isa::MatrixCopyProps;

constexpr std::string_view kKeys[] = {"family", "num", "shape", "sz", "trans", "layout", "attr"};

int* number_field(MatrixCopyProps& props, std::string_view key) {
  if (key == "num") return &props.num;
  if (key == "shape") return &props.shape;
  if (key == "sz") return &props.sz;
  if (key == "trans") return &props.trans;
  if (key == "layout") return &props.layout;
  return key == "attr" ? &props.attr : nullptr;
}

Result<void> read_word(MatrixCopyProps& props, std::string_view word) {
  const auto equals = word.find('=');
  const std::string_view key = word.substr(0, equals);
  if (equals == std::string_view::npos || std::ranges::find(kKeys, key) == std::end(kKeys)) {
    return fail(
        diag(DiagKind::UnknownName, "`{}` is not a property{}", word, did_you_mean(key, kKeys))
            .with_note(fmt::format("properties: {}, each as name=value", join(kKeys, ", "))));
  }
  const std::string_view value = word.substr(equals + 1);
  if (key == "family") {
    props.family = value;
    return {};
  }
  int& field = *number_field(props, key);
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), field);
  if (error != std::errc() || end != value.data() + value.size()) {
    return fail(DiagKind::BadArgument, "`{}` is not a whole number, in `{}`", value, word);
  }
  return {};
}

std::string or_none(std::string_view text) { return text.empty() ? "none" : std::string(text); }
Json or_null(const std::optional<int>& number) { return number ? Json(*number) : Json(nullptr); }

Json row_json(const MatrixCopy& copy) {
  const MatrixCopyProps& p = copy.props;
  return {{"family", p.family},
          {"num", p.num},
          {"shape", p.shape},
          {"sz", p.sz},
          {"trans", p.trans},
          {"layout", p.layout},
          {"attr", p.attr},
          {"id", or_null(copy.id)},
          {"id_by_code", or_null(copy.id_by_code)},
          {"id_by_order", or_null(copy.id_by_order())},
          {"document_mnemonic", copy.document_mnemonic},
          {"ptx", or_none(copy.ptx)},
          {"id_stands_for", or_none(copy.id_stands_for)},
          {"other_reading", or_none(copy.other_reading())},
          {"registers", copy.registers},
          {"targets", arch_names(copy.targets)}};
}

std::string number_text(const std::optional<int>& number) {
  return number ? std::to_string(*number) : "none";
}

// Of a row whose two ids differ: what the order of names says.
std::string code_text(const MatrixCopy& copy) {
  if (!copy.id_by_code || copy.id_by_code == copy.id) return "";
  const std::optional<int> order = copy.id_by_order();
  return fmt::format("id by code         {}; LLVM's order of names says {}, as the {} does\n",
                     number_text(copy.id_by_code), number_text(order),
                     order == copy.id ? "table" : "code");
}

// Of a row without an instruction.
std::string reading_text(const MatrixCopy& copy) {
  if (!copy.ptx.empty() || copy.other_reading().empty()) return "";
  return fmt::format("other reading      {}, with sz 0 = b6x16_p32, 1 = b4x16_p64, 2 = b8\n",
                     copy.other_reading());
}

std::string to_text(const MatrixCopy& copy) {
  const auto arch = copy.min_arch();
  return fmt::format(
      "id                 {}\n"
      "{}"
      "document mnemonic  {}\n"
      "ptx                {}\n"
      "{}"
      "id stands for      {}\n"
      "registers          {}\n"
      "targets            {}\n",
      number_text(copy.id), code_text(copy), copy.document_mnemonic, or_none(copy.ptx),
      reading_text(copy), or_none(copy.id_stands_for), copy.registers,
      arch ? to_text(copy.targets) : "none");
}

// "family=stmatrix num=2 shape=0 trans=1": what selects the row.
std::string props_text(const MatrixCopyProps& p) {
  if (p.family == "ldmatrix") {
    return fmt::format("family=ldmatrix num={} shape={} sz={} trans={} layout={}", p.num, p.shape,
                       p.sz, p.trans, p.layout);
  }
  if (p.family == "stmatrix")
    return fmt::format("family=stmatrix num={} shape={} trans={}", p.num, p.shape, p.trans);
  if (p.family == "stmatrix_alt")
    return fmt::format("family=stmatrix_alt shape={} attr={}", p.shape, p.attr);
  return fmt::format("family={}", p.family);
}

std::string rows_json(std::span<const MatrixCopy* const> rows) {
  Json list = json_list(rows, [&](const MatrixCopy* row) { return row_json(*row); });
  return json_lines(with_schema("isa-select-table", {{"rows", list}}));
}

// --- the whole table ---

std::string table_text() {
  std::string out = fmt::format("{:<6}{:<6}{:<54}{}\n", "id", "code", "properties", "ptx");
  for (const MatrixCopy& row : isa::matrix_copies()) {
    out += fmt::format("{:<6}{:<6}{:<54}{}\n", row.id ? std::to_string(*row.id) : "-",
                       row.id_by_code ? std::to_string(*row.id_by_code) : "-",
                       props_text(row.props), or_none(row.ptx));
  }
  return out;
}

std::string table(IsaFormat format) {
  if (format == IsaFormat::Text) return table_text();
  std::vector<const MatrixCopy*> rows;
  for (const MatrixCopy& row : isa::matrix_copies()) rows.push_back(&row);
  return rows_json(rows);
}

// --- by an id ---

Result<std::string> reverse(std::string_view word, IsaFormat format) {
  const std::string_view value = word.substr(word.find('=') + 1);
  int id = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), id);
  if (error != std::errc() || end != value.data() + value.size())
    return fail(DiagKind::BadArgument, "`{}` is not a whole number, in `{}`", value, word);
  const std::vector<const MatrixCopy*> rows = isa::matrix_copies_of(id);
  if (rows.empty()) {
    return fail(diag(DiagKind::UnknownName, "no matrix copy has the id {}", id)
                    .with_note("ids: 9153 to 9170 (ldmatrix), 9858 to 9866 (stmatrix), 10379 to "
                               "10382 and 8366 (siblings); `isa select` lists them"));
  }
  if (format == IsaFormat::Json) return rows_json(rows);
  std::string out;
  for (const MatrixCopy* row : rows) {
    if (!out.empty()) out += '\n';
    out += fmt::format("{}, by the document's {}\n", props_text(row->props),
                       row->id != id                ? "code"
                       : row->id_by_code == row->id ? "table and code"
                       : row->id_by_code            ? "table"
                                                    : "table, which is all it says");
    out += to_text(*row);
  }
  return out;
}

}  // namespace

Result<std::string> isa_select(std::span<const std::string> words, IsaFormat format) {
  if (words.empty()) return table(format);
  if (words.size() == 1 && words[0].starts_with("id=")) return reverse(words[0], format);
  MatrixCopyProps props;
  bool has_family = false;
  for (const std::string& word : words) {
    WW_TRY_VOID(read_word(props, word));
    has_family = has_family || word.starts_with("family=");
  }
  if (!has_family) {
    return fail(diag(DiagKind::BadArgument, "no family was given")
                    .with_note("for example: family=ldmatrix num=2 shape=0 sz=0 trans=1 layout=0"));
  }
  // movmatrix has one form; its properties may be left out.
  if (props.family == "movmatrix" && words.size() == 1) props.trans = 1;
  const MatrixCopy copy = WW_TRY(isa::select_matrix_copy(props));
  if (format == IsaFormat::Text) return to_text(copy);
  Json json = with_schema("isa-select");
  json.update(row_json(copy));
  return json_lines(json);
}

// --- show ----------------------------------------------------------------------------------------
//
// `warpwright isa show`: forms in full, and fragments as tables.

namespace {

using isa::Binding;
using isa::Form;
using isa::Fragment;
using isa::FragmentPlace;

// --- fragments ---

std::string place_text(const Fragment& fragment, const FragmentPlace& place) {
  std::string text = fragment.by_warp ? fmt::format("w{} ", place.warp) : "";
  text += fmt::format("T{} r{}", place.lane, place.reg);
  if (fragment.parts > 1) text += fmt::format(".{}", place.part);
  return text;
}

constexpr int kMaxColumns = 16;

std::string fragment_table(const Fragment& fragment) {
  std::size_t width = 0;
  for (const FragmentPlace& place : fragment.places)
    width = std::max(width, place_text(fragment, place).size());
  const int cols = std::min(fragment.cols, kMaxColumns);
  std::string out = fmt::format("  {} (operand {}):\n", fragment.title, fragment.operand);
  out += fmt::format("  {:>4}", "");
  for (int col = 0; col < cols; ++col) out += fmt::format("  {:>{}}", col, width);
  out += "\n";
  for (int row = 0; row < fragment.rows; ++row) {
    out += fmt::format("  {:>4}", row);
    for (int col = 0; col < cols; ++col)
      out += fmt::format("  {:>{}}", place_text(fragment, fragment.at(row, col)), width);
    out += fragment.cols > cols ? "  …\n" : "\n";
  }
  return out;
}

std::string fragments_text(const Binding& binding) {
  const std::vector<Fragment> fragments = isa::fragments_of(binding);
  if (fragments.empty()) return "";
  std::string out = "  T lane, r register";
  if (std::ranges::any_of(fragments, [](const Fragment& f) { return f.parts > 1; }))
    out += ", .n part of it, low bits first";
  if (fragments[0].by_warp) out += ", w warp";
  out += "\n";
  for (const Fragment& fragment : fragments) out += fragment_table(fragment);
  return out;
}

Json fragments_json(const Binding& binding) {
  Json list = Json::array();
  for (const Fragment& fragment : isa::fragments_of(binding)) {
    Json places = json_list(fragment.places, [&](const FragmentPlace& place) {
      return Json{
          {"warp", place.warp}, {"lane", place.lane}, {"reg", place.reg}, {"part", place.part}};
    });
    list.push_back({{"operand", fragment.operand},
                    {"title", fragment.title},
                    {"rows", fragment.rows},
                    {"cols", fragment.cols},
                    {"parts_per_register", fragment.parts},
                    {"registers", fragment.regs},
                    {"places", places}});
  }
  return list;
}

// --- forms ---

// The picture of a form: that of its first legal combination, which is the smallest one.
std::optional<Binding> smallest(const Form& form) {
  std::optional<Binding> first;
  isa::for_each_binding(form, [&](const Binding& binding) {
    if (!first) first = binding;
  });
  return first;
}

std::string form_text(const Form& form) {
  std::string out = syntax_line(form) + "\n";
  if (!form.row->about.empty()) out += fmt::format("  {}\n", form.row->about);
  for (const isa::Slot& slot : form.slots) {
    if (slot.words.size() > 4)
      out += fmt::format("  .{:<10} .{}\n", slot.name, join(slot.words, " ."));
  }
  for (const isa::OperandSpec& spec : form.operands) {
    out += fmt::format("  {:<11} {}\n", spec.name, operand_text(spec, form));
  }
  for (const std::string& line : gate_lines(form)) out += fmt::format("  needs       {}\n", line);
  for (const std::string& line : rule_lines(form)) out += fmt::format("  rule        {}\n", line);
  return out;
}

// Pictures where a handful of forms is shown; mma and wgmma are asked for by opcode.
bool has_picture(const Form& form) { return form.family == "matrix"; }

std::string forms_text(std::span<const Form* const> forms) {
  std::string out;
  for (const Form* form : forms) {
    if (!out.empty()) out += "\n";
    out += form_text(*form);
    if (!has_picture(*form)) continue;
    const auto plain = smallest(*form);
    if (!plain) continue;
    out += fragments_text(*plain);
    Binding transposed = *plain;
    const auto trans = form->slot_index("trans");
    if (!trans || plain->has(*trans)) continue;
    transposed.set(*trans, 0);
    out += "  with .trans:\n" + fragments_text(transposed);
  }
  return out;
}

Json operand_json(const isa::OperandSpec& spec, const Form& form) {
  return {{"name", spec.name},
          {"role", role_text(spec.role)},
          {"text", operand_text(spec, form)},
          {"optional", spec.optional || spec.present.has_value()}};
}

Json form_json(const Form& form) {
  Json slots = json_list(form.slots, [&](const isa::Slot& slot) -> Json {
    return {{"name", slot.name.text()},
            {"words", json_list(slot.words, [](isa::Word word) { return word.text(); })},
            {"optional", slot.optional}};
  });
  Json operands = json_list(form.operands,
                            [&](const isa::OperandSpec& spec) { return operand_json(spec, form); });
  Json result{{"family", form.family},
              {"mnemonic", form.mnemonic.text()},
              {"syntax", syntax_line(form)},
              {"about", form.row->about},
              {"slots", slots},
              {"operands", operands},
              {"needs", gate_lines(form)},
              {"rules", rule_lines(form)}};
  const auto plain = has_picture(form) ? smallest(form) : std::nullopt;
  if (plain) result["fragments"] = fragments_json(*plain);
  return result;
}

// --- one opcode ---

std::string targets_text(const Binding& binding) {
  std::string out;
  int last = 0;
  for (const target::ArchInfo& arch : target::kArchs) {
    const auto ptx = isa::lowest_ptx(binding, arch.arch);
    if (!ptx) continue;
    if (!out.empty()) out += ", ";
    out += arch.name;
    if (*ptx != last) out += fmt::format(" (PTX {})", target::ptx_version_text(*ptx));
    last = *ptx;
  }
  return out.empty() ? "none" : out;
}

std::string binding_text(const Binding& binding) {
  std::string out = binding.opcode() + "\n";
  const Form& form = binding.form();
  if (!form.row->about.empty()) out += fmt::format("  {}\n", form.row->about);
  for (const isa::OperandSpec& spec : form.operands) {
    if (spec.present && !binding.holds(*spec.present)) continue;
    const auto type = type_of(spec, binding);
    const auto count = count_of(spec, binding);
    const bool address = spec.role == isa::Role::Address;
    std::string what(role_text(spec.role));
    if (address) what += fmt::format(" in {}", isa::name_of(space_of(spec, binding)));
    if (count) what += fmt::format(", {} {}", *count, address ? "coordinates" : "in braces");
    if (type && !address) what += fmt::format(", .{}", isa::info(*type).name);
    if (const std::string values = spec.values_text(); !values.empty())
      what += fmt::format(", {}", values);
    if (spec.optional) what += ", optional";
    out += fmt::format("  {:<11} {}\n", spec.name, what);
  }
  out += fmt::format("  targets     {}\n", targets_text(binding));
  return out + fragments_text(binding);
}

Json binding_json(const Binding& binding) {
  Json targets = Json::object();
  for (const target::ArchInfo& arch : target::kArchs) {
    if (const auto ptx = isa::lowest_ptx(binding, arch.arch)) {
      targets[std::string(arch.name)] = target::ptx_version_text(*ptx);
    }
  }
  Json registers = Json::object();
  for (const isa::OperandSpec& spec : binding.form().operands) {
    const auto count = count_of(spec, binding);
    if (count) registers[std::string(spec.name)] = *count;
  }
  return {{"opcode", binding.opcode()},
          {"syntax", syntax_line(binding.form())},
          {"about", binding.form().row->about},
          {"registers", registers},
          {"targets", targets},
          {"fragments", fragments_json(binding)}};
}

// --- special registers ---

const isa::SpecialRegister* special_named(std::string_view name) {
  if (const isa::SpecialRegister* special = isa::find_special(name)) return special;
  for (const isa::SpecialRegister& special : isa::special_registers()) {
    if (name.substr(1) == special.name) return &special;
  }
  return nullptr;
}

Result<std::string> show_special(std::string_view name, IsaFormat format) {
  const isa::SpecialRegister* special = special_named(name);
  if (special == nullptr) {
    std::vector<std::string_view> known;
    for (const isa::SpecialRegister& each : isa::special_registers()) known.push_back(each.name);
    return fail(DiagKind::UnknownName, "no special register is called `{}`{}", name,
                did_you_mean(name.substr(1), known));
  }
  std::string spelling = fmt::format("%{}", special->name);
  if (special->shape == isa::SpecialShape::Vector) spelling += ".{x,y,z}";
  if (special->shape == isa::SpecialShape::Numbered)
    spelling += fmt::format(" 0..{}", special->count - 1);
  if (format == IsaFormat::Json) {
    return json_lines(
        with_schema("isa-special", {{"special_register", special->name},
                                    {"type", isa::info(special->type).name},
                                    {"needs", needs_text(special->needs, special->ptx)}}));
  }
  return fmt::format("{}  .{}, needs {}\n", spelling, isa::info(special->type).name,
                     needs_text(special->needs, special->ptx));
}

// An opcode of several forms, which differ in their operands: `mov.b64` packs, unpacks and copies.
std::string show_fits(std::span<const isa::Binding> fits, IsaFormat format) {
  if (format == IsaFormat::Json) {
    Json list = json_list(fits, binding_json);
    return json_lines(with_schema("isa-opcodes", {{"forms", list}}));
  }
  std::string out;
  for (const isa::Binding& fit : fits) {
    if (!out.empty()) out += '\n';
    out += fmt::format("{}\n", isa::syntax_line(fit.form()));
    out += binding_text(fit);
  }
  return out;
}

}  // namespace

Result<std::string> isa_show(std::string_view name, IsaFormat format) {
  if (name.starts_with('%')) return show_special(name, format);
  const isa::Bindings bindings = isa::bind_opcode(name);
  if (bindings.fits.size() == 1 && name != bindings.fits[0].form().mnemonic.text()) {
    return format == IsaFormat::Json
               ? json_lines(with_schema("isa-opcode", binding_json(bindings.fits[0])))
               : binding_text(bindings.fits[0]);
  }
  const std::vector<const Form*> forms = isa::forms_of(name);
  if (forms.empty() && !bindings.fits.empty()) return show_fits(bindings.fits, format);
  if (forms.empty()) {
    return fail(
        diag(bindings.misfit.form == nullptr ? DiagKind::UnknownName : DiagKind::IllegalForm, "{}",
             bindings.misfit.text)
            .with_note("`warpwright isa list` shows what there is"));
  }
  if (format == IsaFormat::Text) return forms_text(forms);
  Json list = json_list(forms, [&](const Form* form) { return form_json(*form); });
  return json_lines(with_schema("isa-show", {{"forms", list}}));
}

}  // namespace ww::driver
