// SPDX-License-Identifier: Apache-2.0
#include "lower/copy/matrix_form.h"

#include "base/check.h"
#include "isa/matrix_copy.h"

namespace ww::lower {

MatrixCell cell_of(const MatrixForm& form, bool is_load, int lane, int reg, int part,
                   int per_word) {
  switch (form.kind) {
    case MatrixForm::Kind::Plain:
      return {lane / 4, lane % 4 * per_word + part};
    case MatrixForm::Kind::Trans:
      return {lane % 4 * 2 + part, lane / 4};
    case MatrixForm::Kind::Bytes:
      break;
  }
  if (is_load) return {lane % 4 * 4 + part, lane / 4 + 8 * reg};
  return {lane % 4 * 2 + part % 2, lane / 4 + 8 * (part / 2)};
}

std::string opcode_of(const MatrixForm& form, bool is_load, int num) {
  const bool is_bytes = form.kind == MatrixForm::Kind::Bytes;
  isa::MatrixCopyProps props;
  props.family = is_load ? "ldmatrix" : "stmatrix";
  props.num = num * form.regs;
  props.shape = !is_bytes ? 0 : is_load ? 3 : 2;
  props.trans = form.kind == MatrixForm::Kind::Trans || (is_bytes && !is_load) ? 1 : 0;
  props.layout = is_bytes && is_load ? 1 : 0;
  const auto copy = isa::select_matrix_copy(props);
  WW_CHECK(copy.has_value(), "no matrix copy: {}", copy.error().text);
  return isa::with_space(copy->ptx, isa::Space::Shared);
}

}  // namespace ww::lower
