#!/bin/bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Writes the manual page: what the program's own --help says of its commands and exit codes, and its files.
#
# usage: man.sh PROGRAM >fault-analyze.1
set -euo pipefail
help=$("$1" --help)
version=$("$1" --version)

# in roff a backslash escapes, and a dash of an option is no hyphen
quote() {
	sed 's/\\/\\e/g; s/-/\\-/g; s/^[.'\'']/\\\&&/'
}

cat <<END
.TH FAULT\-ANALYZE 1 "" "$(quote <<<"$version")"
.SH NAME
fault\-analyze \- what the page faults of a workload cost, folio by folio
.SH SYNOPSIS
.B fault\-analyze
.I COMMAND
.RI [ OPTIONS ]
.RI [ FILE ...]
.SH DESCRIPTION
Reads recordings of page faults that
.BR trace\-cmd (1)
made.
.B fault\-analyze \fICOMMAND\fB \-\-help
lists the options and columns of a command.
.SH COMMANDS
END
sed -n 's/^  \([a-z][a-z]*\)  *\(.*\)/.TP\n.B \1\n\2/p' <<<"$help" | sed '/^\.TP$/b; /^\.B /b; s/-/\\-/g'
echo '.SH EXIT STATUS'
sed -n '/^Exit status: /,$p' <<<"$help" | sed 's/^Exit status: //' | quote
cat <<END
.SH FILES
.TP
.I trace.dat
the recording that is read, or made by
.BR record ,
where none is named
.TP
.IR FILE .json
beside a recording
.IR FILE :
its manifest, how it was made
.SH ENVIRONMENT
.TP
.B FAULT_ANALYZE_PLOTS
the folder of the scripts for gnuplot
.SH SEE ALSO
.BR trace\-cmd (1),
.BR gnuplot (1)
END
