# SPDX-License-Identifier: GPL-2.0-or-later
# What it cost to make one PTE usable. Usage: gnuplot -c plots/ns-per-pte.gp DIR
name = "ns-per-pte"
dir = strlen(ARG1) ? ARG1 : "."
load ARG0[1:strlen(ARG0) - strlen(name.".gp")]."common.gp"

f = tsv(name)
all = titles(f)
why = reason(f)
two = strstrt(system("head -n 1 '".f."'"), "\"after\"") > 0
do for [kind in "png svg"] {
	eval(terminal(kind, name))
	set title "Time per PTE by class and folio size"
	if (words(all) == 0) { eval(empty) } else {
		set style data histogram
		set style histogram clustered gap 1
		set style fill solid 1 border rgb "#444444"
		set boxwidth 0.9
		set ylabel axis(f)
		set logscale y
		set yrange [10:*]
		set xtics rotate by -30
		set xlabel "class and size of folio"
		plot for [side = 1:two + 1] f every ::1 using side + 1:xticlabels(1) \
			linecolor rgb (side == 1 ? before_color : after_color) \
			title (side == 2 ? "after" : two ? "before" : "recorded")
	}
}
unset output
