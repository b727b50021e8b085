#%Module1.0
# holdfast for Environment Modules and Lmod: `module use PREFIX/share/holdfast/modulefiles`, then `module load holdfast`.
# The prefix is where this file was installed or moved to.
set prefix [file normalize [file join [file dirname $ModulesCurrentModulefile] .. .. ..]]

proc ModulesHelp { } {
    puts stderr "Holdfast keeps parallel jobs correct and moving: holdfast doctor, holdfast run, man holdfast"
}
module-whatis "Keeps parallel jobs correct and moving when bits flip, packets vanish and links die"
conflict holdfast
prepend-path PATH $prefix/bin
prepend-path CMAKE_PREFIX_PATH $prefix
foreach library {lib64 lib} {
    foreach folder [concat [list $prefix/$library] [glob -nocomplain -type d $prefix/$library/*-linux-gnu*]] {
        if {[file isdirectory $folder/pkgconfig]} {
            prepend-path PKG_CONFIG_PATH $folder/pkgconfig
        }
    }
}
