# SPDX-License-Identifier: Apache-2.0
#
# Packages of what install_rules.cmake installs, made from a build folder:
#
#   cpack -G DEB      warpwright_<version>_<architecture>.deb
#   cpack -G TGZ      the same tree to unpack anywhere
#
# The Debian package is one for programs and libraries; package_depends.cmake finds its dependencies.

set(WW_PACKAGE_CONTACT "The Warpwright authors" CACHE STRING "`Name <address>` of who makes packages")

set(CPACK_GENERATOR DEB TGZ)
set(CPACK_PACKAGE_NAME warpwright)
set(CPACK_PACKAGE_VENDOR Warpwright)
set(CPACK_PACKAGE_CONTACT "${WW_PACKAGE_CONTACT}")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "tile-primitive compiler for NVIDIA GPUs")
set(CPACK_PACKAGE_DESCRIPTION
    "Warpwright compiles tile programs in the syntax of TVMScript to PTX and CUDA C++. It chooses the
instructions for each tile primitive, proves that they move the right elements and says why it took no
others. A virtual GPU runs the result on the CPU, with checks that hardware does not make; with a GPU the
same command runs on it. The package has the program, its manual page and examples, and the libraries
with their headers and a CMake package.")
set(CPACK_RESOURCE_FILE_LICENSE "${PROJECT_SOURCE_DIR}/LICENSE")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_PACKAGE_SUGGESTS "libfmt-dev, cmake, g++ (>= 4:12)")
find_program(WW_DPKG_SHLIBDEPS dpkg-shlibdeps)
if(WW_DPKG_SHLIBDEPS)
  set(CPACK_PROJECT_CONFIG_FILE "${CMAKE_CURRENT_LIST_DIR}/package_depends.cmake")
  set(CPACK_WW_DPKG_SHLIBDEPS "${WW_DPKG_SHLIBDEPS}")
  set(CPACK_WW_PROGRAMS "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/warpwright")
  if(TARGET warpwright-bench)
    list(APPEND CPACK_WW_PROGRAMS "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/warpwright-bench")
  endif()
  if(TARGET warpwright-http)
    list(APPEND CPACK_WW_PROGRAMS "${CMAKE_RUNTIME_OUTPUT_DIRECTORY}/warpwright-http.so")
  endif()
endif()

include(CPack)
