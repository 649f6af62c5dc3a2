# SPDX-License-Identifier: GPL-2.0-or-later
# What all faults of one folio cost together. Usage: gnuplot -c plots/per-folio-latency.gp DIR
# reads DIR/per-folio-latency.tsv (fault-analyze plot writes it), draws DIR/per-folio-latency.png and .svg
name = "per-folio-latency"
dir = strlen(ARG1) ? ARG1 : "."
load ARG0[1:strlen(ARG0) - strlen(name.".gp")]."common.gp"

f = tsv(name)
all = titles(f)
why = reason(f)
do for [kind in "png svg"] {
	eval(terminal(kind, name))
	set title "Latency of all faults of a folio: least, quartiles, largest; the median is black"
	if (words(all) == 0) { eval(empty) } else {
		set logscale y
		set ylabel axis(f)
		set xlabel "class and size of folio"
		low = 0.6 * least(f, 3) + 0.1
		high = 1.6 * largest(f, 7) + 1
		eval(log_tics("y", low, high))
		set yrange [low:high]
		set style fill solid 0.5 border
		set xrange [0.4:largest(f, 1) + 0.6]
		if (largest(f, 1) > 5) { set xtics rotate by -20 }
		shift(i) = words(all) == 1 ? 0 : is_after(word(all, i)) ? 0.18 : -0.18
		plot for [i = 1:words(all)] f index i - 1 every ::1 \
			using ($1 + shift(i)):4:3:7:6:(0.3) with candlesticks whiskerbars linewidth 1.5 \
			linecolor rgb side_color(word(all, i)) title word(all, i), \
			for [i = 1:words(all)] f index i - 1 every ::1 \
			using ($1 + shift(i)):5:5:5:5:(0.3) with candlesticks linewidth 2.5 \
			linecolor rgb "#000000" notitle, \
			for [i = 1:words(all)] f index i - 1 every ::1 \
			using 1:5:xticlabels(2) with dots linecolor rgb "#000000" notitle
	}
}
unset output
