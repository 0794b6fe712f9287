# Installs the build in BUILD to a folder of its own, then configures, builds and runs examples/find_package against it.
set(prefix ${BUILD}/install_test/prefix)
set(build ${BUILD}/install_test/build)
file(REMOVE_RECURSE ${BUILD}/install_test)

function(run)
  execute_process(COMMAND ${ARGN} RESULT_VARIABLE code OUTPUT_VARIABLE out ERROR_VARIABLE out)
  if(NOT code EQUAL 0)
    message(FATAL_ERROR "${ARGN} failed (${code}):\n${out}")
  endif()
endfunction()

run(${CMAKE_COMMAND} --install ${BUILD} --prefix ${prefix})
run(${prefix}/bin/warpcheck --version)
run(${CMAKE_COMMAND} -G Ninja -S ${SOURCE}/examples/find_package -B ${build} -DCMAKE_PREFIX_PATH=${prefix})
run(${CMAKE_COMMAND} --build ${build})
run(${build}/handoff)
