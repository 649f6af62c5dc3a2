# SPDX-License-Identifier: GPL-2.0-or-later
# Where the faults were, in time; the busiest region. Usage: gnuplot -c plots/address-map.gp DIR
name = "address-map"
dir = strlen(ARG1) ? ARG1 : "."
load ARG0[1:strlen(ARG0) - strlen(name.".gp")]."common.gp"

f = tsv(name)
all = titles(f)
why = reason(f)
panels = two_sided(f) ? 2 : 1
do for [kind in "png svg"] {
	eval(terminal(kind, name))
	if (words(all) == 0) {
		set title "Addresses of faults over time"
		eval(empty)
	} else {
		in_seconds = strstrt(axis(f), " (s)")
		set xlabel in_seconds ? axis(f)[1:in_seconds - 1] : axis(f)
		set ylabel "offset in the busiest region of addresses (MiB)"
		set format x in_seconds ? "%.1s%cs" : "%.1s%c"
		set xtics rotate by -45
		set xrange [0:1.02 * largest(f, 1)]
		set yrange [0:1.05 * largest(f, 2) + 0.01]
		set multiplot layout 1, panels
		do for [panel = 1:panels] {
			set title "Addresses of faults over time".(panels == 1 ? "" : panel == 1 ? ", before" : ", after")
			shows(i) = in_panel(word(all, i), panel, panels)
			plot NaN notitle, for [i = 1:words(all)] f index i - 1 every ::1 \
				using (shows(i) ? $1 : NaN):2 with points pointsize 0.5 pointtype class_mark(word(all, i)) \
				linecolor rgb class_color(word(all, i)) \
				title (shows(i) ? class_of(word(all, i)) : "")
		}
		unset multiplot
	}
}
unset output
