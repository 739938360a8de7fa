# SPDX-License-Identifier: Apache-2.0
#
# The examples, and the programs that `warpwright new` writes, become part of the driver library: an
# installed program needs no folder for them. driver/embedded.h declares what cmake/embed.cmake writes.

set(root "${PROJECT_SOURCE_DIR}")
file(GLOB examples CONFIGURE_DEPENDS RELATIVE "${root}" "${root}/examples/*.py")
file(GLOB basics CONFIGURE_DEPENDS RELATIVE "${root}" "${root}/examples/basics/*.py")
file(GLOB rows CONFIGURE_DEPENDS RELATIVE "${root}" "${root}/examples/rows/*.py")
file(GLOB short CONFIGURE_DEPENDS RELATIVE "${root}" "${root}/examples/short/*.py")
file(GLOB templates CONFIGURE_DEPENDS RELATIVE "${root}" "${root}/src/driver/templates/*.py")
list(APPEND examples ${basics} ${rows} ${short})

set(embedded "${PROJECT_BINARY_DIR}/generated/embedded_files.cpp")
list(TRANSFORM examples PREPEND "${root}/" OUTPUT_VARIABLE inputs)
foreach(path IN LISTS templates)
  list(APPEND inputs "${root}/${path}")
endforeach()
add_custom_command(
  OUTPUT "${embedded}"
  COMMAND
    ${CMAKE_COMMAND} -D "output=${embedded}" -D "root=${root}"
    -D "groups=embedded_examples;embedded_templates" -D "embedded_examples=${examples}"
    -D "embedded_templates=${templates}" -P "${root}/cmake/embed.cmake"
  DEPENDS ${inputs} "${root}/cmake/embed.cmake"
  VERBATIM)
# As a part of ww_driver alone, the command would wait for every library that the driver uses, and the
# compilation of the driver for the command: one processor would be idle.
add_custom_target(embedded_files DEPENDS "${embedded}")
add_dependencies(ww_driver embedded_files)
target_sources(ww_driver PRIVATE "${embedded}")
