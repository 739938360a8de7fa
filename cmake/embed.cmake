# SPDX-License-Identifier: Apache-2.0
#
#   ww_embed(ww_script script/compile.h library_files NAMES library.py FILES src/script/library.py)
#
# makes files part of a library: each becomes a raw string, so that it is the file byte for byte. The header
# declares the function that returns them: `std::span<const EmbeddedFile> library_files();`

if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(ww_embed target header function)
    cmake_parse_arguments(PARSE_ARGV 3 arg "" "" "NAMES;FILES")
    set(output "${PROJECT_BINARY_DIR}/generated/${function}.cpp")
    set(script "${PROJECT_SOURCE_DIR}/cmake/embed.cmake")
    list(TRANSFORM arg_FILES PREPEND "${PROJECT_SOURCE_DIR}/" REGEX "^[^/]")
    add_custom_command(
      OUTPUT "${output}"
      COMMAND ${CMAKE_COMMAND} -D "output=${output}" -D "header=${header}" -D "function=${function}" -D
              "names=${arg_NAMES}" -D "files=${arg_FILES}" -P "${script}"
      DEPENDS ${arg_FILES} "${script}"
      VERBATIM)
    # As a part of the library alone, the command would wait for every library that it uses.
    add_custom_target(${function} DEPENDS "${output}")
    add_dependencies(${target} ${function})
    target_sources(${target} PRIVATE "${output}")
    set_source_files_properties("${output}" PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  endfunction()
  return()
endif()

# Run as a script by the command above. The lengths are said by `sizeof`: the compiler counts only so many
# characters of a text itself.
string(REGEX MATCH "^[a-z]+" folder "${header}")
set(texts "")
set(rows "")
foreach(name file IN ZIP_LISTS names files)
  file(READ "${file}" content)
  if(content MATCHES "[)]ww_file\"")
    message(FATAL_ERROR "${file} holds the end of a raw string of ours")
  endif()
  string(LENGTH "${rows}" number)
  string(APPEND texts "constexpr char kText${number}[] = R\"ww_file(${content})ww_file\";\n")
  string(APPEND rows "      {\"${name}\", {kText${number}, sizeof kText${number} - 1}},\n")
endforeach()
file(
  WRITE "${output}"
  "// Made by cmake/embed.cmake.\n#include \"${header}\"\n\nnamespace ww::${folder} {\n"
  "namespace {\n\n${texts}\n}  // namespace\n\nstd::span<const EmbeddedFile> ${function}() {\n"
  "  static constexpr EmbeddedFile kFiles[] = {\n${rows}  };\n"
  "  return kFiles;\n}\n\n}  // namespace ww::${folder}\n")
