# SPDX-License-Identifier: GPL-2.0-or-later
# What all plots share: where the data is, terminals, colours that the colour-blind can tell apart. Loaded by the
# other scripts, which set name and dir; run and edit those.

set encoding utf8
set datafile separator "\t"
set datafile missing "n/a"
set grid back linecolor rgb "#dddddd" linetype 1
set border 3 linecolor rgb "#444444"
set tics nomirror textcolor rgb "#222222"
set key outside top center horizontal samplen 2 width 1
set bmargin 4.5

tsv(name) = dir."/".name.".tsv"

# The titles of the series in a file, quoted, in order: its lines whose second field is quoted.
titles(f) = system("awk -F'\t' '$2 ~ /^\"/ { print $2 }' '".f."'")
# The name of the x axis, the first field of the first of them.
axis(f) = system("awk -F'\t' '$2 ~ /^\"/ { print $1; exit }' '".f."'")
# Why a file has no series.
reason(f) = system("sed -n 's/^# //p' '".f."'")
# Rows whose figure is not known.
not_known(f) = system("sed -n 's/^#? //p' '".f."' | awk '!seen[$0]++' | paste -sd, | sed 's/,/, /g'")
# The largest value of a column, for axes that two panels share.
largest(f, column) = real(system("awk -F'\t' '$2 !~ /^\"/ && $".column." + 0 > m { m = $".column." } END { print m + 0 }' '".f."'"))
# The least value of a column.
least(f, column) = real(system("awk -F'\t' '$2 !~ /^\"/ && NF > 1 && $".column." != \"n/a\" && (m == \"\" || $".column." + 0 < m) { m = $".column." } END { print m + 0 }' '".f."'"))

# The number of lines of bars, below one heading.
rows_of(f) = real(system("grep -vc -e '^#' -e '^$' '".f."'")) - 1
# A figure in at least n digits.
plain(n, v) = v >= 10 ** n ? sprintf("%.0f", v) : sprintf("%.".n."g", v)
digits(n, v) = v >= 1e9 ? plain(n, v / 1e9)."G" : v >= 1e6 ? plain(n, v / 1e6)."M" : v >= 1e3 ? plain(n, v / 1e3)."k" : \
	plain(n, v)

# Before is blue and left, after is vermilion and right, everywhere.
before_color = 0x0072b2
after_color = 0xd55e00
is_after(title) = strstrt(title, "after") == 1
side_color(title) = is_after(title) ? after_color : before_color

# One colour a class: Okabe and Ito's, blue-violet for swap, grey for those that rarely come.
class_of(title) = is_after(title) ? title[7:*] : strstrt(title, "before ") == 1 ? title[8:*] : title
starts(title, class) = strstrt(class_of(title), class) == 1
class_color(title) = starts(title, "map") ? 0x0072b2 : starts(title, "reuse") ? 0xd55e00 : \
	starts(title, "cow") ? 0x009e73 : starts(title, "spurious") ? 0xcc79a7 : \
	starts(title, "file") ? 0x56b4e9 : starts(title, "shared") ? 0xe69f00 : \
	starts(title, "zero") ? 0x000000 : starts(title, "swap") ? 0x3300cc : 0x606060
# Their marks and patterns differ, too, for prints without colour.
class_mark(title) = starts(title, "map") ? 7 : starts(title, "reuse") ? 5 : \
	starts(title, "cow") ? 9 : starts(title, "file") ? 6 : starts(title, "zero") ? 4 : \
	starts(title, "spurious") ? 13 : starts(title, "access") ? 2 : 8

# Whether a figure has two sides: then panels stand side by side.
two_sided(f) = strstrt(titles(f), "\"after") > 0 || strstrt(titles(f), "\"before") > 0
in_panel(title, panel, panels) = panels == 1 || (panel == 2) == is_after(title)
panel_name(panel, panels) = panels == 1 ? "" : panel == 1 ? ", before" : ", after"

# The place of a title's row among the rows of both sides, which a dash or a pattern stands for: eval(number_rows).
number_rows = "rows = ''; do for [i = 1:words(all)] { if (strstrt(rows, '\"'.class_of(word(all, i)).'\"') == 0) \
	{ rows = rows.' \"'.class_of(word(all, i)).'\"' } }"
row_number(title) = (sum [r = 1:words(rows)] (word(rows, r) eq class_of(title) ? r : 0))

# The picture of a file that has nothing to draw: it says so.
empty = "set border 0; unset tics; unset grid; unset key; unset xlabel; unset ylabel; \
set label 1 'nothing to draw: '.why at graph 0.5, 0.5 center; plot [0:1] [0:1] NaN notitle"

# Point the output at dir/name.png or .svg.
terminal(kind, name) = (kind eq "png" ? \
	"set terminal pngcairo size 800,500 font 'DejaVu Sans,11' noenhanced; " : \
	"set terminal svg size 800,500 dynamic font 'DejaVu Sans,sans-serif,13' noenhanced background '#ffffff'; ") \
	."set output '".dir."/".name.".".kind."'"

# Marks at 1, 2 and 5 of each power of ten, or at fewer where that would be too many: eval(log_tics("x", low, high)),
# high > low > 0, for an axis of that range.
log_tics(axis, low, high) = "set ".axis."tics (".log_marks(high / low > 300 ? "1" : high / low > 30 ? "1 3" : \
	high / low > 5 ? "1 2 5" : "1 1.2 1.5 2 2.5 3 4 5 6 8", \
	-3, "").")"
log_marks(ms, e, list) = e > 15 ? list[3:*] : log_marks(ms, e + 1, list.power_marks(ms, e, 1))
power_marks(ms, e, i) = i > words(ms) ? "" : \
	sprintf(", '%s' %se%d", digits(2, word(ms, i) * 10.0 ** e), word(ms, i), e).power_marks(ms, e, i + 1)

# An axis of seconds in the unit that suits its largest value: time_unit(max) is what a second is divided by.
time_unit(max) = max >= 1 ? 1.0 : max >= 1e-3 ? 1e3 : 1e6
time_name(max) = max >= 1 ? "s" : max >= 1e-3 ? "ms" : "µs"
# axis(f) with that unit; ticks stay ticks.
is_seconds(axis) = strstrt(axis, " (s)") > 0
time_axis(axis, max) = is_seconds(axis) ? axis[1:strstrt(axis, " (s)")]."(".time_name(max).")" : axis
