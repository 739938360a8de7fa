// SPDX-License-Identifier: Apache-2.0
// `@FILE.npy[:TYPE]`: the array of a file as an argument, and how raw items of it are to be read.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"
#include "driver/args/text.h"
#include "num/dtype.h"

namespace ww::driver {

struct FileSpec {
  std::string path;
  std::optional<num::DType> type = {};  // to read it as
  Span type_span = {};
};

/// `value` is what stands behind the `@`. A last word behind a colon is a type, so that a file
/// whose name ends like that is read with its type behind it. Syntax, or as num::parse_dtype says,
/// at its place.
Result<FileSpec> parse_file_spec(Piece value);

}  // namespace ww::driver
