# SPDX-License-Identifier: Apache-2.0
#
# Writes a C++ file that holds other files: run as a script with
#
#   output   the file to write
#   root     the folder that names begin at
#   groups   names of functions of driver/embedded.h, `;` between them
#   <group>  the files of each, relative to root
#
# The text of a file becomes a raw string, so that it is the file byte for byte.

set(text "// Made by cmake/embed.cmake.\n#include \"driver/embedded.h\"\n\nnamespace ww::driver {\n")
foreach(group IN LISTS groups)
  string(APPEND text "\nstd::span<const EmbeddedFile> ${group}() {\n"
         "  static constexpr EmbeddedFile kFiles[] = {\n")
  foreach(path IN LISTS ${group})
    file(READ "${root}/${path}" content)
    if(content MATCHES "[)]ww_file\"")
      message(FATAL_ERROR "${path} holds the end of a raw string of ours")
    endif()
    string(APPEND text "      {\"${path}\", R\"ww_file(${content})ww_file\"},\n")
  endforeach()
  string(APPEND text "  };\n  return kFiles;\n}\n")
endforeach()
string(APPEND text "\n}  // namespace ww::driver\n")
file(WRITE "${output}" "${text}")
