# The Ruby that extensions are built for: ruby_includes, ruby_libraries,
# ruby_so_name, ruby_dlext; ruby_vendor, where it looks for what a system brings, relative
# to its prefix. Another one: -DRUBY_EXECUTABLE=/path/to/ruby.
find_program(RUBY_EXECUTABLE ruby REQUIRED)

function(ruby_config key variable)
    execute_process(COMMAND ${RUBY_EXECUTABLE} -rrbconfig -e "print RbConfig::CONFIG['${key}']"
        OUTPUT_VARIABLE value COMMAND_ERROR_IS_FATAL ANY)
    set(${variable} "${value}" PARENT_SCOPE)
endfunction()

ruby_config(rubyhdrdir ruby_headers)
ruby_config(rubyarchhdrdir ruby_arch_headers)
ruby_config(libdir ruby_libraries)
ruby_config(RUBY_SO_NAME ruby_so_name)
ruby_config(DLEXT ruby_dlext)
set(ruby_includes ${ruby_headers} ${ruby_arch_headers})

execute_process(COMMAND ${RUBY_EXECUTABLE} -rrbconfig -e
    "print RbConfig::CONFIG['vendordir'].delete_prefix(RbConfig::CONFIG['prefix'] + '/')"
    OUTPUT_VARIABLE ruby_vendor COMMAND_ERROR_IS_FATAL ANY)
