#!/usr/bin/env bash
# Installs everything that building, running and testing weir needs, on Debian 12 or 13 (x86-64, arm64).
# Idempotent: a second run only checks. Every step prints one line; a failing step says what to do.
#
# usage: scripts/setup.sh [--no-apt]     --no-apt: only check the packages, never install them
#
# What lands where: Debian packages by apt; ONNX Runtime (library from the pinned PyPI wheel, headers from the
# Debian package) and the Python test environment under .deps/ of this checkout.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
deps=$root/.deps
ort_version=1.32.0        # the shared library; needs glibc 2.28
ort_api_suite=trixie      # the Debian release whose libonnxruntime-dev gives the headers (API 21)
ort_dev_package=libonnxruntime-dev

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: error: %s\n' "$*" >&2; exit 1; }

packages=(
  build-essential cmake ninja-build ccache pkg-config git curl ca-certificates xz-utils
  python3 python3-venv python3-pip
  libonnx-dev libprotobuf-dev protobuf-compiler
  libssl-dev libsimdjson-dev libicu-dev libcli11-dev libtomlplusplus-dev
  libspdlog-dev libfmt-dev prometheus-cpp-dev
  libhwloc-dev libnuma-dev libgoogle-perftools-dev
  libgtest-dev libbenchmark-dev
  wrk
)

apt_mode=install
for argument in "$@"; do
  case $argument in
    --no-apt) apt_mode=check ;;
    -h|--help) sed -n '2,8s/^# \{0,1\}//p' "$0"; exit 0 ;;
    *) die "unknown argument '$argument' (see scripts/setup.sh --help)" ;;
  esac
done

id=unknown version=unknown
if [ -r /etc/os-release ]; then
  id=$(. /etc/os-release && echo "${ID:-unknown}")
  version=$(. /etc/os-release && echo "${VERSION_ID:-unknown}")
fi
case "$id-$version" in
  debian-12) packages+=(libboost1.81-dev libboost-json1.81-dev) ;;
  debian-13) packages+=(libboost-dev libboost-json-dev) ;;
  *)
    say "this is '$id $version', not Debian 12 or 13: nothing is installed here."
    say "Install the equivalents of these Debian packages yourself:"
    printf '  %s\n' "${packages[@]}" "libboost (1.81 or newer: headers and Boost.JSON)"
    say "and ONNX Runtime (headers and library), then configure with -DONNXRUNTIME_ROOT=/path/to/onnxruntime."
    die "unsupported distribution" ;;
esac

as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"
  elif command -v sudo >/dev/null; then sudo "$@"
  else die "installing packages needs root: run as root, install sudo, or install the packages above and use --no-apt"
  fi
}

missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true)
  case $state in ii*) ;; *) missing+=("$package") ;; esac
done
if [ ${#missing[@]} = 0 ]; then
  say "Debian packages: all ${#packages[@]} present"
elif [ "$apt_mode" = check ]; then
  die "missing Debian packages: ${missing[*]}"
else
  say "Debian packages: installing ${missing[*]}"
  as_root apt-get update -qq || die "apt-get update failed: check the network and /etc/apt/sources.list"
  as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" \
    >/dev/null || die "apt-get install failed for: ${missing[*]}"
fi

mkdir -p "$deps"

# --- ONNX Runtime -------------------------------------------------------------------------------------------------
case $(dpkg --print-architecture) in
  amd64) wheel_platform=manylinux_2_28_x86_64 ;;
  arm64) wheel_platform=manylinux_2_28_aarch64 ;;
  *) die "no ONNX Runtime wheel for $(dpkg --print-architecture): configure with -DONNXRUNTIME_ROOT=" ;;
esac

ort=$deps/onnxruntime-$ort_version
if [ -f "$ort/complete" ]; then
  say "ONNX Runtime $ort_version: present"
else
  work=$(mktemp -d "$deps/ort.XXXXXX")
  trap 'rm -rf "$work"' EXIT
  mkdir -p "$work/root/lib" "$work/root/include"

  say "ONNX Runtime $ort_version: library from the PyPI wheel ($wheel_platform)"
  python3 -m venv "$work/venv" || die "python3 -m venv failed: is python3-venv installed?"
  "$work/venv/bin/pip" download -q --no-deps --only-binary=:all: --python-version 3.12 \
    --platform "$wheel_platform" -d "$work" "onnxruntime==$ort_version" ||
    die "could not download the onnxruntime $ort_version wheel: check that PyPI is reachable"
  (cd "$work" && python3 -m zipfile -e onnxruntime-*.whl wheel)
  library=$(find "$work/wheel/onnxruntime/capi" -name 'libonnxruntime.so.*' | head -n 1)
  [ -n "$library" ] || die "the onnxruntime wheel holds no libonnxruntime.so.*"
  cp "$library" "$work/root/lib/"
  ln -s "$(basename "$library")" "$work/root/lib/libonnxruntime.so.1"
  ln -s libonnxruntime.so.1 "$work/root/lib/libonnxruntime.so"
  cp "$work/wheel/onnxruntime/LICENSE" "$work/wheel/onnxruntime/ThirdPartyNotices.txt" "$work/root/"

  # The headers come from Debian's package, read through a private sources list with the machine's own mirror, so that
  # nothing of another release can be installed by accident.
  say "ONNX Runtime headers: $ort_dev_package of Debian $ort_api_suite"
  mirror=$({ sed -n 's/^URIs: *\([^ ]*\).*/\1/p' /etc/apt/sources.list.d/*.sources
             sed -n 's/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\).*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list
           } 2>/dev/null | grep -E '/debian/?$' | head -n 1 || true)
  [ -n "$mirror" ] || die "no Debian mirror found in /etc/apt/sources.list*: configure with -DONNXRUNTIME_ROOT="
  mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $ort_api_suite main" \
    > "$work/apt/sources.list"
  apt_private=(apt-get -qq -o "Dir::Etc::sourcelist=$work/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$work/apt/lists" -o "Dir::Cache::archives=$work/apt/archives"
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache= -o APT::Sandbox::User=root -o Acquire::Languages=none)
  "${apt_private[@]}" update || die "could not read the package list of Debian $ort_api_suite at $mirror"
  (cd "$work/apt" && "${apt_private[@]}" download "$ort_dev_package") ||
    die "could not download $ort_dev_package from $mirror"
  dpkg-deb -x "$work"/apt/${ort_dev_package}_*.deb "$work/dev"
  cp -r "$work"/dev/usr/include/onnxruntime/. "$work/root/include/"
  find "$work/root/include" -name onnxruntime_cxx_api.h | grep -q . || die "$ort_dev_package holds no C++ headers"

  touch "$work/root/complete"
  rm -rf "$ort"
  mv "$work/root" "$ort"
  rm -rf "$work"
  trap - EXIT
fi
ln -sfn "onnxruntime-$ort_version" "$deps/onnxruntime"

# --- Python environment of the tests and style checks ---------------------------------------------------------------
requirements=$root/scripts/requirements-test.txt
stamp=$deps/venv/requirements-test.txt
if cmp -s "$requirements" "$stamp"; then
  say "Python test environment: present"
else
  say "Python test environment: $(grep -vc '^ *\(#\|$\)' "$requirements") packages from PyPI into .deps/venv"
  rm -rf "$deps/venv"
  python3 -m venv "$deps/venv" || die "python3 -m venv failed: is python3-venv installed?"
  "$deps/venv/bin/pip" install -q -r "$requirements" ||
    die "pip could not install scripts/requirements-test.txt: check that PyPI is reachable"
  cp "$requirements" "$stamp"
fi
say "done"
