# SPDX-License-Identifier: GPL-2.0-or-later
# How many faults of each class took how long. Usage: gnuplot -c plots/latency-histogram.gp DIR
# reads DIR/latency-histogram.tsv (fault-analyze plot writes it), draws DIR/latency-histogram.png and .svg
name = "latency-histogram"
dir = strlen(ARG1) ? ARG1 : "."
load ARG0[1:strlen(ARG0) - strlen(name.".gp")]."common.gp"

f = tsv(name)
all = titles(f)
why = reason(f)
panels = two_sided(f) ? 2 : 1
half = 10 ** (1 / 24.0) # of a bin: 12 in each power of ten
do for [kind in "png svg"] {
	eval(terminal(kind, name))
	if (words(all) == 0) {
		set title "Latency of faults by class"
		eval(empty)
	} else {
		low = 0.7 * least(f, 1)
		high = 1.4 * largest(f, 1)
		set xlabel axis(f)
		set ylabel "faults in each 12th of a power of ten"
		set logscale xy
		eval(log_tics("x", low * panels, high * panels ** 2))
		set xrange [low:high]
		set yrange [0.5:2 * largest(f, 2)]
		set format y "%.0f"
		if (panels == 2) { set tmargin 6.5 }
		set multiplot layout 1, panels
		do for [panel = 1:panels] {
			set title "Latency of faults by class".panel_name(panel, panels)
			shows(i) = in_panel(word(all, i), panel, panels)
			plot NaN notitle, for [i = 1:words(all)] f index i - 1 every ::1 \
				using (shows(i) && $2 > 0 ? $1 : NaN):2:($1 / half):($1 * half):(0.5):2 \
				with boxxyerror linewidth 2 linecolor rgb class_color(word(all, i)) \
				fillstyle transparent solid 0.15 border \
				title (shows(i) ? class_of(word(all, i)) : "")
		}
		unset multiplot
	}
}
unset output
