# SPDX-License-Identifier: GPL-2.0-or-later
# Where the faults were, in time; the busiest region, and their addresses beside. Usage: gnuplot -c plots/address-map.gp DIR
# reads DIR/address-map.tsv (fault-analyze plot writes it), draws DIR/address-map.png and .svg
name = "address-map"
dir = strlen(ARG1) ? ARG1 : "."
load ARG0[1:strlen(ARG0) - strlen(name.".gp")]."common.gp"

f = tsv(name)
# Where the region begins, if it is the same on both sides.
begin = system("awk -F'\t' '$2 == \"0\" { print $3 }' '".f."' | sort -u")
all = titles(f)
why = reason(f)
panels = two_sided(f) ? 2 : 1
do for [kind in "png svg"] {
	eval(terminal(kind, name))
	if (words(all) == 0) {
		set title "Addresses of faults over time"
		eval(empty)
	} else {
		end = largest(f, 1)
		scale = is_seconds(axis(f)) ? time_unit(end) : 1
		set xlabel time_axis(axis(f), end)
		per_mib = largest(f, 2) > 8192 ? 1 / 1024.0 : 1
		set ylabel "offset ".(words(begin) == 1 ? "from ".begin : "in the busiest region of addresses").\
			(per_mib < 1 ? " (GiB)" : " (MiB)")
		if (!is_seconds(axis(f))) { set format x "%.0s%c" }
		set xrange [0:1.02 * end * scale]
		set yrange [0:1.05 * largest(f, 2) * per_mib + 0.01]
		if (panels == 2) { set tmargin 6.5 }
		set multiplot layout 1, panels
		do for [panel = 1:panels] {
			set title "Addresses of faults over time".panel_name(panel, panels)
			shows(i) = in_panel(word(all, i), panel, panels)
			plot NaN notitle, for [i = 1:words(all)] f index i - 1 every ::1 \
				using (shows(i) ? $1 * scale : NaN):($2 * per_mib) with points pointsize 0.6 \
				pointtype class_mark(word(all, i)) linecolor rgb class_color(word(all, i)) \
				title (shows(i) ? class_of(word(all, i)) : "")
		}
		unset multiplot
	}
}
unset output
