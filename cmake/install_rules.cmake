# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` puts where:
#
#   bin/warpwright                         the program
#   libexec/warpwright/warpwright-bench    its benchmarks, started by `warpwright bench`
#   libexec/warpwright/warpwright-http.so  the explorer's server, loaded by `warpwright explore`
#   lib/libww_*.a                          one library per folder of src/
#   include/warpwright/<folder>/*.h        headers; users write #include <warpwright/layout/layout.h>
#   lib/cmake/warpwright/                  find_package(warpwright)
#   share/man/man1/warpwright.1            manual page
#   share/{bash-completion,zsh,fish}/...   completion of command lines
#   share/doc/warpwright/                  documents with their pictures and schemas, examples, licence
#
# The command line (cli), the language server (lsp) and the explorer are no libraries for others and stay out.

include(CMakePackageConfigHelpers)

set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/warpwright")
set(include_dir "${CMAKE_INSTALL_INCLUDEDIR}/warpwright")

get_property(libraries GLOBAL PROPERTY WW_LIBRARIES)
list(REMOVE_ITEM libraries ww_cli ww_lsp ww_explore)
foreach(library IN LISTS libraries)
  get_target_property(header_sets ${library} INTERFACE_HEADER_SETS)
  set(file_sets "")
  foreach(header_set IN LISTS header_sets)
    list(APPEND file_sets FILE_SET ${header_set} DESTINATION "${include_dir}")
  endforeach()
  install(
    TARGETS ${library}
    EXPORT warpwright_targets
    ARCHIVE DESTINATION "${CMAKE_INSTALL_LIBDIR}"
    ${file_sets}
    INCLUDES DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" "${include_dir}") # the second: among themselves
endforeach()

install(TARGETS warpwright RUNTIME DESTINATION "${CMAKE_INSTALL_BINDIR}")
if(TARGET warpwright-bench)
  install(TARGETS warpwright-bench
          RUNTIME DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/warpwright")
endif()
if(TARGET warpwright-http)
  install(TARGETS warpwright-http
          LIBRARY DESTINATION "${CMAKE_INSTALL_LIBEXECDIR}/warpwright")
endif()
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" "${PROJECT_SOURCE_DIR}/cmake/copyright"
        DESTINATION "${CMAKE_INSTALL_DOCDIR}")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/docs/" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
        FILES_MATCHING PATTERN "*.md" PATTERN "*.svg" PATTERN "*.webp" PATTERN "*.json")
install(DIRECTORY "${PROJECT_SOURCE_DIR}/examples" DESTINATION "${CMAKE_INSTALL_DOCDIR}"
        FILES_MATCHING PATTERN "*.py" PATTERN "*.ptx")
install(DIRECTORY "${shell_files_dir}/man/" DESTINATION "${CMAKE_INSTALL_MANDIR}")
foreach(shell IN ITEMS bash-completion zsh fish)
  install(DIRECTORY "${shell_files_dir}/${shell}" DESTINATION "${CMAKE_INSTALL_DATADIR}")
endforeach()

if(libraries)
  install(EXPORT warpwright_targets NAMESPACE warpwright:: DESTINATION "${package_dir}"
          FILE warpwrightTargets.cmake)
endif()
configure_package_config_file(
  "${PROJECT_SOURCE_DIR}/cmake/warpwrightConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/warpwrightConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file(
  "${PROJECT_BINARY_DIR}/warpwrightConfigVersion.cmake" COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/warpwrightConfig.cmake"
              "${PROJECT_BINARY_DIR}/warpwrightConfigVersion.cmake" DESTINATION "${package_dir}")
