# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# What ./warpwright and ./test share: the packages they need, and configuring and building quietly.
# Sourced, never run. Expects `root` (the repository) and `me` (the name for messages) to be set.
# Everything said here goes to stderr: stdout belongs to the program.

: "${root:?}" "${me:?}"
missing=() # packages we need and do not have
why_not=   # why they could not be installed

# One row per package: name, who needs it, how it is recognised, what it is for.
#   who:  run = to build the program, test = to build and run the tests, lint = for ./test --lint,
#         fuzz = for ./test --fuzz, edit = an editor for ./test, which skips tests without; editors,
#         eglot = others for ./test --thorough,
#         torch = programs that `python -m warpwright check` runs in ./test
#         browser = for ./test --browser, release = for scripts/release.sh
#   how:  a command that must be on the PATH, or - for a library, which dpkg is asked about
packages=(
  "g++                run   g++           C++23 compiler, version 12 or newer"
  "cmake              run   cmake         build system, version 3.25 or newer"
  "ninja-build        run   ninja         runs the build"
  "libfmt-dev         run   -             text formatting (fmt)"
  "nlohmann-json3-dev run   -             JSON (nlohmann_json)"
  "libbenchmark-dev   run   -             benchmarks (Google Benchmark)"
  "libcpp-httplib-dev run   -             the explorer's server (cpp-httplib)"
  "libjs-codemirror   run   -             the explorer's editor (CodeMirror)"
  "libgtest-dev       test  -             tests (GoogleTest)"
  "libgmock-dev       test  -             matchers for tests (GoogleMock)"
  "python3            test  python3       layer check, test report, generated pages; standard library only"
  "neovim             edit  nvim          an editor, to test the language server with"
  "emacs-nox          editors emacs         another one"
  "elpa-eglot         eglot -             its client of language servers, a part of Emacs from 29 on"
  "nodejs             editors node          runs the extension for VS Code"
  "clang-format       test  clang-format  format check (version 14)"
  "clang-tidy         lint  clang-tidy    lint (version 14)"
  "clang              fuzz  clang++       tells where libFuzzer is"
  "libclang-rt-14-dev fuzz  -             libFuzzer"
  "python3-torch      torch -             PyTorch for the CPU, for programs that are checked"
  "chromium           browser chromium    a browser, for the explorer's page"
  "chromium-driver    browser chromedriver drives it"
  "python3-selenium   browser -           drives it from Python"
  "dpkg-dev           release dpkg-shlibdeps finds what the Debian package depends on"
  "mmdebstrap         release mmdebstrap  makes an empty system to install that package in"
)

say() { printf '%s: %s\n' "$me" "$*" >&2; }

# needed_rows WHO...: the rows for these purposes.
needed_rows() {
  local row name who how what purpose
  for row in "${packages[@]}"; do
    read -r name who how what <<<"$row"
    for purpose in "$@"; do
      [[ $who == "$purpose" ]] && printf '%s\n' "$name $how $what"
    done
  done
  return 0
}

# missing_packages WHO...: names, one per line. Commands are looked up on the PATH, so one installed
# by hand counts; libraries are dpkg's to know. Without dpkg libraries are left for CMake to find.
missing_packages() {
  local name how what installed=" "
  if command -v dpkg-query >/dev/null; then
    installed+=$(dpkg-query -W -f='${db:Status-Status}=${Package} ' 2>/dev/null)
  fi
  while read -r name how what; do
    if [[ $how != - ]]; then
      command -v "$how" >/dev/null || printf '%s\n' "$name"
    elif [[ $installed != " " && $installed != *" installed=$name "* ]]; then
      printf '%s\n' "$name"
    fi
  done < <(needed_rows "$@")
}

# as_root: prints the words that give us root rights (none for root itself); or fails, printing why.
as_root() {
  if ((EUID == 0)); then
    return 0
  elif ! command -v sudo >/dev/null; then
    echo "that takes root rights, and there is no sudo here"
    return 1
  elif sudo -n true 2>/dev/null; then
    echo "sudo -n"
  elif [[ -t 0 && -t 2 ]]; then
    echo "sudo"
  else
    echo "that takes root rights, and sudo wants a password but there is no terminal"
    return 1
  fi
}

# install_packages NAME...: through apt-get, saying so. On failure sets `why_not` and returns 1.
# Log: build/setup.log. A job that may be killed sets `detached`, because dpkg does not survive that.
install_packages() {
  local words log="$root/build/setup.log"
  local -a rights
  if ! command -v apt-get >/dev/null; then
    why_not="there is no apt-get here"
    return 1
  fi
  if ! words=$(as_root); then
    why_not=$words
    return 1
  fi
  read -ra rights <<<"${detached-} $words"
  local -a apt=("${rights[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q
    -o DPkg::Lock::Timeout=120 -o Acquire::Retries=1 -o Acquire::http::Timeout=20)
  say "installing packages: $*"
  if "${apt[@]}" install -y --no-install-recommends "$@" >"$log" 2>&1 </dev/null; then
    return 0
  fi
  # The usual reason on a fresh machine is that the package lists were never fetched.
  if "${apt[@]}" update >>"$log" 2>&1 </dev/null &&
    "${apt[@]}" install -y --no-install-recommends "$@" >>"$log" 2>&1 </dev/null; then
    return 0
  fi
  why_not="apt-get failed: $(grep -E '^E: ' "$log" | head -n 1)"
  [[ $why_not == *"E: "* ]] || why_not="apt-get failed; its output is in $log"
  return 1
}

# find_missing WHO...: fills `missing`.
find_missing() {
  mapfile -t missing < <(missing_packages "$@")
}

# install_missing WHO...: installs what `missing` names and looks again. What could not be installed
# stays there: the build may work all the same (libraries under /usr/local, say), so only CMake's
# failure to find something makes it an error; see report_missing.
install_missing() {
  why_not=
  if ((${#missing[@]} > 0)) && install_packages "${missing[@]}"; then
    hash -r
    find_missing "$@"
  fi
}

# report_missing WHO...: after a failed configuration, says what is missing and how to get it.
# Returns 1 when, as far as can be told, nothing is.
report_missing() {
  if ((${#missing[@]} > 0)); then
    local sudo="sudo "
    ((EUID != 0)) || sudo=
    say "missing packages: ${missing[*]}"
    [[ -z $why_not ]] || say "they could not be installed: $why_not"
    ! command -v apt-get >/dev/null || say "install them with: ${sudo}apt-get install ${missing[*]}"
    return 0
  fi
  return 1
}

# report_looked_for WHO...: for systems without dpkg, where package names are only a hint.
report_looked_for() {
  local name how what
  say "looked for these tools and libraries (Debian's package names on the left):"
  while read -r name how what; do
    printf '  %-20s %s\n' "$name" "$what" >&2
  done < <(needed_rows "$@")
}

# with_build_lock COMMAND...: one build at a time per checkout. The command runs without the lock's
# descriptor, so nothing it starts can outlive the build and hold on to it.
with_build_lock() {
  if ! mkdir -p "$root/build" 2>/dev/null || [[ ! -w $root/build ]]; then
    say "cannot write to $root/build, where the build goes"
    return 2
  fi
  local status=0
  exec 9>"$root/build/.lock"
  if command -v flock >/dev/null && ! flock -n 9; then
    [[ ! -t 2 ]] || say "waiting for another build of this checkout"
    flock 9
  fi
  "$@" 9>&- || status=$?
  exec 9>&-
  return "$status"
}

# is_configured PRESET: whether build/PRESET was configured for this path, with these packages and
# the present presets. (What else changes the configuration, the build itself notices.)
is_configured() {
  local marker="$root/build/$1/.configured"
  [[ -f $marker && $(<"$marker") == "$root|${missing[*]}" ]] &&
    [[ ! $root/CMakePresets.json -nt $marker ]]
}

# configure PRESET [CMAKE-ARGUMENT...]: build/PRESET. A build folder that was made for another path (a
# checkout that was moved) is made anew, since its commands and lists of dependencies name that path.
# Log: build/PRESET.log.
configure() {
  local preset=$1 dir="$root/build/$1" log="$root/build/$1.log" made_for
  local -a generator=()
  shift
  if made_for=$(sed -n 's/^CMAKE_HOME_DIRECTORY:INTERNAL=//p' "$dir/CMakeCache.txt" 2>/dev/null) &&
    [[ $made_for != "$root" ]]; then
    say "building everything again: build/$preset was made for $made_for"
    rm -rf "$dir"
  fi
  rm -f "$dir/.configured"
  if ! command -v cmake >/dev/null; then
    echo "cmake: not found on the PATH" >"$log"
    return 1
  fi
  if [[ ! -f $dir/build.ninja ]] && ! command -v ninja >/dev/null; then
    generator=(-G "Unix Makefiles")
  fi
  (cd "$root" && cmake --preset "$preset" "${generator[@]}" "$@") >"$log" 2>&1 </dev/null || return 1
  printf '%s\n' "$root|${missing[*]}" >"$dir/.configured"
}

# --- how long a build will take -------------------------------------------------------------------
#
# Ninja counts steps, and one takes a tenth of a second, another a minute. So each compilation gets a weight from its
# sources, those that are done tell how long a unit of weight takes on this machine, and the others are spread over
# the cores. tests/tools/checkout/forecast.sh replays recorded builds.

# plan_build PRESET TARGET...: prints what ninja is going to compile, in its order, a line each: weight, whether the
# precompiled header comes first (1 or 0), output. A file weighs 1 for each line that names the standard library,
# whose templates take most of a compiler's time, and an eighth of that for the headers it includes. Measured: within
# a quarter for most folders. The loops of src/sim at -O3 take 2.2 times as long.
plan_build() {
  local dir="$root/build/$1" each
  local -a targets=()
  for each in "${@:2}"; do
    [[ $each != -- ]] || break # options of the build
    targets+=("$each")
  done
  # A dry run of build.ninja itself ends where CMake would look for new sources.
  [[ -f $dir/build.ninja ]] && cp "$dir/build.ninja" "$dir/plan.ninja" || return 0
  {
    (cd "$root" && grep -rE --include='*.cpp' --include='*.h' 'std::|^#include "' src tests bench python)
    ninja -C "$dir" -f plan.ninja -n -v "${targets[@]}"
  } 2>/dev/null | awk -v root="$root/" '
    function headers_of(path, seen, each, sum, name) {
      for (each = 1; each <= includes[path]; ++each) {
        name = "src/" include[path, each]
        if (!(name in lines)) name = "tests/" include[path, each]
        if (!(name in lines) || name in seen) continue
        seen[name]
        sum += lines[name] / 8 + headers_of(name, seen)
      }
      return sum
    }
    function weight_in(path, seen) { return lines[path] + headers_of(path, seen) }
    function weight_of(source, line, part, sum, seen) {
      if (source ~ /cmake_pch/) return 170
      split("", seen)
      sum = 36
      if (source ~ /\/Unity\//) {
        while ((getline line < source) > 0)
          if (split(line, part, "\"") == 3) sum += weight_in(substr(part[2], length(root) + 1), seen)
      } else {
        sum += weight_in(substr(source, length(root) + 1), seen)
      }
      return sum
    }
    /^\[/ {
      if (!match($0, / -o [^ ]+ -c /)) next
      output = substr($0, RSTART + 4, RLENGTH - 8)
      source = substr($0, RSTART + RLENGTH)
      gsub(/["\047\\]/, "", source)
      weight = weight_of(source) * (output ~ /ww_sim\.dir/ ? 2.2 : 1)
      printf "%d %d %s\n", weight, / -include .*cmake_pch/, output
      next
    }
    {
      path = substr($0, 1, index($0, ":") - 1)
      text = substr($0, length(path) + 2)
      if (text !~ /^#include/) ++lines[path]
      else if (split(text, part, "\"") == 3) { lines[path] += 0; include[path, ++includes[path]] = part[2] }
    }'
  rm -f "$dir/plan.ninja"
}

# forecast PLAN CORES MILLISECONDS: prints how many seconds a build will go on that began so long ago. PLAN is what
# plan_build printed; what is compiled is read from stdin, a line each: after how many milliseconds, output. Prints
# nothing in the first tenth of the build, and without a plan.
forecast() {
  PLAN=$1 awk -v cores="$2" -v now="$3" '
    BEGIN {
      steps = split(ENVIRON["PLAN"], plan, "\n")
      for (i = 1; i <= steps; ++i) {
        split(plan[i], word, " ")
        weight[i] = word[1]; waits[i] = word[2]; number[word[3]] = i
        if (word[3] ~ /cmake_pch/ && !header) header = i # of the libraries, not of the tests
      }
    }
    $2 in number {
      end[number[$2]] = $1; ended[++done] = $1
      if (number[$2] > done + cores) is_mixed = 1 # in the plan it came later
    }
    # Each end lets the next step begin: the kth, as a rule the kth of the plan.
    function begin_of(k, waiting, begin) {
      begin = k > cores ? ended[k - cores] : 0
      return waiting && begin < start ? start : begin
    }
    END {
      start = header in end ? end[header] : 0
      if (cores <= 2) is_mixed = 1 # one step that ninja puts off would count for half of the build
      for (i = 1; i <= steps; ++i) {
        waiting = waits[i] && header && i != header
        if (i in end) {
          units += weight[i]
          time += end[i] - (is_mixed ? 0 : begin_of(i, waiting))
        } else if (running < cores && (is_mixed || i - cores <= done) && !(waiting && !start)) {
          is_running[i] = 1
          ++running
          age[i] = now - begin_of(is_mixed ? done + running : i, waiting)
          ages += age[i]
        }
      }
      # In a mixed order the sums are right all the same: as many have begun as have ended or run.
      if (is_mixed) for (k = 1; k <= done; ++k) time -= begin_of(k, k > 2)
      if (units == 0 || time <= 0) exit
      # What runs is done as far as its age tells, at most wholly.
      rate = units / time
      for (round = 1; round <= 5 && !is_mixed; ++round) {
        sum = units
        for (i in age) sum += age[i] * rate < weight[i] ? age[i] * rate : weight[i]
        rate = sum / (time + ages)
      }
      for (i = 1; i <= cores; ++i) free[i] = 0
      core = 0
      for (i in age) {
        left = weight[i] / rate - age[i]
        free[++core] = left > weight[i] / rate / 20 ? left : weight[i] / rate / 20
      }
      for (i = 1; i <= steps; ++i) {
        if (i in end || is_running[i]) continue
        first = 1
        for (core = 2; core <= cores; ++core) if (free[core] < free[first]) first = core
        free[first] += weight[i] / rate
      }
      for (core = 1; core <= cores; ++core) if (free[core] > last) last = free[core]
      if (now * 9 >= last) printf "%d\n", last / 1000 + 0.5
    }'
}

# duration SECONDS: "40 s", "3 min 20 s", "12 min".
duration() {
  local tens=$((($1 + 5) / 10))
  if (($1 < 100)); then
    printf '%d s' "$1"
  elif (($1 < 600)); then
    printf '%d min %02d s' $((tens / 6)) $((tens % 6 * 10))
  else
    printf '%d min' $((($1 + 30) / 60))
  fi
}

# milliseconds: of the clock.
milliseconds() {
  local now=${EPOCHREALTIME:-${SECONDS}000000}
  echo $((${now//[!0-9]/} / 1000))
}

# show_line TEXT: on the terminal, in place of the one before.
show_line() { printf '\r\033[K%s' "$1" >&2; }

# progress LABEL PLAN CORES: reads what ninja or make writes, and shows how far they are and how long it will take:
# on a terminal in one line that changes, elsewhere in a line every half minute.
progress() {
  local label=$1 plan=$2 cores=$3 begin shown=$SECONDS line="" text="" left="" steps="" status
  local forecast_at=$SECONDS
  begin=$(milliseconds)
  while true; do
    status=0
    IFS= read -r -t 5 line || status=$?
    if ((status == 0)); then
      printf '%s\n' "$line" >&3
      if [[ $line =~ ^\[\ *([0-9]+)(/([0-9]+)|%)\] ]]; then
        text="$label ${BASH_REMATCH[1]}${BASH_REMATCH[2]}"
        steps+="$(($(milliseconds) - begin)) ${line##* }"$'\n'
      fi
    elif ((status <= 128)); then
      break # the end
    fi
    if [[ -n $plan ]] && ((SECONDS > forecast_at)); then
      left=$(forecast "$plan" "$cores" $(($(milliseconds) - begin)) <<<"$steps")
      left=${left:+, about $(duration "$left") left}
      forecast_at=$SECONDS
    fi
    [[ ! -t 2 || -z $text ]] || show_line "$me: $text$left"
    if [[ ! -t 2 && -n $text ]] && ((SECONDS - shown >= 30)); then
      say "$text$left"
      shown=$SECONDS
    fi
  done
  [[ ! -t 2 ]] || show_line ""
}

# build PRESET TARGET...: shows how far it is. Log: build/PRESET.log.
build() {
  local preset=$1 dir="$root/build/$1" log="$root/build/$1.log" cores plan
  cores=$(nproc 2>/dev/null || echo 2)
  plan=$(plan_build "$@")
  shift
  local -a command=(cmake --build "$dir" --parallel "$cores" --target "$@")
  "${command[@]}" 2>&1 </dev/null | progress "building ($preset)" "$plan" "$cores" 3>>"$log"
  return "${PIPESTATUS[0]}"
}

# show_log PRESET: the part of the log that explains a failure.
show_log() {
  local log="$root/build/$1.log"
  # ninja marks each step that failed; the next line is the command, what follows the compiler's word.
  if grep -q '^FAILED: ' "$log"; then
    sed -n '/^FAILED: /,$p' "$log" | sed -e '/^FAILED: /{N;d;}' -e '/^\[[0-9]*\/[0-9]*\] /d' \
      -e '/^ninja: /d' -e '/^cc1plus: all warnings/d' | head -n 60 >&2
  else
    tail -n 30 "$log" >&2
  fi
  say "the whole log is in $log"
}
