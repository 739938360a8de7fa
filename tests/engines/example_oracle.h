// SPDX-License-Identifier: Apache-2.0
// Whole examples against loops over their inputs in doubles: what the last array must hold.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/file_io.h"
#include "engines/family.h"

namespace ww::test {

using Values = std::vector<std::int64_t>;

inline Program program_of(const std::string& file, const std::string& kernel,
                          std::map<std::string, Values> arrays = {}) {
  const std::filesystem::path path = std::filesystem::path(WW_SOURCE_DIR) / "examples" / file;
  return {.source = read_file(path, std::size_t{1} << 20U).value(),
          .arrays = std::move(arrays),
          .kernel = kernel,
          .inputs = Inputs::Whole};
}

/// An input as numbers, in C order.
class Numbers {
 public:
  Numbers(const Ran& ran, std::string_view name);
  [[nodiscard]] double operator()(std::size_t i, std::size_t j = 0, std::size_t k = 0,
                                  std::size_t l = 0) const;
  [[nodiscard]] std::size_t whole(std::size_t i, std::size_t j = 0) const {
    return static_cast<std::size_t>((*this)(i, j));
  }
  [[nodiscard]] std::size_t extent(std::size_t d) const;

 private:
  const Arg& arg_;
  std::vector<double> values_;
};

/// The element of the result at a place, or nothing where none may be written.
using Wanted = std::function<std::optional<double>(std::size_t i)>;

/// The first element of the last array that is not as wanted, or nothing.
std::string wrong_element(const Ran& ran, const Wanted& wanted, double tolerance = 0);

/// The weights of a query, in doubles, from the first key of its sequence on.
std::vector<double> weights(const Numbers& q, const Numbers& k, std::size_t row, std::size_t head,
                            std::size_t begin, std::size_t end);

/// The program with a mistake in it.
inline Program edited(Program program, const std::string& what, const std::string& with) {
  const std::size_t at = program.source.find(what);
  EXPECT_NE(at, std::string::npos) << "`" << what << "` is not there";
  if (at != std::string::npos) program.source.replace(at, what.size(), with);
  return program;
}

}  // namespace ww::test
