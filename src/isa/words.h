// SPDX-License-Identifier: Apache-2.0
// The words of PTX opcodes as values: `binding.word("sem") == "release"` compares two numbers, and
// does not compile if "sem" or "release" is mistyped. A `Mnemonic`, the `SlotName` of a modifier and
// the `Word` in a slot are each an entry of a list below. The lists repeat what the rows of families/
// say: reading a row checks its words, and words_test.cpp checks that the lists have no others.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

namespace ww::isa {

/// In the order of the catalogue.
inline constexpr std::string_view kMnemonicText =
    "|ldmatrix|stmatrix|movmatrix|mma|wmma.load|wmma.store|wmma.mma|wgmma.mma_async|wgmma.fence|"
    "wgmma.commit_group|wgmma.wait_group|tcgen05.alloc|tcgen05.dealloc|"
    "tcgen05.relinquish_alloc_permit|tcgen05.fence::before_thread_sync|"
    "tcgen05.fence::after_thread_sync|tcgen05.ld|tcgen05.ld.red|tcgen05.st|tcgen05.wait::ld|"
    "tcgen05.wait::st|tcgen05.cp|tcgen05.shift|tcgen05.commit|tcgen05.mma|tcgen05.mma.ws|cp.async|"
    "cp.async.commit_group|cp.async.wait_group|cp.async.wait_all|cp.async.mbarrier.arrive|"
    "cp.async.bulk|cp.reduce.async.bulk|cp.async.bulk.prefetch|cp.async.bulk.commit_group|"
    "cp.async.bulk.wait_group|cp.async.bulk.tensor|cp.reduce.async.bulk.tensor|"
    "cp.async.bulk.prefetch.tensor|prefetch|tensormap.replace|tensormap.cp_fenceproxy|ld|ldu|st|"
    "st.async|st.bulk|prefetchu|applypriority|discard|createpolicy.fractional|createpolicy.range|"
    "createpolicy.cvt|tex|tld4|suld.b|sust.b|sured.b|isspacep|cvta|cvta.to|stacksave|stackrestore|"
    "alloca|mov|prmt|cvt|cvt.pack|add|sub|mul|mad|mul24|mad24|sad|div|rem|abs|neg|min|max|addc|"
    "subc|madc|popc|clz|bfind|fns|brev|bfe|bfi|bmsk|szext|dp4a|dp2a|vadd|vsub|vabsdiff|vmin|vmax|"
    "vshl|vshr|vmad|vset|vadd2|vsub2|vavrg2|vabsdiff2|vmin2|vmax2|vset2|vadd4|vsub4|vavrg4|"
    "vabsdiff4|vmin4|vmax4|vset4|testp|copysign|fma|rcp|sqrt|rsqrt|sin|cos|lg2|ex2|tanh|and|or|"
    "xor|not|cnot|lop3|shf|shl|shr|set|setp|selp|slct|bra|brx.idx|call|ret|exit|trap|brkpt|"
    "pmevent|pmevent.mask|nanosleep|bar|barrier|bar.warp.sync|barrier.cluster.arrive|"
    "barrier.cluster.wait|mbarrier.init|mbarrier.inval|mbarrier.expect_tx|mbarrier.complete_tx|"
    "mbarrier.arrive|mbarrier.arrive.expect_tx|mbarrier.arrive.noComplete|mbarrier.arrive_drop|"
    "mbarrier.arrive_drop.expect_tx|mbarrier.arrive_drop.noComplete|mbarrier.test_wait|"
    "mbarrier.test_wait.parity|mbarrier.try_wait|mbarrier.try_wait.parity|mbarrier.pending_count|"
    "membar|membar.proxy|fence|fence.acquire|fence.release|fence.mbarrier_init|fence.proxy|"
    "fence.proxy.async::generic|atom|red|red.async|multimem.ld_reduce|multimem.st|multimem.red|"
    "shfl|vote|match.any|match.all|activemask|redux|elect|setmaxnreg|mapa|getctarank|"
    "griddepcontrol|clusterlaunchcontrol.try_cancel|clusterlaunchcontrol.query_cancel";

inline constexpr std::string_view kSlotText =
    "|L2|NaN|abs|abtype|acc|acquire|action|add|alayout|aligned|approx|arrive|ashift|async|atype|"
    "blayout|block_scale|bool|btype|bulk_group|cache|cc|clamp|cluster|cmp|collector|comp|cop|"
    "cp_mask|cta|ctype|dim|dir|down|dst|dtype|elemtype|evict1|evict2|field|fill_mode|first|ftz|"
    "geom|get_first_ctaid|global_address|global_stride|group|hi|hint|interleave_layout|"
    "is_canceled|kind|layout|level|map|matrix|mbarrier::arrive::one|mbarrier::complete_tx::bytes|"
    "mmio|mode|multicast|multicast::cluster::all|nc|noftz|noinc|num|oob|op|op2|pack|popc|prefetch|"
    "rank|read|red|relaxed|release|relu|rn|rna|rnd|rs|sat|satfinite|scale|scale_vec|scope|second|"
    "sem|shape|shiftamt|size|sp|space|src|stype|swizzle_atomicity|swizzle_mode|sync|"
    "sync_restrict::shared::cluster|sync_restrict::shared::cta|sys|tensormap|tensormap::generic|"
    "tile|trans|type|uni|unpack|v4|vec|volatile|weak|wide|xorsign";

/// Types first, as `isa::Type` numbers them; words of several lists count where they stand first.
inline constexpr std::string_view kWordText =
#define WW_TYPE(name, text, cls, bits, declared, number) "|" text
#include "isa/types.def"
#undef WW_TYPE
#define WW_WORDS(name, words) "|" words
#include "isa/word_lists.def"
#undef WW_WORDS
    "|"
    "128x128b|128x256b|16x128b|16x256b|16x32bx2|16x64b|32x128b|32x32b|4x256b|64x128b|L1|L2|"
    "L2::cache_hint|L2::evict_unchanged|NaN|a|a1d|a2d|abs|acc::f16|acc::f32|acq_rel|acquire|acube|"
    "add|alias|aligned|all|any|approx|arrive|ashift|async|b|b4e|b4x16_p64|b6x16_p32|b8x16|ballot|"
    "bfly|block_scale|box_dim|bulk_group|c|ca|cas|cc|cg|clamp|col|cp_mask|cs|cta_group::1|"
    "cta_group::2|cube|cv|d|dec|down|ecl|ecr|element_stride|elemtype|exch|f4e|fill_mode|finite|"
    "ftz|full|g|get_first_ctaid|get_first_ctaid::x|get_first_ctaid::y|get_first_ctaid::z|gl|"
    "global_address|global_dim|global_stride|idx|im2col|im2col::w|im2col::w::128|im2col_no_offs|"
    "inc|infinite|interleave_layout|is_canceled|kind::f16|kind::f8f6f4|kind::i8|kind::mxf4|"
    "kind::mxf4nvf4|kind::mxf8f6f4|kind::tf32|l|launch_dependents|lu|m16n16|m16n16k16|m16n16k8|"
    "m16n8|m16n8k128|m16n8k16|m16n8k256|m16n8k32|m16n8k4|m16n8k64|m16n8k8|m32n8k16|m8n16|m8n32k16|"
    "m8n8|m8n8k128|m8n8k16|m8n8k32|m8n8k4|max|mbarrier::arrive::one|mbarrier::complete_tx::bytes|"
    "min|mmio|multicast::cluster|multicast::cluster::all|nc|noftz|noinc|normal|notanumber|number|"
    "oob|pack::16b|popc|r|rank|rc16|rc8|read|red|relaxed|release|relu|rna|row|rs|sat|satfinite|sc|"
    "shiftamt|shr15|shr7|sp|sp::ordered_metadata|subnormal|swizzle_atomicity|swizzle_mode|sync|"
    "sync_restrict::shared::cluster|sync_restrict::shared::cta|tensormap|tensormap::generic|tile|"
    "tile::gather4|tile::scatter4|trans|trap|uni|unpack::16b|up|v2|v4|v8|volatile|wait|"
    "warpx2::01_23|warpx2::02_13|warpx4|wb|weak|wide|wrap|wt|xorsign|zero";

/// A word of the list: made of a literal when the program is compiled, or found by its text.
template <const std::string_view& kText>
class Name {
 public:
  enum class Number : std::uint16_t {};

  constexpr Name() = default;                                     // none: ""
  consteval Name(const char* text) : number_(number_of(text)) {}  // NOLINT: names are literals

  /// The name with that text, if the list has it.
  static std::optional<Name> find(std::string_view text) {
    static const auto* const kNumbers = [] {
      auto* const numbers = new std::unordered_map<std::string_view, std::uint16_t>;
      for (std::size_t i = 0; i < kTexts.size(); ++i)
        numbers->try_emplace(kTexts[i], static_cast<std::uint16_t>(i));
      return numbers;
    }();
    const auto found = kNumbers->find(text);
    return found == kNumbers->end() ? std::nullopt : std::optional(Name(found->second));
  }
  /// The texts of all names.
  static constexpr std::span<const std::string_view> all() { return std::span(kTexts).subspan(1); }

  [[nodiscard]] constexpr std::string_view text() const { return kTexts[number_]; }
  explicit constexpr operator std::string_view() const { return text(); }
  [[nodiscard]] constexpr bool empty() const { return number_ == 0; }
  /// Its place in the list; 0 for none.
  [[nodiscard]] constexpr std::size_t index() const { return number_; }
  /// For `switch`, whose cases are like `case Word("release"):`.
  constexpr operator Number() const { return Number{number_}; }  // NOLINT: a switch needs it
  friend constexpr bool operator==(Name, Name) = default;

  [[nodiscard]] constexpr bool is_one_of(std::initializer_list<Name> names) const {
    return std::ranges::find(names, *this) != names.end();
  }
  /// What the name means, of a table.
  template <typename T>
  struct Meaning {
    Name name;
    T value;
  };
  template <typename T>
  [[nodiscard]] constexpr std::optional<T> as(std::initializer_list<Meaning<T>> meanings) const {
    for (const auto& [name, value] : meanings)
      if (name == *this) return value;
    return std::nullopt;
  }

 private:
  explicit constexpr Name(std::uint16_t number) : number_(number) {}

  static constexpr auto kTexts = [] {
    constexpr auto kBars = static_cast<std::size_t>(std::ranges::count(kText, '|'));
    std::array<std::string_view, kBars + 1> texts;
    std::size_t begin = 0;
    for (std::string_view& text : texts) {
      text = kText.substr(begin, kText.find('|', begin) - begin);
      begin += text.size() + 1;
    }
    return texts;
  }();
  static consteval std::uint16_t number_of(std::string_view text) {
    for (std::size_t i = 0; i < kTexts.size(); ++i)
      if (kTexts[i] == text) return static_cast<std::uint16_t>(i);
    throw "no such name";  // the message of the compiler
  }

  std::uint16_t number_ = 0;
};

using Mnemonic = Name<kMnemonicText>;
using SlotName = Name<kSlotText>;
using Word = Name<kWordText>;

}  // namespace ww::isa

template <const std::string_view& kText>
struct fmt::formatter<ww::isa::Name<kText>> : fmt::formatter<std::string_view> {
  auto format(ww::isa::Name<kText> name, fmt::format_context& context) const {
    return fmt::formatter<std::string_view>::format(name.text(), context);
  }
};
