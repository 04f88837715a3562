# embed(VARIABLE FILE ...): the name of a C file that the build makes of files, see
# embed.rb.
function(embed variable)
    set(files ${ARGN})
    list(TRANSFORM files PREPEND ${CMAKE_CURRENT_SOURCE_DIR}/)
    set(out ${CMAKE_BINARY_DIR}/generated/${variable}.c)
    add_custom_command(OUTPUT ${out}
        COMMAND ${RUBY_EXECUTABLE} ${CMAKE_SOURCE_DIR}/cmake/embed.rb ${out} ${files}
        DEPENDS ${CMAKE_SOURCE_DIR}/cmake/embed.rb ${files} VERBATIM)
    set(${variable} ${out} PARENT_SCOPE)
endfunction()
