// SPDX-License-Identifier: Apache-2.0
// The sections of a cubin, which is a 64-bit little-endian ELF file, and which of them differ
// between two cubins. Shares no code with what it helps to check.
#pragma once

#include <cstdint>
#include <expected>
#include <string>
#include <string_view>
#include <vector>

namespace ww::test {

struct ElfSection {
  std::string name;
  std::uint32_t type = 0;
  std::uint64_t flags = 0;
  std::uint64_t size = 0;  // also of a section without bytes in the file
  std::string_view bytes;  // into the image
};

/// All sections in file order, but the empty first one; or what is wrong with the image.
std::expected<std::vector<ElfSection>, std::string> elf_sections(std::string_view image);

/// One line for each section that is not the same in both images, or only in one of them, or in
/// another place of the order: `.text.k: 384 and 384 bytes, first difference at 96`. Empty when all
/// agree. Sections whose name ends with one of `ignored` may hold different bytes, but must be
/// there.
std::vector<std::string> differing_sections(std::string_view left, std::string_view right,
                                            const std::vector<std::string>& ignored = {});

}  // namespace ww::test
