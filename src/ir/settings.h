// SPDX-License-Identifier: Apache-2.0
// What the arguments and the configuration of a tile call say, and the settings of `copy` and
// `copy_async` that change what they mean:
//
//   predicate=e        what the executing unit says: nothing is copied where it is false. A tile
//                      of bools, which is an argument, says it for each element
//   fill_value=v       v is written instead of what is not copied: everything where the predicate
//                      is false, and the elements of the source region that its buffer does not
//                      have. It lets the source leave its buffer
//   clip=True          elements that the destination's buffer does not have are not written. It
//                      lets the destination leave its buffer
//   fill_mode="zero"   both, with zero
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/function.h"

namespace ww::ir {

/// A setting that a tile primitive takes, from tile_settings.def.
struct SettingFacts {
  std::string_view ops, name, memories, values;

  [[nodiscard]] bool is_for(TileOp op) const;
  [[nodiscard]] bool is_of_tensor_maps() const {
    return values == "tensor map" || values == "mbarrier" || values == "CTA mask" ||
           values == "cache policy" || values == "bound map";
  }
  /// "global to local", …: between which memories it means something; empty: any.
  [[nodiscard]] std::vector<std::string_view> memory_pairs() const;
  /// The words or numbers to choose from; empty: any value of its kind.
  [[nodiscard]] std::vector<std::string_view> words() const;
  /// "`True` or `False`", "64, 128 or 256".
  [[nodiscard]] std::string wanted() const;
};
/// Every row of tile_settings.def.
std::span<const SettingFacts> all_setting_facts();
/// The setting of an op, or nullptr.
const SettingFacts* find_setting_facts(TileOp op, std::string_view name);
/// The names of all settings of an op.
std::vector<std::string_view> settings_of(TileOp op);
/// The value of a setting with words as text; empty: it is not given, or says so by -1.
std::string word_of(const Setting* setting);

/// The value of a setting of the call's configuration, or nullptr.
const Setting* find_setting(const TileCall& call, std::string_view name);
/// The mbarrier on which a copy completes, under either name, or nullptr.
const Setting* mbarrier_setting(const TileCall& call);
/// The bits of a cache policy that has a name; nothing for other names.
std::optional<std::int64_t> cache_policy(std::string_view name);
/// The CTAs of the cluster that get a copy, as a mask; nullptr: the one that starts it.
const Setting* cta_mask_setting(const TileCall& call);
/// The operand of a copy that is in the shared memory of another CTA of the cluster (`remote_cta_id=`):
/// the destination if that is shared memory, else the source. Nothing: both are the executing CTA's.
std::optional<std::size_t> remote_operand(const Function& f, const TileCall& call);
/// Is it given, and True?
bool is_true(const Setting* setting);
bool is_true(const TileArg& arg);

struct CopySettings {
  const Setting* predicate = nullptr;      // a bool or an expression; nullptr: everything is copied
  const Region* predicate_tile = nullptr;  // of bools, one for each element
  bool fills = false;                      // a value arrives instead of what is not copied
  bool clips = false;                      // nothing is written outside the destination
  const Setting* fill_value = nullptr;     // where it fills; nullptr: zero

  /// May the region leave its buffer? 0 is the destination, 1 the source.
  [[nodiscard]] bool may_leave(std::size_t argument) const {
    return argument == 0 ? clips : argument == 1 && fills;
  }
};
/// Of a copy that has been verified.
CopySettings copy_settings(const TileCall& call);

}  // namespace ww::ir
