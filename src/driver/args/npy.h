// SPDX-License-Identifier: Apache-2.0
// NumPy's .npy files as arrays. A file is
//
//   "\x93NUMPY" major minor   8 bytes; versions 1.0, 2.0 and 3.0 are read, 1.0 is written
//   length                    of the header: 2 bytes in version 1, 4 bytes after
//   header                    a Python dict, padded with blanks so that the data is aligned to 64:
//                             {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }
//   data                      the elements, nothing after them
//
// Types that NumPy has no name for are written the way the package ml_dtypes does, as raw bytes:
// bfloat16 as '<V2', the formats of 8 bits and fewer as '|V1', one element to a byte even where an
// Array packs two. tfloat32 is written as '<f4', which it is. Such a file does not tell its type,
// so the reader has to be told.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "base/result.h"
#include "driver/args/array.h"
#include "num/dtype.h"

namespace ww::driver {

/// The array in a file's bytes, of either byte order and either order of dimensions. With `wanted`
/// the file must hold that type, or raw items ('V') of its width, or, for a type that NumPy does
/// not have, unsigned integers of its width that are its codes; tfloat32 is also read from float32.
/// Memory is taken only after the file proved to hold what its header claims.
///
/// Fails with Syntax when it is no such file or its header is damaged, BadArgument when its type is
/// not the wanted one or none that an Array can have, or the data is too short or too long, and
/// BadExtent or TooLarge for an impossible shape. The Diag has no span: the text is not for people.
Result<Array> parse_npy(std::span<const std::byte> file,
                        std::optional<num::DType> wanted = std::nullopt);

/// The array in a file of at most `max_bytes`. Fails like read_file and parse_npy; errors in the
/// contents name the path.
Result<Array> read_npy(const std::string& path, std::size_t max_bytes,
                       std::optional<num::DType> wanted = std::nullopt);

/// The type that NumPy calls by that letter and size: 'f' and 4 for float32. None where we have none.
std::optional<num::DType> numpy_dtype(char kind, int bytes);

/// The file for an array: version 1.0, C order, little-endian.
std::string to_npy(const Array& array);

}  // namespace ww::driver
