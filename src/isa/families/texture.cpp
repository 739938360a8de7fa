// SPDX-License-Identifier: Apache-2.0
// Textures and surfaces, by handles of 64 bits. PTX manual, "Texture instructions" and "Surface
// instructions". Of arrays in layers, the layer is the first coordinate; three coordinates stand in a
// list of four, whose last one means nothing. Not here: mip maps, offsets, the mode with samplers of
// their own, formatted stores and reductions (`.p`).
#include "isa/families.h"
#include "isa/form.h"

namespace ww::isa::texture_rows {
namespace {

int coordinates(const Binding& binding, std::string_view operand) {
  if (operand == "d" || operand == "v") {
    return binding.has("vec") ? binding.number("vec") : 1;
  }
  return binding.word("geom").as<int>({{"1d", 1}, {"2d", 2}, {"a1d", 2}}).value_or(4);
}

// Elements of 16 bytes are the largest.
std::string element_fits(const Binding& binding, std::span<const Operand> /*operands*/) {
  const bool is_large = binding.word("type") == "b64" && binding.word("vec") == "v4";
  return is_large ? "`.v4.b64` has 32 bytes; at most 16 move at a time" : "";
}

constexpr Row kRows[] = {
    {.mnemonic = "tex",
     .slots = "geom=1d|2d|3d|a1d|a2d|cube|acube v4 dtype=u32|s32|f32 ctype=s32|f32",
     .operands = ">d{4}:dtype/_ [t{*}:generic]",
     .rules = {{"geom=cube|acube", "ctype=f32", "cube maps have coordinates of `.f32`"}},
     .count = coordinates,
     .about = "fetches a texel, filtered as the texture says"},
    {.mnemonic = "tld4",
     .slots = "comp=r|g|b|a geom=2d v4 dtype=u32|s32|f32 ctype=f32",
     .operands = ">d{4}:dtype/_ [t{*}:generic]",
     .count = coordinates,
     .about = "fetches one channel of the four texels that a linear filter would use"},
    {.mnemonic = "suld.b",
     .slots = "geom=1d|2d|3d|a1d|a2d cache?=ca|cg|cs|cv vec?=v2|v4 type=b8|b16|b32|b64 "
              "clamp=trap|clamp|zero",
     .operands = ">d{vec}:type/w_b [s{*}:generic]",
     .count = coordinates,
     .verify = element_fits,
     .about = "loads from a surface; x counts bytes"},
    {.mnemonic = "sust.b",
     .slots = "geom=1d|2d|3d|a1d|a2d cache?=wb|cg|cs|wt vec?=v2|v4 type=b8|b16|b32|b64 "
              "clamp=trap|clamp|zero",
     .operands = "[s{*}:generic] v{vec}:type/wb",
     .count = coordinates,
     .verify = element_fits,
     .about = "stores to a surface; x counts bytes"},
    {.mnemonic = "sured.b",
     .slots = "op=add geom=1d|2d|3d type=u32|s32|u64 clamp=trap|clamp|zero",
     .operands = "[s{*}:generic] v:type",
     .count = coordinates,
     .about = "adds to a value of a surface; x counts bytes"},
    {.mnemonic = "sured.b",
     .slots = "op=min|max geom=1d|2d|3d type=u32|s32|u64|s64 clamp=trap|clamp|zero",
     .operands = "[s{*}:generic] v:type",
     .gates = {{"type=u64|s64", Feature::Sm75, 81}},
     .count = coordinates,
     .about = "least or greatest of a value of a surface and another; x counts bytes"},
    {.mnemonic = "sured.b",
     .slots = "op=and|or geom=1d|2d|3d type=b32 clamp=trap|clamp|zero",
     .operands = "[s{*}:generic] v:type",
     .count = coordinates,
     .about = "combines bits with those of a surface; x counts bytes"},
};

}  // namespace

constinit const FamilyRows family{"texture", "tex, tld4, suld, sust, sured", kRows};

}  // namespace ww::isa::texture_rows
