# Run with cmake -P in each build: writes the commit that is built into the header OUTPUT. An unchanged header is not
# touched, so that nothing is compiled again. SOURCE: the checkout, or an unpacked source archive with the file .commit.
set(commit "unknown")
if(EXISTS ${SOURCE}/.commit) # of `./dev package`'s source archive
  file(STRINGS ${SOURCE}/.commit commit LIMIT_COUNT 1)
elseif(EXISTS ${SOURCE}/.git)
  execute_process(COMMAND git describe --always --abbrev=10 --exclude=* --dirty=-modified WORKING_DIRECTORY ${SOURCE}
    OUTPUT_VARIABLE described OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  if(failed EQUAL 0)
    string(REPLACE "-modified" ", modified" commit ${described})
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} CONTENT "#define TELLTALE_COMMIT \"${commit}\"\n" @ONLY)
