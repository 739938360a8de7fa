# SPDX-License-Identifier: Apache-2.0
#
# The examples, and the programs that `warpwright new` writes, become part of the driver library: an
# installed program needs no folder for them. driver/embedded.h declares what cmake/embed.cmake writes.
# examples/index.txt names the examples in their order, indented below the names of their groups.

set(root "${PROJECT_SOURCE_DIR}")
set(index "examples/index.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${root}/${index}")
file(STRINGS "${root}/${index}" examples REGEX "^  ")
list(TRANSFORM examples STRIP)
list(TRANSFORM examples PREPEND "examples/")
list(TRANSFORM examples APPEND ".py")
file(GLOB templates CONFIGURE_DEPENDS RELATIVE "${root}" "${root}/src/driver/templates/*.py")

set(embedded "${PROJECT_BINARY_DIR}/generated/embedded_files.cpp")
list(TRANSFORM examples PREPEND "${root}/" OUTPUT_VARIABLE inputs)
foreach(path IN LISTS index templates)
  list(APPEND inputs "${root}/${path}")
endforeach()
add_custom_command(
  OUTPUT "${embedded}"
  COMMAND
    ${CMAKE_COMMAND} -D "output=${embedded}" -D "root=${root}"
    -D "groups=embedded_examples;embedded_index;embedded_templates"
    -D "embedded_examples=${examples}" -D "embedded_index=${index}"
    -D "embedded_templates=${templates}" -P "${root}/cmake/embed.cmake"
  DEPENDS ${inputs} "${root}/cmake/embed.cmake"
  VERBATIM)
# As a part of ww_driver alone, the command would wait for every library that the driver uses, and the
# compilation of the driver for the command: one processor would be idle.
add_custom_target(embedded_files DEPENDS "${embedded}")
add_dependencies(ww_driver embedded_files)
target_sources(ww_driver PRIVATE "${embedded}")
