#!/usr/bin/env bash
# Installs everything that building, running and testing weir needs, on Debian 12 or 13 (x86-64, arm64).
# Idempotent: a second run only checks. Every step prints one line; a failing step says what to do.
#
# usage: scripts/setup.sh [--no-tests] [--dev] [--no-apt] [-DONNXRUNTIME_ROOT=DIR]
#   --no-tests             without the Python environment of the tests and style checks
#   --dev                  with clang and libFuzzer as well, for `make fuzz`
#   --no-apt               only check the Debian packages, never install them
#   -DONNXRUNTIME_ROOT=DIR use the ONNX Runtime (1.21 or newer) in DIR, a folder with include/ and lib/
#
# What lands where: Debian packages by apt; ONNX Runtime (library from the pinned PyPI wheel, headers from a Debian
# package) and the Python environment under .deps/ of this checkout. On another distribution nothing is installed: the
# script names what the machine lacks, and goes on when it lacks nothing and is given an ONNX Runtime.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
deps=$root/.deps
ort_version=1.32.0        # the shared library; needs glibc 2.28
ort_api_suite=trixie      # the Debian release whose libonnxruntime-dev gives the headers (API 21)
ort_dev_package=libonnxruntime-dev

say() { printf 'setup: %s\n' "$*"; }
die() { printf 'setup: error: %s\n' "$*" >&2; exit 1; }

with_apt=yes with_tests=yes with_dev=no ort_root=
for argument in "$@"; do
  case $argument in
    --no-apt) with_apt=no ;;
    --no-tests) with_tests=no ;;
    --dev) with_dev=yes ;;
    -DONNXRUNTIME_ROOT=?*) ort_root=${argument#*=} ;;
    -h|--help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//p}' "$0"; exit 0 ;;
    *) die "unknown argument '$argument' (see scripts/setup.sh --help)" ;;
  esac
done

# --- Packages of the distribution -----------------------------------------------------------------------------------
packages=(
  build-essential cmake ninja-build ccache pkg-config git curl ca-certificates
  python3 python3-venv python3-pip
  libonnx-dev libprotobuf-dev protobuf-compiler libgrpc++-dev protobuf-compiler-grpc
  libssl-dev libsimdjson-dev libicu-dev libcli11-dev libtomlplusplus-dev
  libspdlog-dev libfmt-dev prometheus-cpp-dev
  libhwloc-dev libnuma-dev libgoogle-perftools-dev
  libgtest-dev libbenchmark-dev
  wrk
)

install_debian_packages() {
  local missing=() package
  for package in "${packages[@]}"; do
    case $(dpkg-query -W -f='${db:Status-Abbrev}' "$package" 2>/dev/null || true) in
      ii*) ;;
      *) missing+=("$package") ;;
    esac
  done
  if [ ${#missing[@]} = 0 ]; then
    say "Debian packages: all ${#packages[@]} present"
    return
  fi
  [ $with_apt = yes ] || die "missing Debian packages: ${missing[*]}"
  local sudo=()
  if [ "$(id -u)" != 0 ]; then
    command -v sudo >/dev/null ||
      die "installing packages needs root. As root, run: apt-get install --no-install-recommends ${missing[*]}"
    sudo=(sudo)
  fi
  say "Debian packages: installing ${missing[*]}"
  [ ${#sudo[@]} = 0 ] || sudo true ||
    die "sudo refused. As root, run: apt-get install --no-install-recommends ${missing[*]}"
  # A third-party source that fails is no reason to stop: what counts is whether the packages can be had.
  "${sudo[@]}" apt-get -qq -o Acquire::Retries=3 update ||
    say "warning: apt-get update reported errors; going on with the package lists there are"
  "${sudo[@]}" env DEBIAN_FRONTEND=noninteractive \
    apt-get -qq -o Acquire::Retries=3 install --no-install-recommends "${missing[@]}" >/dev/null ||
    die "apt-get could not install: ${missing[*]}. Check the network, and that main of this release is in /etc/apt"
}

# Elsewhere the names of packages differ, so the compiler is asked. One "what to include:Debian's name" a line.
probe_other_distribution() {
  local lacking=() program pair
  for program in g++ cmake ninja pkg-config protoc grpc_cpp_plugin python3; do
    command -v $program >/dev/null || lacking+=("the program $program")
  done
  if command -v g++ >/dev/null; then
    for pair in boost/json.hpp:libboost-json-dev boost/beast.hpp:libboost-dev openssl/ssl.h:libssl-dev \
      google/protobuf/message.h:libprotobuf-dev grpcpp/grpcpp.h:libgrpc++-dev onnx/onnx-ml.pb.h:libonnx-dev simdjson.h:libsimdjson-dev \
      unicode/unorm2.h:libicu-dev CLI/CLI.hpp:libcli11-dev toml++/toml.h:libtomlplusplus-dev \
      spdlog/spdlog.h:libspdlog-dev fmt/format.h:libfmt-dev prometheus/registry.h:prometheus-cpp-dev \
      hwloc.h:libhwloc-dev gtest/gtest.h:libgtest-dev; do
      echo "#if !__has_include(<${pair%%:*}>)
#error
#endif" | g++ -std=c++20 -fsyntax-only -x c++ - 2>/dev/null ||
        lacking+=("the header <${pair%%:*}> (Debian: ${pair##*:})")
    done
  fi
  if [ -z "$ort_root" ] && [ ! -e "$deps/onnxruntime" ]; then
    lacking+=("ONNX Runtime 1.21 or newer: give its folder by -DONNXRUNTIME_ROOT=DIR")
  fi
  [ ${#lacking[@]} = 0 ] && return
  say "this machine lacks:"
  printf '  - %s\n' "${lacking[@]}"
  die "install these and run the script again"
}

id=unknown version=unknown
if [ -r /etc/os-release ]; then
  id=$(. /etc/os-release && echo "${ID:-unknown}")
  version=$(. /etc/os-release && echo "${VERSION_ID:-unknown}")
fi
case "$id-$version" in
  debian-12)
    packages+=(libboost1.81-dev libboost-json1.81-dev)
    [ $with_dev = no ] || packages+=(clang-16 libclang-rt-16-dev)
    install_debian_packages ;;
  debian-13)
    packages+=(libboost-dev libboost-json-dev)
    [ $with_dev = no ] || packages+=(clang-19 libclang-rt-19-dev)
    install_debian_packages ;;
  *)
    say "this is '$id $version', not Debian 12 or 13: nothing is installed, the machine is only looked at"
    probe_other_distribution ;;
esac

mkdir -p "$deps"

# Downloads one pinned wheel: fetch_wheel FOLDER PIP_OPTIONS… -- REQUIREMENT WITH HASHES
fetch_wheel() {
  local folder=$1 options=()
  shift
  while [ "$1" != -- ]; do options+=("$1"); shift; done
  shift
  echo "$*" > "$folder/requirement.txt"
  python3 -m pip download -q --disable-pip-version-check --no-deps --only-binary=:all: --require-hashes \
    "${options[@]}" -d "$folder" -r "$folder/requirement.txt" ||
    die "could not download the wheel '$1': check that PyPI is reachable (pip's own settings and PIP_* apply)"
}

# --- ONNX Runtime ---------------------------------------------------------------------------------------------------
fetch_onnxruntime_library() {
  local work=$1 platform hash library
  case $(dpkg --print-architecture) in
    amd64) platform=manylinux_2_28_x86_64 hash=99e1074c4b2197accd5073052a465361be17b89c093b8ffb6e6bd8f986c52df8 ;;
    arm64) platform=manylinux_2_28_aarch64 hash=e36c187006e7a7c8b8d6d57f1a209dd63f52430dca6c282b177718ad6b841054 ;;
    *) die "no ONNX Runtime wheel for $(dpkg --print-architecture): give yours by -DONNXRUNTIME_ROOT=DIR" ;;
  esac
  say "ONNX Runtime $ort_version: library from the PyPI wheel ($platform)"
  # By platform, so that the version of the machine's Python does not matter.
  fetch_wheel "$work" --python-version 3.12 --platform $platform -- \
    "onnxruntime==$ort_version" "--hash=sha256:$hash"
  python3 -m zipfile -e "$work"/onnxruntime-*.whl "$work/wheel"
  library=$(find "$work/wheel/onnxruntime/capi" -name 'libonnxruntime.so.*' -print -quit)
  [ -n "$library" ] || die "the onnxruntime wheel holds no libonnxruntime.so.*"
  cp "$library" "$work/root/lib/"
  ln -s "$(basename "$library")" "$work/root/lib/libonnxruntime.so.1"
  ln -s libonnxruntime.so.1 "$work/root/lib/libonnxruntime.so"
  cp "$work/wheel/onnxruntime/LICENSE" "$work/wheel/onnxruntime/ThirdPartyNotices.txt" "$work/root/"
}

# The headers come from Debian's package, read through a private sources list with the machine's own mirror, so that
# nothing of another release can be installed by accident.
fetch_onnxruntime_headers() {
  local work=$1 mirror apt_private
  say "ONNX Runtime headers: $ort_dev_package of Debian $ort_api_suite"
  mirror=$({ sed -n 's/^URIs: *\([^ ]*\).*/\1/p' /etc/apt/sources.list.d/*.sources
             sed -n 's/^deb \(\[[^]]*\] \)\{0,1\}\([^ ]*\).*/\2/p' /etc/apt/sources.list /etc/apt/sources.list.d/*.list
           } 2>/dev/null | grep -E '(/debian/?|/debian\.list)$' | head -n 1 || true)
  [ -n "$mirror" ] || die "no Debian mirror found in /etc/apt: give an ONNX Runtime by -DONNXRUNTIME_ROOT=DIR"
  mkdir -p "$work/apt/lists/partial" "$work/apt/archives/partial"
  echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $mirror $ort_api_suite main" \
    > "$work/apt/sources.list"
  apt_private=(apt-get -qq -o Acquire::Retries=3 -o Acquire::Languages=none -o APT::Sandbox::User=root
    -o "Dir::Etc::sourcelist=$work/apt/sources.list" -o Dir::Etc::sourceparts=/dev/null
    -o "Dir::State::lists=$work/apt/lists" -o "Dir::Cache::archives=$work/apt/archives"
    -o Dir::Cache::pkgcache= -o Dir::Cache::srcpkgcache=)
  "${apt_private[@]}" update || die "could not read the package list of Debian $ort_api_suite at $mirror"
  (cd "$work/apt" && "${apt_private[@]}" download "$ort_dev_package") ||
    die "could not download $ort_dev_package from $mirror"
  dpkg-deb -x "$work"/apt/${ort_dev_package}_*.deb "$work/dev"
  cp -r "$work"/dev/usr/include/onnxruntime/. "$work/root/include/"
  [ -n "$(find "$work/root/include" -name onnxruntime_cxx_api.h)" ] || die "$ort_dev_package holds no C++ headers"
}

use_own_onnxruntime() {
  ort_root=$(cd "$ort_root" 2>/dev/null && pwd) || die "ONNXRUNTIME_ROOT: no such folder"
  [ -n "$(find -L "$ort_root/include" -name onnxruntime_cxx_api.h 2>/dev/null)" ] ||
    die "ONNXRUNTIME_ROOT: no onnxruntime_cxx_api.h below $ort_root/include"
  [ -e "$ort_root/lib/libonnxruntime.so" ] || [ -e "$ort_root/lib64/libonnxruntime.so" ] ||
    die "ONNXRUNTIME_ROOT: no libonnxruntime.so in $ort_root/lib"
  rm -f "$deps/onnxruntime"
  ln -s "$ort_root" "$deps/onnxruntime"
}

work=
trap '[ -z "$work" ] || rm -rf "$work"' EXIT
link=$(readlink "$deps/onnxruntime" || true)
if [ -n "$ort_root" ]; then
  use_own_onnxruntime
  say "ONNX Runtime: your own, $ort_root"
elif [[ $link == /* && -d $link ]]; then
  say "ONNX Runtime: your own, $link (remove .deps/onnxruntime for the pinned one)"
elif [ -d "$deps/onnxruntime-$ort_version" ]; then
  say "ONNX Runtime $ort_version: present"
else
  work=$(mktemp -d "$deps/onnxruntime.XXXXXX")
  mkdir -p "$work/root/lib" "$work/root/include"
  fetch_onnxruntime_library "$work"
  fetch_onnxruntime_headers "$work"
  mv "$work/root" "$deps/onnxruntime-$ort_version"
fi
[[ $link == /* || -n $ort_root ]] || ln -sfn "onnxruntime-$ort_version" "$deps/onnxruntime"

# --- Python environment of the tests and style checks ---------------------------------------------------------------
requirements=$root/scripts/requirements-test.txt
stamp=$deps/venv/requirements-test.txt
if [ $with_tests = no ]; then
  say "Python test environment: not asked for"
elif cmp -s "$requirements" "$stamp"; then
  say "Python test environment: present"
else
  say "Python test environment: packages from PyPI into .deps/venv"
  rm -rf "$deps/venv"
  python3 -m venv "$deps/venv" || die "python3 -m venv failed: is python3-venv installed?"
  "$deps/venv/bin/pip" install -q --disable-pip-version-check -r "$requirements" ||
    die "pip could not install scripts/requirements-test.txt: check that PyPI is reachable (PIP_* settings apply)"
  cp "$requirements" "$stamp"
fi
say "done"
