# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# Packages of Debian without root and without a trace outside the cache. Sourced, never run.

# The Debian archives this machine uses, from both styles of apt source: lines "URI SUITE KEYRING|-".
machine_sources() {
	local etc
	etc=$(apt-config shell d Dir::Etc/d | sed "s/^d='\(.*\)'$/\1/")
	cat "$etc"/sources.list "$etc"/sources.list.d/*.list 2>/dev/null | awk '
		$1 == "deb" {
			sub(/#.*/, ""); key = "-"
			if (match($0, /\[[^]]*\]/)) {
				opts = substr($0, RSTART + 1, RLENGTH - 2)
				$0 = substr($0, 1, RSTART - 1) substr($0, RSTART + RLENGTH)
				if (match(opts, /signed-by=[^ ]+/))
					key = substr(opts, RSTART + 10, RLENGTH - 10)
			}
			print $2, $3, key
		}'
	for file in "$etc"/sources.list.d/*.sources; do
		[ -e "$file" ] || continue
		awk '
			function flush(	i, j, nu, ns, u, s) {
				if (f["types"] ~ /(^| )deb( |$)/ && f["enabled"] !~ /^ *no/) {
					nu = split(f["uris"], u, " "); ns = split(f["suites"], s, " ")
					key = f["signed-by"] ~ /^ *\/[^ ]+ *$/ ? f["signed-by"] : "-"
					gsub(/ /, "", key)
					for (i = 1; i <= nu; i++)
						for (j = 1; j <= ns; j++)
							print u[i], s[j], key
				}
				split("", f)
			}
			/^#/ { next }
			/^[ \t]*$/ { flush(); next }
			/^[ \t]/ { f[name] = f[name] " " $0; next }
			{ name = tolower(substr($0, 1, index($0, ":") - 1)); f[name] = substr($0, index($0, ":") + 1) }
			END { flush() }' "$file"
	done
}

# Writes the private source list: each suite at the URI that serves it here, else (a suite that is not
# enabled) at the URI of the release itself.
write_sources() {
	local codename=$1 suites=$2 suite known
	known=$(machine_sources)
	for suite in $suites; do
		awk -v want="$suite" -v base="$codename" '
			$2 == base { at_base = at_base entry(want) }
			$2 == want { exact = exact entry(want) }
			function entry(suite) {
				return "deb " ($3 == "-" ? "" : "[signed-by=" $3 "] ") $1 " " suite " main\n"
			}
			END { printf "%s", exact != "" ? exact : want ~ /-security$/ ? "" : at_base }' <<<"$known"
	done | sort -u
}

# Fills the array apt_opts: apt under a configuration that reads and writes below the folder $1 alone.
private_apt() {
	mkdir -p "$1/lists/partial" "$1/archives/partial" "$1/empty"
	apt_opts=(-q -o "Dir::Etc::sourcelist=$1/sources.list" -o "Dir::Etc::sourceparts=$1/empty"
		-o "Dir::Etc::preferencesparts=$1/empty" -o "Dir::State::lists=$1/lists" -o "Dir::Cache=$1"
		-o "Dir::Cache::archives=$1/archives" -o APT::Sandbox::User=
		-o Acquire::Languages=none)
}
