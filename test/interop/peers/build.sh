#!/usr/bin/env bash
# Builds the programs that the tests in test/interop start, from the pinned Go modules in `modules`.
#
#   build.sh                  all of them
#   build.sh argocd ocm ...   those of these modules: etcd, kubernetes, ocm, ocm-suites, argocd, gitea, tunnel, access
#
# They go to $BERTH_PEERS, by default ~/.cache/berth-peers/bin. A program that is there in its version is not built again.
# Building all of them takes half an hour on two cores and 12 GB in Go's caches. Needs Go 1.26, and gcc for Gitea. Argo CD's
# module asks for Go 1.27: the go command fetches that toolchain by itself.
set -euo pipefail
export GOTOOLCHAIN=${GOTOOLCHAIN:-auto}

modules=$(cd "$(dirname "$0")" && pwd)/modules
bin=${BERTH_PEERS:-$HOME/.cache/berth-peers/bin}
ocm=open-cluster-management.io/ocm

# MODULE PROGRAM PACKAGE [TAGS]
programs="
etcd        etcd                          go.etcd.io/etcd/server/v3
kubernetes  kube-apiserver                k8s.io/kubernetes/cmd/kube-apiserver
kubernetes  kube-controller-manager       k8s.io/kubernetes/cmd/kube-controller-manager
ocm         ocm/placement                 $ocm/cmd/placement
ocm         ocm/registration              $ocm/cmd/registration
ocm         ocm/work                      $ocm/cmd/work
ocm         ocm/addon                     $ocm/cmd/addon
ocm-suites  ocm-suites/placement.test     $ocm/test/integration/placement
ocm-suites  ocm-suites/registration.test  $ocm/test/integration/registration
ocm-suites  ocm-suites/work.test          $ocm/test/integration/work
ocm-suites  ocm-suites/addon.test         $ocm/test/integration/addon
argocd      argocd                        github.com/argoproj/argo-cd/v3/cmd
tunnel      tunnel/proxy-server           sigs.k8s.io/apiserver-network-proxy/cmd/server
tunnel      tunnel/proxy-agent            sigs.k8s.io/apiserver-network-proxy/cmd/agent
tunnel      tunnel/proxy-test-client      sigs.k8s.io/apiserver-network-proxy/cmd/test-client
access      access/msa                    open-cluster-management.io/managed-serviceaccount/cmd
access      access/cp-creds               open-cluster-management.io/managed-serviceaccount/cmd/clusterprofile-credentials-plugin
gitea       gitea                         code.gitea.io/gitea                            sqlite,sqlite_unlock_notify
"

command -v go >/dev/null || { echo 'build.sh: go is not installed; Go 1.26 is needed' >&2; exit 1; }
for name in "$@"; do
  grep -q "^$name " <<<"$programs" || { echo "build.sh: there is no module $name; see build.sh itself" >&2; exit 1; }
done

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

build() { # MODULE PROGRAM PACKAGE [TAGS]
  local folder=${1%-suites} output=$bin/$2 compile=(go build)
  [ "$folder" = "$1" ] || compile=(go test -c)
  # Go may add lines to these files: it works on a copy.
  cp "$modules/$folder"/go.{mod,sum} "$scratch"
  mkdir -p "$(dirname "$output")"
  (cd "$scratch" && "${compile[@]}" -mod=mod ${4:+-tags "$4"} -o "$output" "$3")
}

# MODULE PROGRAM PACKAGE: whether the program is there, and was built from the version in the module's go.mod
is_there() {
  local required
  [ -x "$bin/$2" ] || return 1
  required=$(awk -v package="$3/" '{ sub(/^require /, "") } $2 ~ /^v/ && index(package, $1 "/") == 1 { print $1, $2 }' "$modules/${1%-suites}/go.mod")
  go version -m "$bin/$2" | awk -v required="$required" '$2 " " $3 == required { found = 1 } END { exit !found }'
}

is_wanted() { [ "${#wanted[@]}" = 0 ] || [[ " ${wanted[*]} " == *" $1 "* ]]; }
wanted=("$@")

while read -r module program package tags; do
  [ -n "$module" ] || continue
  is_wanted "$module" || continue
  if is_there "$module" "$program" "$package"; then
    echo "$program: is there"
  else
    echo "$program: building"
    build "$module" "$program" "$package" "$tags"
  fi
done <<<"$programs"

# The repository server of Argo CD calls this script of its module by name.
script=git-verify-wrapper.sh
if is_wanted argocd && [ ! -x "$bin/$script" ]; then
  cp "$modules"/argocd/go.{mod,sum} "$scratch"
  source=$(cd "$scratch" && go list -mod=mod -m -f '{{.Dir}}' github.com/argoproj/argo-cd/v3)
  install -m 755 "$source/hack/$script" "$bin"
  echo "$script: copied"
fi
