# SPDX-License-Identifier: GPL-2.0-or-later
# How many PTEs a fault resolved. Usage: gnuplot -c plots/ptes-per-fault.gp DIR
name = "ptes-per-fault"
dir = strlen(ARG1) ? ARG1 : "."
load ARG0[1:strlen(ARG0) - strlen(name.".gp")]."common.gp"

f = tsv(name)
all = titles(f)
why = reason(f)
do for [kind in "png svg"] {
	eval(terminal(kind, name))
	set title "PTEs per fault"
	if (words(all) == 0) { eval(empty) } else {
		set xlabel axis(f)
		set ylabel "faults"
		set logscale x 2
		set logscale y
		set xrange [0.7:800]
		set yrange [0.5:2 * largest(f, 2)]
		two = two_sided(f)
		# Each series stands a little beside the others, before to the left.
		shift(i) = 2 ** ((i - (words(all) + 1) / 2.0) * 0.06)
		plot for [i = 1:words(all)] f index i - 1 every ::1 using ($1 * shift(i)):2 \
			with impulses linewidth 6 \
			linecolor rgb (two ? side_color(word(all, i)) : class_color(word(all, i))) \
			title word(all, i)
	}
}
unset output
