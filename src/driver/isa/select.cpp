// SPDX-License-Identifier: Apache-2.0
// `warpwright isa select`: the matrix-copy selector from words such as num=2.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/join.h"
#include "base/suggest.h"
#include "driver/isa/text.h"
#include "driver/isa/tool.h"
#include "driver/report_json.h"
#include "isa/matrix_copy.h"

namespace ww::driver {
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
  Json list = Json::array();
  for (const MatrixCopy* row : rows) list.push_back(row_json(*row));
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

}  // namespace ww::driver
