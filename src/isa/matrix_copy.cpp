// SPDX-License-Identifier: Apache-2.0
#include "isa/matrix_copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "base/join.h"
#include "base/suggest.h"
#include "isa/check.h"

namespace ww::isa {
namespace {

constexpr std::string_view kFamilies[] = {"ldmatrix", "stmatrix", "movmatrix", "stmatrix_alt",
                                          "ldmatrix_sibling"};

// --- the table ---

std::string text_of(std::string_view family, std::string_view tail) {
  return tail == "none" ? "" : fmt::format("{}.sync.aligned.{}", family, tail);
}

// What has the instruction, and how many registers it takes, is the catalogue's to say.
void add_catalogue_facts(MatrixCopy& copy) {
  copy.registers = copy.props.num;
  if (copy.ptx.empty()) return;
  const Bindings bindings = bind_opcode(copy.ptx);
  WW_CHECK(bindings.fits.size() == 1, "`{}` is {} forms", copy.ptx, bindings.fits.size());
  const Binding& binding = bindings.fits[0];
  copy.targets = archs_of(binding);
  for (const OperandSpec& spec : binding.form().operands) {
    if (const auto count = count_of(spec, binding)) copy.registers = *count;
  }
}

// What the document's code computes. Of ldmatrix it gives the ids of its table.
int code_id(const MatrixCopyProps& props, int table_id) {
  if (props.family != "stmatrix") return table_id;
  if (MatrixShape{props.shape} == MatrixShape::M16N8) return 9857 + props.num;
  return 9862 - (props.trans != 0 ? 0 : 1) + 2 * (props.num / 2);
}

MatrixCopy ld_row(MatrixCopyProps props, int id, std::string_view document, std::string_view ptx,
                  std::string_view stands_for) {
  MatrixCopy copy;
  copy.props = props;
  copy.id = id;
  copy.id_by_code = code_id(props, id);
  copy.document_mnemonic = text_of(props.family, document);
  copy.ptx = text_of(props.family, ptx);
  copy.id_stands_for = text_of(props.family, stands_for);
  add_catalogue_facts(copy);
  return copy;
}

MatrixCopy sibling_row(std::string_view family, int shape, int attr, int id,
                       std::string_view document, std::string_view ptx) {
  MatrixCopy copy;
  copy.props = {.family = family, .num = 1, .shape = shape, .attr = attr};
  if (family == "movmatrix") copy.props.trans = 1;
  if (id >= 0) copy.id = id;
  copy.document_mnemonic = document;
  copy.ptx = ptx == "none" ? "" : ptx;
  add_catalogue_facts(copy);
  if (copy.ptx.empty()) copy.registers = 0;
  return copy;
}

std::vector<MatrixCopy> build_table() {
  std::vector<MatrixCopy> rows;
#define WW_LDMATRIX(n, shape_, sz_, trans_, layout_, id, document, ptx, stands_for) \
  rows.push_back(ld_row({.family = "ldmatrix",                                      \
                         .num = n,                                                  \
                         .shape = shape_,                                           \
                         .sz = sz_,                                                 \
                         .trans = trans_,                                           \
                         .layout = layout_},                                        \
                        id, document, ptx, stands_for));
#define WW_STMATRIX(n, shape_, trans_, id, document, ptx, stands_for)                           \
  rows.push_back(ld_row({.family = "stmatrix", .num = n, .shape = shape_, .trans = trans_}, id, \
                        document, ptx, stands_for));
#define WW_MATRIX_SIBLING(family, shape, attr, id, document, ptx, stands_for) \
  rows.push_back(sibling_row(family, shape, attr, id, document, ptx));
#include "isa/matrix_copies.def"
#undef WW_LDMATRIX
#undef WW_STMATRIX
#undef WW_MATRIX_SIBLING
  return rows;
}

// --- legality, before any look-up ---

Result<void> in_set(std::string_view name, int value, std::initializer_list<int> allowed,
                    std::string_view whose) {
  if (std::ranges::find(allowed, value) != allowed.end()) return {};
  return fail(DiagKind::BadArgument, "{} is {}; {} takes {}", name, value, whose,
              join(allowed, ", "));
}

Result<void> check_ldmatrix(const MatrixCopyProps& p) {
  if (p.shape == 2) return fail(DiagKind::BadArgument, "shape 2 is reserved for ldmatrix");
  WW_TRY_VOID(in_set("shape", p.shape, {0, 1, 3}, "ldmatrix"));
  WW_TRY_VOID(in_set("trans", p.trans, {0, 1}, "ldmatrix"));
  WW_TRY_VOID(in_set("layout", p.layout, {0, 1}, "ldmatrix"));
  WW_TRY_VOID(in_set("num", p.num, {1, 2, 4}, "ldmatrix"));
  switch (MatrixShape{p.shape}) {
    case MatrixShape::M8N8:
      if (p.sz != 0)
        return fail(DiagKind::BadArgument, "sz is {}; m8n8 ldmatrix is b16 only, sz=0", p.sz);
      break;
    case MatrixShape::M8N16:
      if (p.trans != 0) {
        return fail(DiagKind::IllegalForm,
                    "Transposed layout is not supported for m8n16 shape for nvvm.ldmatrix");
      }
      WW_TRY_VOID(in_set("sz", p.sz, {0, 1}, "m8n16 ldmatrix"));
      break;
    case MatrixShape::M16N16:
      if (p.num == 1) return fail(DiagKind::IllegalForm, "m16n16 ldmatrix requires num=2 or num=4");
      WW_TRY_VOID(in_set("sz", p.sz, {0, 1, 2}, "m16n16 ldmatrix"));
      if (p.layout != 1) {
        return fail(DiagKind::IllegalForm,
                    "layout is {}; m16n16 ldmatrix requires column layout, layout=1", p.layout);
      }
      if (p.trans != 0) {
        return fail(DiagKind::IllegalForm,
                    "trans is 1; m16n16 ldmatrix is transposed by its column layout, with trans=0");
      }
      return {};
    case MatrixShape::M16N8:
      break;
  }
  if (p.layout != 0) {
    return fail(DiagKind::IllegalForm, "layout is 1; {} ldmatrix requires row layout, layout=0",
                p.shape == 0 ? "m8n8" : "m8n16");
  }
  return {};
}

Result<void> check_stmatrix(const MatrixCopyProps& p) {
  WW_TRY_VOID(in_set("shape", p.shape, {0, 2}, "stmatrix"));
  WW_TRY_VOID(in_set("trans", p.trans, {0, 1}, "stmatrix"));
  WW_TRY_VOID(in_set("num", p.num, {1, 2, 4}, "stmatrix"));
  if (p.sz != 0 || p.layout != 0) {
    return fail(DiagKind::BadArgument, "stmatrix has the properties num, shape and trans only");
  }
  if (p.shape == 2 && p.trans != 1) {
    return fail(DiagKind::IllegalForm, "m8n16 stmatrix requires trans=1");
  }
  return {};
}

Result<void> check_sibling(const MatrixCopyProps& p) {
  if (p.family == "movmatrix") {
    WW_TRY_VOID(in_set("shape", p.shape, {0}, "movmatrix"));
    WW_TRY_VOID(in_set("num", p.num, {1}, "movmatrix"));
    return in_set("trans", p.trans, {1}, "movmatrix");
  }
  if (p.family == "ldmatrix_sibling") return {};
  WW_TRY_VOID(in_set("shape", p.shape, {0, 3}, p.family));
  return in_set("attr", p.attr, {0, 1}, p.family);
}

bool same_row(const MatrixCopyProps& row, const MatrixCopyProps& p) {
  if (row.family != p.family) return false;
  if (row.family == "movmatrix" || row.family == "ldmatrix_sibling") return true;
  if (row.family == "stmatrix_alt") return row.shape == p.shape && row.attr == p.attr;
  return row.num == p.num && row.shape == p.shape && row.sz == p.sz && row.trans == p.trans &&
         row.layout == p.layout;
}

}  // namespace

std::optional<target::Arch> MatrixCopy::min_arch() const {
  for (const target::ArchInfo& arch : target::kArchs) {
    if (targets.contains(arch.arch)) return arch.arch;
  }
  return std::nullopt;
}

std::optional<int> MatrixCopy::id_by_order() const {
  if (ptx.empty()) return std::nullopt;
  const auto found = std::ranges::find(matrix_copies(), ptx, &MatrixCopy::id_stands_for);
  return found == matrix_copies().end() ? std::nullopt : found->id;
}

std::string_view MatrixCopy::other_reading() const {
  return props.family == "ldmatrix" ? std::string_view(id_stands_for) : "";
}

std::vector<const MatrixCopy*> matrix_copies_of(int id) {
  std::vector<const MatrixCopy*> found;
  for (const MatrixCopy& row : matrix_copies()) {
    if (row.id == id) found.push_back(&row);
  }
  for (const MatrixCopy& row : matrix_copies()) {
    if (row.id != id && row.id_by_code == id) found.push_back(&row);
  }
  return found;
}

const std::vector<MatrixCopy>& matrix_copies() {
  static const std::vector<MatrixCopy> table = build_table();
  return table;
}

Result<MatrixCopy> select_matrix_copy(const MatrixCopyProps& props) {
  if (std::ranges::find(kFamilies, props.family) == std::end(kFamilies)) {
    return fail(diag(DiagKind::UnknownName, "unknown matrix-copy family `{}`{}", props.family,
                     did_you_mean(props.family, kFamilies))
                    .with_note(fmt::format("families: {}", join(kFamilies, ", "))));
  }
  if (props.family == "ldmatrix")
    WW_TRY_VOID(check_ldmatrix(props));
  else if (props.family == "stmatrix")
    WW_TRY_VOID(check_stmatrix(props));
  else
    WW_TRY_VOID(check_sibling(props));
  for (const MatrixCopy& row : matrix_copies()) {
    if (same_row(row.props, props)) return row;
  }
  return fail(DiagKind::IllegalForm, "no matrix copy has these properties");
}

std::string with_space(std::string_view opcode, Space space) {
  if (space == Space::Generic) return std::string(opcode);
  // The state space stands before the element format, as the manual prints it.
  std::size_t format = opcode.rfind(".b8x16");
  if (format == std::string_view::npos) format = opcode.rfind('.');
  return fmt::format("{}.{}{}", opcode.substr(0, format), name_of(space), opcode.substr(format));
}

}  // namespace ww::isa
