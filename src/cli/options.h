// SPDX-License-Identifier: Apache-2.0
// The options of one command, declared once: parsing, help and "did you mean" all come from here.
//
// Names are written as they are typed: "--json", "-o,--output" for two spellings of one option, and
// without dashes ("FILE") for an argument told apart by its place. The variables given are filled
// by parse() and must outlive it; one that the user does not mention keeps its value.
//
// `--name VALUE`, `--name=VALUE`, `-n VALUE` and `-nVALUE` mean the same, `-ab` means `-a -b`, and after
// `--` all words are arguments. An option takes the next word as its value whatever it looks like.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"

namespace ww::cli {

/// What the arguments ask for.
enum class Asked : std::uint8_t { Work, Help };

/// Whether an argument may be left out.
enum class Need : std::uint8_t { Required, Optional };

/// What --color takes; every command has it.
inline constexpr std::string_view kColors[] = {"auto", "always", "never"};

/// An option or an argument, as help, the manual page and shell completion show it.
struct OptionRow {
  std::vector<std::string> names;  // as they are typed; of an argument its one name
  std::string type = {};           // what the value is called; "" for a flag and for an argument
  std::string help = {};
  bool is_argument = false;
  bool is_repeated = false;  // an option that may be given several times, or all that is left
  Need need = Need::Optional;
  std::vector<std::string> words = {};  // values to offer; not always all there are

  /// "-o, --output FILE", or "FILE" for an argument.
  [[nodiscard]] std::string spelling() const;
  /// Whether a file may be (part of) the value.
  [[nodiscard]] bool takes_file() const;
};

class OptionSet {
 public:
  /// Declares --help and --color, which all commands have.
  OptionSet();
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
  /// An option with any text but an empty one. `type` is what help calls the value, such as "FILE".
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
  /// Words that a shell offers for the option declared last; others are values as well.
  void offer(std::vector<std::string> words);

  /// Fills the variables. What is wrong (an unknown option or value, with the nearest right one; a
  /// missing or surplus argument) is a Diag without a place.
  Result<Asked> parse(std::span<const std::string> args);

  /// The rows of help: arguments first, then options, --color and --help last.
  [[nodiscard]] std::vector<OptionRow> rows() const;

  /// What --color says, once parsed: one of kColors.
  [[nodiscard]] const std::string& color() const { return color_; }

 private:
  using Variable = std::variant<bool*, std::int64_t*, std::string*, std::vector<std::string>*>;
  /// What is wrong with the text of a value; "": nothing.
  using Check = std::function<std::string(std::string_view)>;
  /// Where the value of the row with the same index goes.
  struct Target {
    Variable variable;
    Check check = {};
    int times = 0;  // that it was given
  };
  struct Reading;

  void add(OptionRow row, Variable variable, Check check = {});
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const;
  [[nodiscard]] Result<void> give(std::size_t row, std::string_view text);
  [[nodiscard]] Result<void> take_long(Reading& reading, std::string_view word);
  [[nodiscard]] Result<void> take_short(Reading& reading, std::string_view word);
  [[nodiscard]] Result<void> take_argument(std::string_view word);
  [[nodiscard]] Result<void> check_counts() const;
  [[nodiscard]] Diag unknown_option(std::string_view word) const;

  bool wants_help_ = false;
  std::string color_ = "auto";
  std::vector<OptionRow> rows_;
  std::vector<Target> targets_;
};

/// `-x`, `--long`; a lone `-` is a file.
bool looks_like_option(std::string_view word);

/// Do other tools, or other commands, have this option for what one of ours is for?
bool is_known_elsewhere(std::string_view word);

}  // namespace ww::cli
