# SPDX-License-Identifier: Apache-2.0
#
# Writes a C++ file that holds the files of the explorer's page: run as a script with
#
#   output   the file to write
#   names    what the page calls the files, `;` between them
#   files    the files, in the same order
#
# The text of a file becomes a raw string, so that it is the file byte for byte.

set(texts "")
set(rows "")
set(number 0)
foreach(name file IN ZIP_LISTS names files)
  file(READ "${file}" content)
  if(content MATCHES "[)]ww_file\"")
    message(FATAL_ERROR "${file} holds the end of a raw string of ours")
  endif()
  string(APPEND texts "constexpr char kText${number}[] = R\"ww_file(${content})ww_file\";\n")
  string(APPEND rows "      {\"${name}\", {kText${number}, sizeof kText${number} - 1}},\n")
  math(EXPR number "${number} + 1")
endforeach()
file(
  WRITE "${output}"
  "// Made by cmake/embed_page.cmake.\n#include \"explore/page_files.h\"\n\nnamespace ww::explore {\n"
  "namespace {\n\n${texts}\n}  // namespace\n\nstd::span<const PageFile> page_files() {\n"
  "  static constexpr PageFile kFiles[] = {\n${rows}      {}};\n"
  "  return std::span(kFiles).first(std::size(kFiles) - 1);\n}\n\n}  // namespace ww::explore\n")
