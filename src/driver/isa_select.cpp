// SPDX-License-Identifier: Apache-2.0
// `warpwright isa select`: the matrix-copy selector from words such as num=2.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/suggest.h"
#include "driver/isa_text.h"
#include "driver/isa_tool.h"
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
        diag(DiagKind::UnknownName, "`{}` is no property{}", word, did_you_mean(key, kKeys))
            .with_note(fmt::format("properties: {}, each as name=value", fmt::join(kKeys, ", "))));
  }
  const std::string_view value = word.substr(equals + 1);
  if (key == "family") {
    props.family = value;
    return {};
  }
  int& field = *number_field(props, key);
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), field);
  if (error != std::errc() || end != value.data() + value.size()) {
    return fail(DiagKind::BadArgument, "`{}` is no whole number, in `{}`", value, word);
  }
  return {};
}

std::string or_none(std::string_view text) { return text.empty() ? "none" : std::string(text); }

Json to_json(const MatrixCopy& copy) {
  Json result = with_schema("isa-select");
  result["family"] = copy.props.family;
  result["id"] = copy.id ? Json(*copy.id) : Json(nullptr);
  result["document_mnemonic"] = copy.document_mnemonic;
  result["ptx"] = or_none(copy.ptx);
  result["id_stands_for"] = or_none(copy.id_stands_for);
  result["registers"] = copy.registers;
  result["targets"] = arch_names(copy.targets);
  return result;
}

std::string to_text(const MatrixCopy& copy) {
  const auto arch = copy.min_arch();
  return fmt::format(
      "id                 {}\n"
      "document mnemonic  {}\n"
      "ptx                {}\n"
      "id stands for      {}\n"
      "registers          {}\n"
      "targets            {}\n",
      copy.id ? std::to_string(*copy.id) : "none", copy.document_mnemonic, or_none(copy.ptx),
      or_none(copy.id_stands_for), copy.registers, arch ? to_text(copy.targets) : "none");
}

}  // namespace

Result<std::string> isa_select(std::span<const std::string> words, IsaFormat format) {
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
  return format == IsaFormat::Json ? json_lines(to_json(copy)) : to_text(copy);
}

}  // namespace ww::driver
