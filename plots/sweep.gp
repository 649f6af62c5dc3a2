# SPDX-License-Identifier: GPL-2.0-or-later
# What a wider window saves in faults and costs in time and waste. Usage: gnuplot -c plots/sweep.gp DIR
# reads DIR/sweep.tsv (fault-analyze replay --sweep ... --plot DIR writes it), draws DIR/sweep.png and .svg
name = "sweep"
dir = strlen(ARG1) ? ARG1 : "."
load ARG0[1:strlen(ARG0) - strlen(name.".gp")]."common.gp"

f = tsv(name)
panels = words(titles(f))
# Of the n-th series the name of the x axis, and the largest value of a column.
axis_of(n) = system("awk -F'\t' '$2 ~ /^\"/ && ++n == ".n." { print $1 }' '".f."'")
largest_of(n, column) = real(system("awk -F'\t' '$2 ~ /^\"/ { ++n; next } n == ".n." && $".column." + 0 > m \
	{ m = $".column." } END { print m ? m : 1 }' '".f."'"))
# Points too close to the one that has a label get none.
label(x, y, text) = abs(x - last_x) > 0.06 * x_max || abs(y - last_y) > 0.05 * y_max ? \
	(last_x = x, last_y = y, text) : ""
# Two to five tics.
step(max) = (s = 10.0 ** floor(log10(max)), max < 2 * s ? s / 2.0 : max < 5 * s ? s : 2 * s)

do for [kind in "png svg"] {
	eval(terminal(kind, name))
	set multiplot layout 1,panels title \
		"How far around the PTE? Faults saved, for each window of PTEs that one fault may resolve"
	unset key
	do for [i = 1:panels] {
		x_max = largest_of(i, 1)
		y_max = largest_of(i, 2)
		last_x = last_y = -1e30
		set xlabel axis_of(i)
		set ylabel (i == 1 ? "faults saved" : "")
		set xrange [0:1.15 * x_max]
		set yrange [0:1.1 * y_max]
		set xtics step(x_max)
		plot f index i - 1 every ::1 using 1:2 with linespoints linewidth 2 pointtype 7 \
			linecolor rgb (i == panels ? before_color : after_color), \
			'' index i - 1 every ::1 using 1:2:(label($1, $2, strcol(3))) with labels \
			left offset 0.6,(i == panels ? 0.6 : -0.6)
	}
	unset multiplot
}
unset output
