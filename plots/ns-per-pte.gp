# SPDX-License-Identifier: GPL-2.0-or-later
# What it cost to make one PTE usable. Usage: gnuplot -c plots/ns-per-pte.gp DIR
# reads DIR/ns-per-pte.tsv (fault-analyze plot writes it), draws DIR/ns-per-pte.png and .svg
name = "ns-per-pte"
dir = strlen(ARG1) ? ARG1 : "."
load ARG0[1:strlen(ARG0) - strlen(name.".gp")]."common.gp"

f = tsv(name)
all = titles(f)
why = reason(f)
two = two_sided(f)
do for [kind in "png svg"] {
	eval(terminal(kind, name))
	set title "Time per PTE by class and folio size"
	if (words(all) == 0) { eval(empty) } else {
		top = largest(f, 2) > largest(f, 3) ? largest(f, 2) : largest(f, 3)
		bottom = least(f, 2) < least(f, 3) || !two ? least(f, 2) : least(f, 3)
		floor_of(v) = 10 ** floor(log10(v > 0 ? v / 2 : 0.01))
		set ylabel axis(f)
		set xlabel "class and size of folio"
		set logscale y
		set yrange [floor_of(bottom):2 * top]
		eval(log_tics("y", floor_of(bottom), 2 * top))
		set xrange [-0.6:rows_of(f) - 0.4]
		many = rows_of(f) > 5
		if (many) { set xtics rotate by -20 }
		set style fill solid 1 border rgb "#444444"
		width = two ? 0.36 : 0.6
		at(side) = two ? (side == 1 ? -0.19 : 0.19) : 0
		word_of(v) = v == v ? digits(many || v < 0.01 ? 2 : 3, v) : "n/a"
		plot for [side = 1:two + 1] f every ::1 using ($0 + at(side)):side + 1:(width) with boxes \
			linecolor rgb (side == 1 ? before_color : after_color) \
			title (side == 2 ? "after" : two ? "before" : "recorded"), \
			for [side = 1:two + 1] f every ::1 \
			using ($0 + at(side)):(column(side + 1) == column(side + 1) ? column(side + 1) : 1.02 * floor_of(bottom)):(word_of(column(side + 1))) \
			with labels offset 0, 0.6 font (many ? ",8" : ",9") textcolor rgb "#222222" notitle, \
			f every ::1 using 0:(1.02 * floor_of(bottom)):xticlabels(1) with dots linecolor rgb "#444444" notitle
	}
}
unset output
