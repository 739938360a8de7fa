# SPDX-License-Identifier: Apache-2.0
#
# The manual page and the completion scripts, which the program itself prints: target shell_files, files
# in share/ of the build folder, laid out as they are installed.

set(shell_files_dir "${PROJECT_BINARY_DIR}/share")
set(shell_files
    man/man1/warpwright.1 bash-completion/completions/warpwright zsh/site-functions/_warpwright
    fish/vendor_completions.d/warpwright.fish)
list(TRANSFORM shell_files PREPEND "${shell_files_dir}/" OUTPUT_VARIABLE outputs)
list(GET outputs 0 manual)
list(GET outputs 1 bash)
list(GET outputs 2 zsh)
list(GET outputs 3 fish)
foreach(output IN LISTS outputs)
  cmake_path(GET output PARENT_PATH folder)
  file(MAKE_DIRECTORY "${folder}")
endforeach()
add_custom_command(
  OUTPUT ${outputs}
  COMMAND warpwright help --man > "${manual}"
  COMMAND warpwright completion bash > "${bash}"
  COMMAND warpwright completion zsh > "${zsh}"
  COMMAND warpwright completion fish > "${fish}"
  DEPENDS warpwright
  COMMENT "Writing the manual page and completion scripts"
  VERBATIM)
add_custom_target(shell_files ALL DEPENDS ${outputs})
