# SPDX-License-Identifier: GPL-2.0-or-later
# How many faults of each class took how long. Usage: gnuplot -c plots/latency-histogram.gp DIR
name = "latency-histogram"
dir = strlen(ARG1) ? ARG1 : "."
load ARG0[1:strlen(ARG0) - strlen(name.".gp")]."common.gp"

f = tsv(name)
all = titles(f)
why = reason(f)
panels = two_sided(f) ? 2 : 1
do for [kind in "png svg"] {
	eval(terminal(kind, name))
	if (words(all) == 0) {
		set title "Latency of faults by class"
		eval(empty)
	} else {
		set xlabel axis(f)
		set ylabel "faults, 12 bins in each power of ten"
		set logscale xy
		eval(log_tics)
		if (panels == 2) { set xtics rotate by -45 }
		set xrange [0.5 * least(f, 1):2 * largest(f, 1)]
		set yrange [0.5:2 * largest(f, 2)]
		set multiplot layout 1, panels
		do for [panel = 1:panels] {
			set title "Latency of faults by class".(panels == 1 ? "" : panel == 1 ? ", before" : ", after")
			shows(i) = in_panel(word(all, i), panel, panels)
			plot NaN notitle, for [i = 1:words(all)] f index i - 1 every ::1 \
				using (shows(i) ? $1 : NaN):2 with linespoints linewidth 2 pointtype class_mark(word(all, i)) \
				linecolor rgb class_color(word(all, i)) \
				title (shows(i) ? class_of(word(all, i)) : "")
		}
		unset multiplot
	}
}
unset output
