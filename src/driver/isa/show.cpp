// SPDX-License-Identifier: Apache-2.0
// `warpwright isa show`: forms in full, and fragments as tables.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/join.h"
#include "base/suggest.h"
#include "driver/isa/text.h"
#include "driver/isa/tool.h"
#include "driver/report_json.h"
#include "isa/catalogue.h"
#include "isa/check.h"
#include "isa/fragment.h"
#include "isa/special_registers.h"

namespace ww::driver {
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
    Json places = Json::array();
    for (const FragmentPlace& place : fragment.places) {
      places.push_back(Json{
          {"warp", place.warp}, {"lane", place.lane}, {"reg", place.reg}, {"part", place.part}});
    }
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
  Json slots = Json::array();
  for (const isa::Slot& slot : form.slots) {
    slots.push_back({{"name", slot.name}, {"words", slot.words}, {"optional", slot.optional}});
  }
  Json operands = Json::array();
  for (const isa::OperandSpec& spec : form.operands) operands.push_back(operand_json(spec, form));
  Json result{{"family", form.family},
              {"mnemonic", form.mnemonic},
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
    Json list = Json::array();
    for (const isa::Binding& fit : fits) list.push_back(binding_json(fit));
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
  if (bindings.fits.size() == 1 && name != bindings.fits[0].form().mnemonic) {
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
  Json list = Json::array();
  for (const Form* form : forms) list.push_back(form_json(*form));
  return json_lines(with_schema("isa-show", {{"forms", list}}));
}

}  // namespace ww::driver
