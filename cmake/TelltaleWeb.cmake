# The page kit of web/, bundled and built into the binary: a page is one file and needs no network to be looked at.
# npm installs what package-lock.json names (the bundler and one library) into the build folder.
include(TelltaleNode)
set(web ${PROJECT_SOURCE_DIR}/web)
set(built ${PROJECT_BINARY_DIR}/web)
set(packages ${web}/package.json ${web}/package-lock.json ${web}/.npmrc)
file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${web}/src/*.ts ${web}/src/*.tsx)
set(embed ${PROJECT_SOURCE_DIR}/cmake/embed_page.py)

add_custom_command(OUTPUT ${built}/installed
  COMMAND ${CMAKE_COMMAND} -E make_directory ${built}
  COMMAND ${CMAKE_COMMAND} -E copy ${packages} ${built}
  COMMAND ${CMAKE_COMMAND} -E chdir ${built}
          ${TELLTALE_NPM} ci --omit=dev --ignore-scripts --prefer-offline --no-audit --no-fund --loglevel=error
  COMMAND ${CMAKE_COMMAND} -E touch ${built}/installed
  DEPENDS ${packages} ${TELLTALE_NODE_INSTALLED} COMMENT "Installing the bundler of web/" VERBATIM)
add_custom_command(OUTPUT ${built}/page.js ${built}/page.css
  COMMAND ${TELLTALE_NODE} ${web}/build.mjs ${built}/node_modules ${built}
  DEPENDS ${built}/installed ${web}/build.mjs ${web}/tsconfig.json ${web}/style.css ${sources}
  COMMENT "Bundling web/" VERBATIM)
add_custom_command(OUTPUT ${built}/embedded_page.cc ${built}/page.html
  COMMAND ${Python3_EXECUTABLE} ${embed} ${built}/embedded_page.cc ${built}/page.html ${web}/page.html ${built}/page.css ${built}/page.js
  DEPENDS ${embed} ${web}/page.html ${built}/page.js ${built}/page.css VERBATIM)
target_sources(telltale_output PRIVATE ${built}/embedded_page.cc)
