// SPDX-License-Identifier: Apache-2.0
#include "ptx/round_trip/elf_sections.h"

#include <elf.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace ww::test {
namespace {

// The bytes [offset, offset + size), or nothing when they are not all there.
std::optional<std::string_view> part(std::string_view image, std::uint64_t offset,
                                     std::uint64_t size) {
  if (offset > image.size() || size > image.size() - offset) return std::nullopt;
  return image.substr(offset, size);
}

template <typename T>
std::optional<T> read_struct(std::string_view image, std::uint64_t offset) {
  const auto bytes = part(image, offset, sizeof(T));
  if (!bytes) return std::nullopt;
  T value;
  std::memcpy(&value, bytes->data(), sizeof(T));
  return value;
}

bool is_elf64_little_endian(const Elf64_Ehdr& header) {
  return std::memcmp(header.e_ident, ELFMAG, SELFMAG) == 0 &&
         header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_ident[EI_DATA] == ELFDATA2LSB;
}

std::optional<std::vector<Elf64_Shdr>> section_headers(std::string_view image,
                                                       const Elf64_Ehdr& header) {
  std::vector<Elf64_Shdr> headers;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto section = read_struct<Elf64_Shdr>(image, header.e_shoff + i * sizeof(Elf64_Shdr));
    if (!section) return std::nullopt;
    headers.push_back(*section);
  }
  return headers;
}

std::optional<std::string_view> contents(std::string_view image, const Elf64_Shdr& header) {
  if (header.sh_type == SHT_NOBITS) return std::string_view{};
  return part(image, header.sh_offset, header.sh_size);
}

std::string name_at(std::string_view names, std::uint64_t offset) {
  if (offset >= names.size()) return "?";
  const std::string_view rest = names.substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

// Nothing when the two agree.
std::string difference(const ElfSection& left, const ElfSection& right, bool only_presence) {
  if (left.name != right.name) return fmt::format("{} against {}", left.name, right.name);
  if (only_presence) return {};
  if (left.type != right.type || left.flags != right.flags)
    return fmt::format("{}: types {} and {}, flags {} and {}", left.name, left.type, right.type,
                       left.flags, right.flags);
  if (left.size == right.size && left.bytes == right.bytes) return {};
  const auto at = std::ranges::mismatch(left.bytes, right.bytes).in1 - left.bytes.begin();
  return fmt::format("{}: {} and {} bytes, first difference at {}", left.name, left.size,
                     right.size, at);
}

}  // namespace

std::expected<std::vector<ElfSection>, std::string> elf_sections(std::string_view image) {
  const auto header = read_struct<Elf64_Ehdr>(image, 0);
  if (!header || !is_elf64_little_endian(*header))
    return std::unexpected("no 64-bit little-endian ELF file");
  const auto headers = section_headers(image, *header);
  if (!headers) return std::unexpected("section headers beyond the end of the file");
  if (header->e_shstrndx >= headers->size()) return std::unexpected("no table of section names");
  const auto names = contents(image, (*headers)[header->e_shstrndx]);
  if (!names) return std::unexpected("section names beyond the end of the file");

  std::vector<ElfSection> sections;
  for (const Elf64_Shdr& section : *headers) {
    if (section.sh_type == SHT_NULL) continue;
    const std::string name = name_at(*names, section.sh_name);
    const auto bytes = contents(image, section);
    if (!bytes) return std::unexpected(fmt::format("{} beyond the end of the file", name));
    sections.push_back({.name = name,
                        .type = section.sh_type,
                        .flags = section.sh_flags,
                        .size = section.sh_size,
                        .bytes = *bytes});
  }
  return sections;
}

std::vector<std::string> differing_sections(std::string_view left, std::string_view right,
                                            const std::vector<std::string>& ignored) {
  const auto left_sections = elf_sections(left);
  const auto right_sections = elf_sections(right);
  if (!left_sections) return {left_sections.error()};
  if (!right_sections) return {right_sections.error()};
  std::vector<std::string> lines;
  if (left_sections->size() != right_sections->size())
    lines.push_back(
        fmt::format("{} sections and {}", left_sections->size(), right_sections->size()));
  const std::size_t both = std::min(left_sections->size(), right_sections->size());
  for (std::size_t i = 0; i < both; ++i) {
    const ElfSection& section = (*left_sections)[i];
    const bool only_presence = std::ranges::any_of(
        ignored, [&](const std::string& end) { return section.name.ends_with(end); });
    std::string line = difference(section, (*right_sections)[i], only_presence);
    if (!line.empty()) lines.push_back(std::move(line));
  }
  return lines;
}

}  // namespace ww::test
