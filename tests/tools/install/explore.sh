#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
#
# explore.sh PROGRAM FILE: starts PROGRAM's explorer, which writes its address to FILE, and ends it then.
# Exit status: the explorer's.
"$1" explore >"$2" &
while kill -0 $! 2>/dev/null && ! test -s "$2"; do sleep 0.05; done
kill $! 2>/dev/null
wait $!
