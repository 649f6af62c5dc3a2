# SPDX-License-Identifier: GPL-2.0-or-later
# What part of the faults was done within a time. Usage: gnuplot -c plots/latency-cdf.gp DIR
name = "latency-cdf"
dir = strlen(ARG1) ? ARG1 : "."
load ARG0[1:strlen(ARG0) - strlen(name.".gp")]."common.gp"

f = tsv(name)
all = titles(f)
why = reason(f)
do for [kind in "png svg"] {
	eval(terminal(kind, name))
	set title "Latency of faults, cumulative"
	if (words(all) == 0) { eval(empty) } else {
		set xlabel axis(f)
		set ylabel "part of the faults"
		set logscale x
		eval(log_tics)
		set yrange [0:1.02]
		two = two_sided(f)
		# A row has one dash on both sides; sides have a colour each.
		rows = ""
		do for [i = 1:words(all)] {
			if (strstrt(rows, "\"".class_of(word(all, i))."\"") == 0) {
				rows = rows." \"".class_of(word(all, i))."\""
			}
		}
		dash(i) = (sum [r = 1:words(rows)] (word(rows, r) eq class_of(word(all, i)) ? r : 0))
		plot for [i = 1:words(all)] f index i - 1 every ::1 using 1:2 with steps linewidth 2 \
			dashtype dash(i) \
			linecolor rgb (two ? side_color(word(all, i)) : class_color(word(all, i))) \
			title word(all, i)
	}
}
unset output
