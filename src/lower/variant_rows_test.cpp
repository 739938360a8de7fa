// SPDX-License-Identifier: Apache-2.0
// Every variant that a file defines is in the list, no two answer to one name, and ops.def has
// a row for each primitive with variants. A row that a list forgets would compile, link, and never
// be tried.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "lower/lowered_op.h"
#include "lower/variant.h"

namespace ww::lower::variant_rows_test {
namespace {

namespace fs = std::filesystem;

std::set<std::string> found_in(const fs::path& path, const std::regex& pattern) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  const std::string all = std::move(text).str();
  std::set<std::string> out;
  for (std::sregex_iterator it(all.begin(), all.end(), pattern), end; it != end; ++it)
    out.insert((*it)[1]);
  return out;
}

TEST(VariantRows, EachThatIsDefinedIsListed) {
  const fs::path folder = fs::path(WW_SOURCE_DIR) / "src" / "lower";
  const auto listed =
      found_in(folder / "variants.def", std::regex("\nWW_VARIANTS\\((\\w+, \\w+)\\)"));
  std::set<std::string> defined;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() != ".cpp") continue;
    if (found_in(entry.path(), std::regex("\n(constinit) const std::span<const Variant> variants"))
            .empty())
      continue;
    const std::string op = entry.path().parent_path().filename();
    defined.insert(op + ", " + entry.path().stem().string());
  }
  EXPECT_EQ(listed, defined) << "src/lower/variants.def and the files";
}

TEST(VariantRows, NoTwoAnswerToOneName) {
  for (const Variant* a : all_variants())
    for (const Variant* b : all_variants())
      if (a != b && a->op == b->op) {
        EXPECT_FALSE(answers_to(*a, b->name)) << a->name << " and " << b->name;
      }
}

TEST(VariantRows, PrimitivesWithVariantsHaveARow) {
  for (const std::string_view name : ir::all_tile_op_names()) {
    const ir::TileOp op = *ir::find_tile_op(name);
    EXPECT_EQ(find_lowered_op(op) != nullptr, !variants_of(op).empty()) << name;
  }
}

}  // namespace
}  // namespace ww::lower::variant_rows_test
