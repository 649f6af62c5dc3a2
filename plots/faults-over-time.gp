# SPDX-License-Identifier: GPL-2.0-or-later
# When the faults of each class came. Usage: gnuplot -c plots/faults-over-time.gp DIR
# reads DIR/faults-over-time.tsv (fault-analyze plot writes it), draws DIR/faults-over-time.png and .svg
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
		width = largest(f, 3)
		end = largest(f, 1) + width
		scale = is_seconds(axis(f)) ? time_unit(end) : 1
		set xlabel time_axis(axis(f), end)
		set ylabel is_seconds(axis(f)) ? \
			sprintf("faults in each %g %s", width * time_unit(width), time_name(width)) : \
			sprintf("faults in each %g ticks", width)
		if (!is_seconds(axis(f))) { set format x "%.0s%c" }
		set xrange [0:1.02 * end * scale]
		set yrange [0:1.1 * largest(f, 2)]
		if (panels == 2) { set tmargin 6.5 }
		set multiplot layout 1, panels
		do for [panel = 1:panels] {
			set title "Faults over time".panel_name(panel, panels)
			shows(i) = in_panel(word(all, i), panel, panels)
			plot NaN notitle, for [i = 1:words(all)] f index i - 1 every ::1 \
				using (shows(i) ? $1 * scale : NaN):2:($1 * scale):(($1 + $3) * scale):(0):2 \
				with boxxyerror linecolor rgb class_color(word(all, i)) \
				fillstyle transparent solid 0.6 border \
				title (shows(i) ? class_of(word(all, i)) : "")
		}
		unset multiplot
	}
}
unset output
