// SPDX-License-Identifier: Apache-2.0
// What is fuzzed. A target is a promise about any bytes, in one function: it hands them to a part
// of Warpwright and says what is wrong with what came of it. libFuzzer hunts for bytes that break
// one (libfuzzer_main.cpp); what it found stays in corpus/<name>/, which the tests run once each.
// A new target is a file <name>_target.cpp and a row in targets.cpp.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace ww::ir {
class Function;
}

namespace ww::fuzz {

/// What is wrong, or "" when all is well.
using Law = std::string (*)(std::string_view bytes);

/// Bytes near others, by chance. Without one libFuzzer changes them in its own ways.
using Change = std::string (*)(std::string_view bytes, std::uint32_t seed);

struct Target {
  std::string_view name;
  Law law;
  Change change = nullptr;
};

std::span<const Target> targets();
/// Null when there is none of that name.
const Target* find_target(std::string_view name);

std::string layout_law(std::string_view bytes);       // notation, shape, operations, all reports
std::string program_law(std::string_view bytes);      // source text to PTX and CUDA C++
std::string bomb_law(std::string_view bytes);         // small sources of large things, to PTX
std::string reader_bomb_law(std::string_view bytes);  // deep and endless texts, for all readers
std::string ptx_law(std::string_view bytes);          // read, checked, loaded, run in narrow limits
std::string npy_law(std::string_view bytes);          // array files, read and written back
std::string arguments_law(std::string_view bytes);    // --arg, --expect, limits, sizes …
std::string kernel_law(std::string_view bytes);       // --kernel, --space, --where
std::string kernel_file_law(std::string_view bytes);  // --kernel @best.json

/// What is wrong with what a tile program lowers to, or "".
std::string broken_lowering(const ir::Function& tile);
/// The source that the bytes choose for bomb_law.
std::string bomb_source(std::string_view bytes);
/// The text or file that the bytes choose for reader_bomb_law.
std::string reader_bomb_text(std::string_view bytes);
/// A source text with tokens changed.
std::string change_program(std::string_view bytes, std::uint32_t seed);
/// The law in a process of its own, with bounds on memory and time: also says when it ends by them
/// or by a signal.
std::string bounded_law(Law law, std::string_view bytes);

/// `key value` on each line; a line without a blank is a key alone.
using Lines = std::vector<std::pair<std::string_view, std::string_view>>;
Lines read_lines(std::string_view text);

/// Whether the text has a whole number of more than `most` digits. Sizes as large as that are real
/// requests for as much memory or time; targets leave them out where nothing else bounds them.
bool has_long_number(std::string_view text, std::size_t most);

}  // namespace ww::fuzz
