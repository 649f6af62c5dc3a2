# SPDX-License-Identifier: GPL-2.0-or-later
# When the faults of each class came. Usage: gnuplot -c plots/faults-over-time.gp DIR
name = "faults-over-time"
dir = strlen(ARG1) ? ARG1 : "."
load ARG0[1:strlen(ARG0) - strlen(name.".gp")]."common.gp"

f = tsv(name)
all = titles(f)
why = reason(f)
panels = two_sided(f) ? 2 : 1
do for [kind in "png svg"] {
	eval(terminal(kind, name))
	if (words(all) == 0) {
		set title "Faults over time"
		eval(empty)
	} else {
		in_seconds = strstrt(axis(f), " (s)")
		set xlabel in_seconds ? axis(f)[1:in_seconds - 1] : axis(f)
		set ylabel "faults in each interval"
		set format x in_seconds ? "%.1s%cs" : "%.1s%c"
		set xtics rotate by -45
		set xrange [0:largest(f, 1)]
		set yrange [0:1.1 * largest(f, 2)]
		set multiplot layout 1, panels
		do for [panel = 1:panels] {
			set title "Faults over time".(panels == 1 ? "" : panel == 1 ? ", before" : ", after")
			shows(i) = in_panel(word(all, i), panel, panels)
			plot NaN notitle, for [i = 1:words(all)] f index i - 1 every ::1 \
				using (shows(i) ? $1 : NaN):2 with fsteps linewidth 2 \
				linecolor rgb class_color(word(all, i)) \
				title (shows(i) ? class_of(word(all, i)) : "")
		}
		unset multiplot
	}
}
unset output
