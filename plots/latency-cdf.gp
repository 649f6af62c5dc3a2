# SPDX-License-Identifier: GPL-2.0-or-later
# What part of the faults was done within a time. Usage: gnuplot -c plots/latency-cdf.gp DIR
# reads DIR/latency-cdf.tsv (fault-analyze plot writes it), draws DIR/latency-cdf.png and .svg
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
		low = 0.8 * least(f, 1) + 0.1
		high = 1.25 * largest(f, 1) + 1
		set xlabel axis(f)
		set ylabel "part of the faults"
		set logscale x
		eval(log_tics("x", low, high))
		set xrange [low:high]
		set yrange [0:1.02]
		two = two_sided(f)
		# A row has one dash on both sides; sides have a colour each, and a column of the key. Where both
		# are the same, before shows on both sides of after.
		eval(number_rows)
		nr_before = (sum [i = 1:words(all)] !is_after(word(all, i)))
		if (two) { set key vertical maxrows (nr_before > words(all) / 2 ? nr_before : words(all) - nr_before) }
		plot for [i = 1:words(all)] f index i - 1 every ::1 using 1:2 with steps \
			linewidth (two && !is_after(word(all, i)) ? 4 : 2) \
			dashtype row_number(word(all, i)) \
			linecolor rgb (two ? side_color(word(all, i)) : class_color(word(all, i))) \
			title word(all, i)
	}
}
unset output
