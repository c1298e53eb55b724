# `cmake --install build/release --prefix DIR`: the program, its manual pages, what completes its words in three shells, the
# licence. The program writes its own pages, so they are made when it is installed and always fit it.
include(GNUInstallDirs)
set(pages "${CMAKE_BINARY_DIR}/install")
install(TARGETS quarry)
install(CODE "
  file(REMOVE_RECURSE \"${pages}\")
  file(MAKE_DIRECTORY \"${pages}/docs\")
  execute_process(COMMAND \"$<TARGET_FILE:quarry>\" docs \"${pages}/docs\" --man-dir \"${pages}/man1\"
                  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
  foreach(shell bash zsh fish)
    execute_process(COMMAND \"$<TARGET_FILE:quarry>\" completion \${shell} OUTPUT_FILE \"${pages}/\${shell}\" COMMAND_ERROR_IS_FATAL ANY)
  endforeach()")
install(DIRECTORY "${pages}/man1" DESTINATION "${CMAKE_INSTALL_MANDIR}")
install(FILES "${pages}/bash" DESTINATION "${CMAKE_INSTALL_DATADIR}/bash-completion/completions" RENAME quarry)
install(FILES "${pages}/zsh" DESTINATION "${CMAKE_INSTALL_DATADIR}/zsh/site-functions" RENAME _quarry)
install(FILES "${pages}/fish" DESTINATION "${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d" RENAME quarry.fish)
install(FILES "${CMAKE_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
