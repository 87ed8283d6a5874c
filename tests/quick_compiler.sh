#!/bin/sh
# A C++ compiler for `make test`: less effort for what is long, as programs over objects are, of which tests have
# thousands. Kernels are compiled as users have them.
effort=-O3
for argument in "$@"; do
    case "$argument" in *.cpp) [ "$(wc -c < "$argument")" -gt 40000 ] && effort=-O1 ;; esac
done
for argument in "$@"; do
    shift
    [ "$argument" = -O3 ] && argument=$effort
    set -- "$@" "$argument"
done
exec g++ "$@"
