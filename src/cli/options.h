// SPDX-License-Identifier: Apache-2.0
// The options of one command, declared once: parsing, help and "did you mean" all come from here.
//
// Names are written as they are typed: "--json", "-o,--output" for two spellings of one option, and
// without dashes ("FILE") for an argument told apart by its place. The variables given are filled
// by parse() and must outlive it; one that the user does not mention keeps its value.
//
// CLI11 does the parsing, inside options.cpp: its header takes seconds to compile, so no other file
// includes it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace ww::cli {

/// What the arguments ask for.
enum class Asked : std::uint8_t { Work, Help };

/// Whether an argument may be left out.
enum class Need : std::uint8_t { Required, Optional };

/// One line of help.
struct OptionRow {
  std::string spelling;  // "-o, --output FILE", or "FILE" for an argument
  std::string help;
  bool is_argument = false;
  Need need = Need::Optional;
};

class OptionSet {
 public:
  /// Declares --help already.
  OptionSet();
  ~OptionSet();
  OptionSet(const OptionSet&) = delete;
  OptionSet& operator=(const OptionSet&) = delete;

  /// An argument with any text.
  void argument(const std::string& name, std::string& value, Need need, const std::string& help);
  /// An argument that is one of `choices`, which must outlive the set.
  void argument(const std::string& name, std::string& value, Need need,
                std::span<const std::string_view> choices, const std::string& help);
  /// The arguments that are left, any number of them, kept in order.
  void arguments(const std::string& name, std::vector<std::string>& values, Need need,
                 const std::string& help);
  /// An option without a value.
  void flag(const std::string& names, bool& value, const std::string& help);
  /// An option with any text. `type` is what help calls the value, such as "FILE".
  void text(const std::string& names, const std::string& type, std::string& value,
            const std::string& help);
  /// An option that may be given several times, one value each time, kept in order.
  void texts(const std::string& names, const std::string& type, std::vector<std::string>& values,
             const std::string& help);
  /// An option that is one of `choices`, which must outlive the set.
  void choice(const std::string& names, const std::string& type, std::string& value,
              std::span<const std::string_view> choices, const std::string& help);
  /// An option that is a whole number from `least` to `most`.
  void number(const std::string& names, std::int64_t& value, std::int64_t least, std::int64_t most,
              const std::string& help);

  /// Fills the variables. What is wrong (an unknown option or value, with the nearest right one; a
  /// missing or surplus argument) is a Diag without a place.
  Result<Asked> parse(std::span<const std::string> args);

  /// The rows of help: arguments first, --help last.
  [[nodiscard]] std::vector<OptionRow> rows() const;

 private:
  CLI::Option& remember(CLI::Option* option, const std::string& type, const std::string& help);
  [[nodiscard]] Diag unexpected_word() const;

  std::unique_ptr<CLI::App> app_;
  std::vector<OptionRow> rows_;
};

}  // namespace ww::cli
