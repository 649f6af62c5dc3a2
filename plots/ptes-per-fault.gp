# SPDX-License-Identifier: GPL-2.0-or-later
# How many PTEs a fault resolved. Usage: gnuplot -c plots/ptes-per-fault.gp DIR
# reads DIR/ptes-per-fault.tsv (fault-analyze plot writes it), draws DIR/ptes-per-fault.png and .svg
name = "ptes-per-fault"
dir = strlen(ARG1) ? ARG1 : "."
load ARG0[1:strlen(ARG0) - strlen(name.".gp")]."common.gp"

f = tsv(name)
all = titles(f)
why = reason(f)
unknown = not_known(f)
do for [kind in "png svg"] {
	eval(terminal(kind, name))
	set title "PTEs per fault".(strlen(unknown) ? "; not recorded of: ".unknown : "")
	if (words(all) == 0) { eval(empty) } else {
		set xlabel axis(f)
		set ylabel "faults"
		set logscale x 2
		set logscale y
		set format y "%.0f"
		set xrange [0.7:largest(f, 1) > 16 ? 800 : 24]
		set yrange [0.5:2 * largest(f, 2)]
		two = two_sided(f)
		# Each series stands a little beside the others, before to the left; a row has one pattern.
		eval(number_rows)
		nr_before = (sum [i = 1:words(all)] !is_after(word(all, i)))
		if (two) { set key vertical maxrows (nr_before > words(all) / 2 ? nr_before : words(all) - nr_before) }
		step = 2 ** (0.8 / (words(all) + 1))
		left(i) = step ** (i - 1 - words(all) / 2.0)
		plot for [i = 1:words(all)] f index i - 1 every ::1 \
			using ($1 * left(i)):2:($1 * left(i)):($1 * left(i) * step):(0.5):2 with boxxyerror \
			linecolor rgb (two ? side_color(word(all, i)) : class_color(word(all, i))) \
			fillstyle pattern 2 + row_number(word(all, i)) border \
			title word(all, i)
	}
}
unset output
