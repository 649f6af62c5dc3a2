# SPDX-License-Identifier: GPL-2.0-or-later
# What a wider window saves in faults and costs in time and waste. Usage: gnuplot -c plots/sweep.gp DIR
name = "sweep"
dir = strlen(ARG1) ? ARG1 : "."
load ARG0[1:strlen(ARG0) - strlen(name.".gp")]."common.gp"

f = tsv(name)
all = titles(f)
why = reason(f)
panels = words(all)
# The name of the x axis of each series.
axis_of(i) = system("awk -F'\t' '$2 ~ /^\"/ && ++n == ".i." { print $1 }' '".f."'")
do for [kind in "png svg"] {
	eval(terminal(kind, name))
	if (panels == 0) { eval(empty) } else {
		set multiplot layout 1,panels title "How far around the PTE? Faults saved, by PTEs a fault may resolve"
		unset key
		set ylabel "faults saved"
		set yrange [0:*]
		set xrange [0:*]
		set offsets graph 0.02, graph 0.12, graph 0.05, 0
		do for [i = 1:panels] {
			set xlabel axis_of(i)
			plot f index i - 1 every ::1 using 1:2 with linespoints linewidth 2 pointtype 7 \
				linecolor rgb (i == 1 && panels > 1 ? after_color : before_color), \
				'' index i - 1 every ::1 using 1:2:3 with labels left offset 0.7,-0.7
			unset ylabel
		}
		unset multiplot
	}
}
unset output
