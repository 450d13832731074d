# SPDX-License-Identifier: Apache-2.0
# What `cmake --install` brings besides the library of driftless/api, all of it found from the place of
# the program, so that the tree may be moved. The target `installable` builds everything it needs.
include(GNUInstallDirs)

# The build tree has the installed one's shape: data is ../share/driftless of the program in both.
set(data_folder ${PROJECT_BINARY_DIR}/share/driftless)
file(MAKE_DIRECTORY ${data_folder})
foreach(name models recipes)
  file(RELATIVE_PATH target ${data_folder} ${PROJECT_SOURCE_DIR}/${name})
  file(CREATE_LINK ${target} ${data_folder}/${name} SYMBOLIC)
endforeach()
# The page that runs models in a browser, where scripts/build_web has built it.
set(web_folder ${PROJECT_SOURCE_DIR}/build/wasm/share)
file(MAKE_DIRECTORY ${web_folder})
file(RELATIVE_PATH target ${data_folder} ${web_folder})
file(CREATE_LINK ${target} ${data_folder}/web SYMBOLIC)

# Manual page and completions, written by the program from its own table of flags.
set(manual_folder ${PROJECT_BINARY_DIR}/manual)
file(MAKE_DIRECTORY ${manual_folder})
set(manual_files "")
foreach(form man bash zsh fish)
  add_custom_command(OUTPUT ${manual_folder}/driftless.${form}
    COMMAND driftless manual ${form} > ${manual_folder}/driftless.${form} DEPENDS driftless VERBATIM)
  list(APPEND manual_files ${manual_folder}/driftless.${form})
endforeach()
add_custom_target(driftless_manual ALL DEPENDS ${manual_files})

add_custom_target(installable DEPENDS driftless driftless_library driftless_manual)
install(TARGETS driftless DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET driftless_mpi)
  add_dependencies(installable driftless_mpi)
  install(TARGETS driftless_mpi DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT mpi)
  file(WRITE ${manual_folder}/driftless-mpi.1 ".so man1/driftless.1\n")
  install(FILES ${manual_folder}/driftless-mpi.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 COMPONENT mpi)
endif()
install(DIRECTORY models recipes DESTINATION ${CMAKE_INSTALL_DATADIR}/driftless
        PATTERN recipes/queue EXCLUDE)
install(FILES ${web_folder}/page.html ${web_folder}/engine.json DESTINATION ${CMAKE_INSTALL_DATADIR}/driftless/web OPTIONAL)
install(FILES LICENSE THIRD_PARTY.md CHANGELOG.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES ${manual_folder}/driftless.man DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 RENAME driftless.1)
install(FILES ${manual_folder}/driftless.bash
        DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME driftless)
install(FILES ${manual_folder}/driftless.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
foreach(folder site-functions vendor-completions)  # Debian's zsh looks in the second.
  install(FILES ${manual_folder}/driftless.zsh DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/${folder}
          RENAME _driftless)
endforeach()
