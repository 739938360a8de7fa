// SPDX-License-Identifier: Apache-2.0
// `warpwright isa list`: families, or the syntax lines of one.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/suggest.h"
#include "driver/isa/text.h"
#include "driver/isa/tool.h"
#include "driver/report_json.h"
#include "isa/catalogue.h"

namespace ww::driver {
namespace {

std::vector<std::string_view> mnemonics_of(const isa::Family& family) {
  std::vector<std::string_view> names;
  for (const isa::Form& form : family.forms) {
    if (std::ranges::find(names, form.mnemonic) == names.end()) names.push_back(form.mnemonic);
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
                           isa::mnemonics().size());
}

std::string families_json() {
  Json list = Json::array();
  for (const isa::Family& family : isa::families()) {
    list.push_back({{"family", family.name},
                    {"title", family.title},
                    {"forms", family.forms.size()},
                    {"mnemonics", mnemonics_of(family)}});
  }
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
  std::vector<std::string_view> known = isa::mnemonics();
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
  Json list = Json::array();
  for (const isa::Form* form : forms) {
    list.push_back({{"family", form->family},
                    {"mnemonic", form->mnemonic},
                    {"syntax", syntax_line(*form)},
                    {"about", form->row->about},
                    {"needs", gate_lines(*form)}});
  }
  return json_lines(with_schema("isa-forms", {{"forms", list}}));
}

}  // namespace

Result<std::string> isa_list(std::string_view name, IsaFormat format) {
  if (name.empty()) return format == IsaFormat::Json ? families_json() : families_text();
  const std::vector<const isa::Form*> forms = forms_named(name);
  if (forms.empty()) return fail(unknown_name(name));
  return format == IsaFormat::Json ? forms_json(forms) : form_list_text(forms);
}

}  // namespace ww::driver
