#!/bin/sh
# A C++ compiler for `make sanitize`: its kernels stop the process where memory or arithmetic has no defined meaning.
for argument in "$@"; do
    shift
    case "$argument" in
    -O3) set -- "$@" -O1 -g ;;
    -nodefaultlibs | -lm | -lc | -lgcc) ;;
    *) set -- "$@" "$argument" ;;
    esac
done
checks="-fsanitize=address,undefined,float-cast-overflow -fno-sanitize-recover=all"
exec g++ "$@" $checks -fno-omit-frame-pointer
