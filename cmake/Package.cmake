# What is installed beside the programs, and Debian's package of all: cpack, in a build
# folder, makes memtop_VERSION_ARCHITECTURE.deb.

# Debian wants man pages and changelogs compressed; man reads them so.
function(compressed variable)
    set(made)
    foreach(file ${ARGN})
        get_filename_component(name ${file} NAME)
        set(out ${CMAKE_BINARY_DIR}/generated/compressed/${name}.gz)
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
        file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/compressed)
        execute_process(COMMAND gzip -9nc ${file} OUTPUT_FILE ${out} COMMAND_ERROR_IS_FATAL ANY)
        list(APPEND made ${out})
    endforeach()
    set(${variable} ${made} PARENT_SCOPE)
endfunction()

foreach(section 1 5)
    file(GLOB pages CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/man/*.${section})
    compressed(pages ${pages})
    install(FILES ${pages} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
endforeach()
install(FILES completions/memtop.bash RENAME memtop
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
install(FILES completions/_memtop DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
install(FILES completions/memtop.fish
    DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)

file(GLOB guides CONFIGURE_DEPENDS docs/*.md)
compressed(changelog ${CMAKE_SOURCE_DIR}/CHANGELOG.md)
install(FILES ${changelog} RENAME changelog.gz DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES LICENSE RENAME copyright DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(FILES README.md ${guides} DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "The memtop contributors <memtop@localhost>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION ruby)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON) # what the program is linked with
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS gdb) # memtop attach asks it
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
"Which classes of a running Ruby program grow, how fast, and which line of code
keeps making what grows, live in a terminal. A probe inside the program counts
every allocation and free, a viewer outside shows them.
.
The program memtop, and the probe for the system's own Ruby.")
# The extension is not linked with Ruby: it is loaded by one, and by that one only.
if(ruby_so_name MATCHES "^ruby-[0-9.]+$")
    string(REPLACE "-" "" ruby_package ${ruby_so_name})
    set(CPACK_DEBIAN_PACKAGE_DEPENDS "ruby, lib${ruby_package}")
endif()
include(CPack)
