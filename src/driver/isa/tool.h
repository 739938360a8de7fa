// SPDX-License-Identifier: Apache-2.0
// `warpwright isa` as a library: the instruction catalogue as text or JSON, the check of a PTX
// file, and the matrix-copy selector. docs/reference/isa.md describes the JSON.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/source.h"

namespace ww::driver {

enum class IsaFormat : std::uint8_t { Text, Json };

/// Without a name the families; with one, the syntax lines of a family or of the mnemonics that
/// start with it. An unknown name gets the nearest one.
Result<std::string> isa_list(std::string_view name, IsaFormat format);

/// Everything about an instruction: by mnemonic (`ldmatrix`, all its forms), or by a whole opcode
/// (`mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32`, the one form with its fragments). Special
/// registers (`%tid`) too.
Result<std::string> isa_show(std::string_view name, IsaFormat format);

struct IsaCheck {
  std::string out;  // the summary, or the JSON
  std::string err;  // the rendered findings, in text format
  bool legal = false;
};
/// Reads a PTX module and judges it against its own target and version.
IsaCheck isa_check(const SourceText& source, IsaFormat format);

/// The register classes: widths, names, which contains which.
std::string isa_registers(IsaFormat format);

/// The matrix-copy selector: words such as `family=ldmatrix`, `num=2`, `shape=0`. Without any the
/// whole table; with `id=9863` alone, what the id means.
Result<std::string> isa_select(std::span<const std::string> words, IsaFormat format);

}  // namespace ww::driver
