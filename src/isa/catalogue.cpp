// SPDX-License-Identifier: Apache-2.0
#include "isa/catalogue.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <shared_mutex>
#include <tuple>
#include <unordered_map>

#include "base/check.h"
#include "base/join.h"
#include "base/suggest.h"
#include "isa/families.h"

namespace ww::isa {
namespace {

/// A program uses few instructions, and reading all rows takes longer than compiling a small one: a
/// form is read when the words of an opcode begin with its mnemonic.
struct Catalogue {
  struct Entry {
    std::string_view family;
    const Row* row;
  };
  using Rows = std::vector<std::size_t>;  // by number in the whole table
  std::vector<Entry> rows;
  std::vector<std::once_flag> is_read;  // by row
  std::vector<Form> forms;              // by row; empty until it is read
  std::vector<Family> families;
  std::unordered_map<std::string_view, Rows> by_root;  // the first word of the mnemonic
  std::once_flag is_whole;
};

std::string_view root_of(std::string_view mnemonic) {
  return mnemonic.substr(0, mnemonic.find('.'));
}

void list_rows(Catalogue& catalogue) {
  for (const FamilyRows* family : family_rows())
    for (const Row& row : family->rows) {
      catalogue.by_root[root_of(row.mnemonic.text())].push_back(catalogue.rows.size());
      catalogue.rows.push_back({family->name, &row});
    }
  catalogue.is_read = std::vector<std::once_flag>(catalogue.rows.size());
  catalogue.forms.resize(catalogue.rows.size());
  std::size_t first = 0;
  for (const FamilyRows* family : family_rows()) {
    const std::span<const Form> all(catalogue.forms);
    catalogue.families.push_back(
        {family->name, family->title, all.subspan(first, family->rows.size())});
    first += family->rows.size();
  }
}

Catalogue& listed() {
  static Catalogue& catalogue = *new Catalogue;  // never destroyed: the process ends sooner
  static std::once_flag once;
  std::call_once(once, [] { list_rows(catalogue); });
  return catalogue;
}

std::string_view mnemonic_of(std::size_t row) { return listed().rows[row].row->mnemonic.text(); }

const Form& form_of(std::size_t row) {
  Catalogue& all = listed();
  const Catalogue::Entry& entry = all.rows[row];
  std::call_once(all.is_read[row], [&] { all.forms[row] = read_row(entry.family, *entry.row); });
  return all.forms[row];
}

// With all of its forms.
const Catalogue& catalogue() {
  Catalogue& all = listed();
  std::call_once(all.is_whole, [&] {
    for (std::size_t i = 0; i < all.rows.size(); ++i) form_of(i);
  });
  return all;
}

std::size_t word_count(std::string_view mnemonic) {
  return static_cast<std::size_t>(std::ranges::count(mnemonic, '.')) + 1;
}

// "cp.async" of "cp.async.ca.shared.global".
std::string_view first_two_words(std::string_view opcode) {
  const auto dot = opcode.find('.');
  return dot == std::string_view::npos ? opcode : opcode.substr(0, opcode.find('.', dot + 1));
}

bool starts_with_words(std::string_view text, std::string_view prefix) {
  return text.starts_with(prefix) && (text.size() == prefix.size() || text[prefix.size()] == '.');
}

// --- one opcode against one form -----------------------------------------------------------------

using Words = std::span<const std::string_view>;

// Types, and state spaces, go to their slots in order; an optional slot may stay empty.
bool assign_in_order(Binding& binding, std::span<const std::size_t> slots,
                     std::span<const Word> words) {
  if (slots.empty()) return words.empty();
  const Slot& slot = binding.form().slots[slots.front()];
  if (!words.empty()) {
    const std::uint8_t w = slot.find(words.front());
    if (w != Binding::kAbsent) {
      binding.set(slots.front(), w);
      if (assign_in_order(binding, slots.subspan(1), words.subspan(1))) return true;
      binding.clear(slots.front());
    }
  }
  // A required slot may be left empty here too: it is reported as missing, which says more.
  return assign_in_order(binding, slots.subspan(1), words);
}

struct WordAttempt {
  Binding binding;
  std::optional<Misfit> misfit;

  /// How many of the opcode's words found a place.
  [[nodiscard]] std::size_t matched() const { return binding.given_count(); }
};

class WordMatcher {
 public:
  /// `explains`: a misfit has its text, which takes more time to make than all the rest.
  WordMatcher(const Form& form, Words words, std::size_t skip, bool explains)
      : form_(form), words_(words), skip_(skip), explains_(explains), binding_(form) {}

  WordAttempt run() {
    if (auto misfit = assign()) return {binding_, std::move(misfit)};
    if (auto misfit = find_missing()) return {binding_, std::move(misfit)};
    if (auto broken = broken_rule(binding_)) {
      return {binding_, Misfit{Stage::Rules, -1, std::move(*broken), &form_}};
    }
    return {binding_, std::nullopt};
  }

 private:
  std::optional<Misfit> assign() {
    std::vector<Word> ordered[2];
    std::optional<std::size_t> stray;
    for (std::size_t i = skip_; i < words_.size(); ++i) {
      const Word word = Word::find(words_[i]).value_or(Word());
      const SlotKind kind = kind_of_word(word);
      if (kind == SlotKind::Word || !in_slot_of(kind, word)) {
        if (assign_word(word)) continue;
        if (!explains_) return Misfit{Stage::Words, static_cast<int>(i), {}, &form_};
        if (!stray) stray = i;
      } else {
        ordered[kind == SlotKind::Type ? 0 : 1].push_back(word);
      }
    }
    // All words get their places even if one has none: the form with the most is the nearest.
    std::optional<Misfit> misfit;
    if (stray) misfit = stray_word(*stray);
    for (const SlotKind kind : {SlotKind::Type, SlotKind::Space}) {
      const auto& given = ordered[kind == SlotKind::Type ? 0 : 1];
      const std::vector<std::size_t> slots = slots_of(kind);
      if (!assign_in_order(binding_, slots, given) && !misfit) misfit = misplaced(kind, given);
    }
    return misfit;
  }

  [[nodiscard]] bool in_slot_of(SlotKind kind, Word word) const {
    return std::ranges::any_of(form_.slots, [&](const Slot& slot) {
      return slot.kind == kind && slot.find(word) != Binding::kAbsent;
    });
  }

  [[nodiscard]] std::vector<std::size_t> slots_of(SlotKind kind) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < form_.slots.size(); ++i) {
      if (form_.slots[i].kind == kind) found.push_back(i);
    }
    return found;
  }

  bool assign_word(Word word) {
    for (std::size_t i = 0; i < form_.slots.size(); ++i) {
      if (form_.slots[i].kind != SlotKind::Word || binding_.has(i)) continue;
      const std::uint8_t w = form_.slots[i].find(word);
      if (w == Binding::kAbsent) continue;
      binding_.set(i, w);
      return true;
    }
    return false;
  }

  template <typename... Args>
  [[nodiscard]] Misfit misfit(Stage stage, std::ptrdiff_t word, fmt::format_string<Args...> format,
                              Args&&... args) const {
    std::string text;
    if (explains_) text = fmt::format(format, std::forward<Args>(args)...);
    return {stage, static_cast<int>(word), std::move(text), &form_};
  }

  [[nodiscard]] Misfit stray_word(std::size_t index) const {
    return misfit(Stage::Words, static_cast<std::ptrdiff_t>(index),
                  "`.{}` does not go with the other modifiers of `{}`", words_[index],
                  form_.mnemonic);
  }

  [[nodiscard]] Misfit misplaced(SlotKind kind, const std::vector<Word>& given) const {
    const auto at = std::ranges::find(words_, given.back().text()) - words_.begin();
    return misfit(Stage::Words, at, "the {} `.{}` do not go with `{}`",
                  std::string_view(kind == SlotKind::Type ? "types" : "state spaces"),
                  join(given, "."), form_.mnemonic);
  }

  std::optional<Misfit> find_missing() {
    for (std::size_t i = 0; i < form_.slots.size(); ++i) {
      const Slot& slot = form_.slots[i];
      if (slot.optional || binding_.has(i)) continue;
      return misfit(Stage::Missing, 0, "`{}` needs {}`.{}`", form_.mnemonic,
                    std::string_view(slot.words.size() > 1 ? "one of " : ""),
                    join(slot.words, "`, `."));
    }
    return std::nullopt;
  }

  const Form& form_;
  Words words_;
  std::size_t skip_;
  bool explains_;
  Binding binding_;
};

// A word that no form of the mnemonic has is an unknown modifier, and the nearest one is offered.
void name_unknown_word(Misfit& misfit, Words words, const Catalogue::Rows& rows) {
  if (misfit.stage != Stage::Words || misfit.word < 0) return;
  const std::string_view word = words[static_cast<std::size_t>(misfit.word)];
  std::vector<std::string_view> known;
  for (const std::size_t row : rows)
    for (const Slot& slot : form_of(row).slots)
      for (const Word each : slot.words) known.push_back(each.text());
  if (std::ranges::find(known, word) != known.end()) return;
  const auto near = nearest(word, known);
  misfit.text = fmt::format("`{}` has no modifier `.{}`{}", misfit.form->mnemonic, word,
                            near ? fmt::format("; did you mean `.{}`?", *near) : "");
}

}  // namespace

std::span<const Family> families() { return catalogue().families; }

void read_ahead(const std::function<bool()>& goes_on) {
  for (std::size_t i = 0; i < listed().rows.size() && goes_on(); ++i) form_of(i);
}

const Family* find_family(std::string_view name) {
  for (const Family& family : catalogue().families) {
    if (family.name == name) return &family;
  }
  return nullptr;
}

std::vector<const Form*> forms_of(std::string_view mnemonic) {
  std::vector<const Form*> found;
  const auto root = listed().by_root.find(root_of(mnemonic));
  if (root == listed().by_root.end()) return found;
  for (const std::size_t row : root->second)
    if (starts_with_words(mnemonic_of(row), mnemonic)) found.push_back(&form_of(row));
  return found;
}

std::vector<std::string_view> opcode_words(std::string_view opcode) {
  std::vector<std::string_view> words;
  std::size_t begin = 0;
  while (begin <= opcode.size()) {
    const auto end = std::min(opcode.find('.', begin), opcode.size());
    words.push_back(opcode.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
}

std::optional<std::string> broken_rule(const Binding& binding) {
  const Form& form = binding.form();
  for (const RuleInfo& rule : form.rules) {
    if (!binding.holds(rule.when)) continue;
    if (rule.then && binding.holds(*rule.then)) continue;
    if (!rule.reason.empty()) return rule.reason;
    if (!rule.then)
      return fmt::format("`{}` has no form with {}", form.mnemonic, to_text(rule.when, form));
    return fmt::format("with {}, `{}` needs {}", to_text(rule.when, form), form.mnemonic,
                       to_text(*rule.then, form));
  }
  return std::nullopt;
}

namespace {

// Forms that start with the opcode's words, and how many of these the form's mnemonic takes.
template <typename Visit>
void for_each_called(const Catalogue::Rows& rows, std::string_view opcode, Visit&& visit) {
  for (const std::size_t row : rows) {
    const std::string_view mnemonic = mnemonic_of(row);
    if (starts_with_words(opcode, mnemonic)) visit(form_of(row), word_count(mnemonic));
  }
}

// The problem of the form that got furthest; one without a form when none is called so.
Misfit nearest_misfit(const Catalogue::Rows& rows, std::string_view opcode, Words words) {
  Misfit out;
  std::tuple best{std::size_t{0}, std::size_t{0}, Stage::Words};
  for_each_called(rows, opcode, [&](const Form& form, std::size_t skip) {
    WordAttempt attempt = WordMatcher(form, words, skip, true).run();
    const std::tuple rank{skip, attempt.matched(), attempt.misfit->stage};
    if (out.form != nullptr && rank <= best) return;
    best = rank;
    out = std::move(*attempt.misfit);
  });
  return out;
}

// Instructions of PTX that have no rows on purpose: they ask about textures and surfaces.
bool is_absent(std::string_view root) {
  constexpr std::string_view kQueries[] = {"txq", "suq", "istypep"};
  return std::ranges::find(kQueries, root) != std::end(kQueries);
}

Bindings bind_anew(std::string_view opcode) {
  const std::vector<std::string_view> words = opcode_words(opcode);
  Bindings result;
  const auto root = listed().by_root.find(words.front());
  if (root == listed().by_root.end()) {
    std::vector<std::string_view> roots;
    for (const std::string_view name : Mnemonic::all()) roots.push_back(root_of(name));
    result.misfit.word = 0;
    result.misfit.text =
        is_absent(words.front())
            ? fmt::format("`{}` asks about textures and surfaces, which is not modelled",
                          words.front())
            : fmt::format("no instruction is called `{}`{}", words.front(),
                          did_you_mean(words.front(), roots));
    return result;
  }
  const Catalogue::Rows& rows = root->second;
  for_each_called(rows, opcode, [&](const Form& form, std::size_t skip) {
    const WordAttempt attempt = WordMatcher(form, words, skip, false).run();
    if (!attempt.misfit) result.fits.push_back(attempt.binding);
  });
  if (!result.fits.empty()) return result;
  result.misfit = nearest_misfit(rows, opcode, words);
  if (result.misfit.form == nullptr) {
    const std::string_view called = first_two_words(opcode);
    std::vector<std::string_view> known;
    for (const std::size_t row : rows) known.push_back(first_two_words(mnemonic_of(row)));
    result.misfit.word = words.size() > 1 ? 1 : 0;
    result.misfit.text =
        fmt::format("no instruction is called `{}`{}", called, did_you_mean(called, known));
    return result;
  }
  name_unknown_word(result.misfit, words, rows);
  return result;
}

struct TextHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view text) const {
    return std::hash<std::string_view>()(text);
  }
};

}  // namespace

struct BoundOpcode {
  std::string text;
  Bindings bindings;
};

namespace {

using OpcodeRecord = std::shared_ptr<const BoundOpcode>;

// Opcodes that have been bound, so that a text is bound once. Programs use few different ones. A
// process that reads many programs may meet any number, hence the limit: of what comes later, and
// of texts that are no opcode, handles alone keep the record.
class BoundOpcodes {
 public:
  OpcodeRecord find(std::string_view text) const {
    const std::shared_lock lock(mutex_);
    const auto found = known_.find(text);
    return found == known_.end() ? nullptr : found->second;
  }
  void keep(const OpcodeRecord& record) {
    if (record->bindings.fits.empty()) return;
    const std::unique_lock lock(mutex_);
    if (known_.size() < kMax) known_.try_emplace(record->text, record);
  }

 private:
  static constexpr std::size_t kMax = 1024;
  mutable std::shared_mutex mutex_;
  std::unordered_map<std::string, OpcodeRecord, TextHash, std::equal_to<>> known_;
};

BoundOpcodes& bound_opcodes() {
  static BoundOpcodes bound;
  return bound;
}

OpcodeRecord record_of(std::string_view text) {
  OpcodeRecord record = bound_opcodes().find(text);
  if (record == nullptr) {
    record = std::make_shared<BoundOpcode>(BoundOpcode{std::string(text), bind_anew(text)});
    bound_opcodes().keep(record);
  }
  return record;
}

}  // namespace

Bindings bind_opcode(std::string_view opcode) { return record_of(opcode)->bindings; }

Opcode opcode_of(std::string_view text) { return Opcode(record_of(text)); }

const std::string& Opcode::text() const {
  static const std::string kNone;
  return valid() ? record_->text : kNone;
}

const std::vector<Binding>& Opcode::forms() const {
  static const std::vector<Binding> kNone;
  return valid() ? record_->bindings.fits : kNone;
}

Mnemonic Opcode::mnemonic() const {
  return forms().empty() ? Mnemonic() : binding().form().mnemonic;
}

const Binding& Opcode::binding() const {
  WW_CHECK(!forms().empty(), "no form of the catalogue takes `{}`", text());
  return record_->bindings.fits.front();
}

const Misfit& Opcode::misfit() const {
  WW_CHECK(valid() && forms().empty(), "`{}` has forms", text());
  return record_->bindings.misfit;
}

}  // namespace ww::isa
