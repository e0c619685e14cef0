{{/* What the flags turn on, as far as rights depend on it: a JSON object whose keys are on. */}}
{{- define "berth.rights" -}}
{{- $serve := .Values.serve }}
{{- $on := dict }}
{{- range list "registration" "addons" }}
{{- $prefix := . }}
{{- $all := ternary (list "acceptance" "approval" "health" "taints" "sets" "cleanup") (list "install" "configuration" "deployment" "registration" "health") (eq . "registration") }}
{{- $given := index $serve . | default list }}
{{- range ternary $all $given (has "all" $given) }}
{{- $_ := set $on (printf "%s-%s" $prefix .) true }}
{{- $_ := set $on $prefix true }}
{{- end }}
{{- end }}
{{- if include "berth.applies" . }}{{ $_ := set $on "applies" true }}{{ end }}
{{- if ne ($serve.schedule | default "berth") "upstream" }}{{ $_ := set $on "decides" true }}{{ end }}
{{- if include "berth.works" . }}{{ $_ := set $on "works" true }}{{ end }}
{{- if include "berth.admission" . }}{{ $_ := set $on "admission" true }}{{ end }}
{{- if or $serve.argocdRefresh $serve.argocdWaves }}{{ $_ := set $on "argocd-refresh" true }}{{ end }}
{{- if $serve.multiclusterDecisions }}{{ $_ := set $on "multicluster-decisions" true }}{{ end }}
{{- if $serve.argocdWaves }}{{ $_ := set $on "argocd-waves" true }}{{ end }}
{{- if $serve.argocdClusterSecrets }}{{ $_ := set $on "argocd-clusters" true }}{{ end }}
{{- if $serve.argocdPull }}{{ $_ := set $on "argocd-pull" true }}{{ end }}
{{- if $serve.argocdExtension }}{{ $_ := set $on "argocd-extension" true }}{{ end }}
{{- if include "berth.elects" . }}{{ $_ := set $on "elects" true }}{{ end }}
{{- if and (hasKey $on "elects") (hasKey $on "decides") }}{{ $_ := set $on "hands-over" true }}{{ end }}
{{- if $serve.shareWorks }}{{ $_ := set $on "shares-works" true }}{{ end }}
{{- if include "berth.writes" . }}{{ $_ := set $on "announces" true }}{{ end }}
{{- $_ := set $on "listens" true }}
{{- if hasKey $on "applies" }}
{{- $kinds := include "berth.kinds" . | fromJsonArray }}
{{- if $kinds }}{{ $_ := set $on "listed-kinds" true }}{{ end }}
{{- range $kinds }}
{{- if eq .resource "clustermanagementaddons" }}{{ $_ := set $on "listed-addons" true }}{{ end }}
{{- end }}
{{- end }}
{{- toJson $on }}
{{- end }}

{{- define "berth.applies" -}}
{{- $sync := .Values.serve.sync | default "apply" }}
{{- if .Values.config }}
{{- range .Values.config.sources }}
{{- if eq (.sync | default $sync) "apply" }}true{{ end }}
{{- end }}
{{- else if and (eq $sync "apply") (or .Values.serve.repo (not (or .Values.serve.registration .Values.serve.addons))) }}true{{ end }}
{{- end }}

{{- define "berth.works" -}}
{{- if or (not (hasKey .Values.serve "works")) .Values.serve.works }}true{{ end }}
{{- end }}

{{/* Whether the controllers write to the hub at all. */}}
{{- define "berth.writes" -}}
{{- $serve := .Values.serve }}
{{- if or (include "berth.applies" .) (include "berth.works" .) (include "berth.admission" .) $serve.multiclusterDecisions $serve.registration $serve.addons $serve.argocdRefresh $serve.argocdWaves $serve.argocdClusterSecrets $serve.argocdPull (ne ($serve.schedule | default "berth") "upstream") }}true{{ end }}
{{- end }}

{{/* Whether one of the replicas leads. */}}
{{- define "berth.elects" -}}
{{- if hasKey .Values.serve "leaderElect" }}
{{- if .Values.serve.leaderElect }}true{{ end }}
{{- else if and (not .Values.serve.embedded) (include "berth.writes" .) }}true{{ end }}
{{- end }}

{{- define "berth.lease" -}}
{{ .Values.serve.leaderElectResourceName | default "berth-fleet" }}
{{- end }}

{{/* The kinds that sources list: a JSON array of objects with group and resource. */}}
{{- define "berth.kinds" -}}
{{- $known := .Files.Get "files/kinds.json" | fromJson }}
{{- $sync := .Values.serve.sync | default "apply" }}
{{- $entries := .Values.serve.kind | default list }}
{{- if .Values.config }}
{{- $entries = list }}
{{- range .Values.config.sources }}
{{- if eq (.sync | default $sync) "apply" }}
{{- $entries = concat $entries (.kinds | default list) }}
{{- end }}
{{- end }}
{{- end }}
{{- $kinds := list }}
{{- range $entry := $entries | uniq }}
{{- $group := first (splitList "/" $entry) }}
{{- $kind := last (splitList "/" $entry) }}
{{- if eq $kind "*" }}
{{- range $name, $resource := $known }}
{{- if and (ne $entry "*") (hasPrefix (printf "%s/" $group) $name) }}
{{- $kinds = append $kinds (dict "group" $group "resource" $resource) }}
{{- end }}
{{- end }}
{{- else if hasKey $known $entry }}
{{- $kinds = append $kinds (dict "group" $group "resource" (index $known $entry)) }}
{{- else }}
{{- $name := lower $kind }}
{{- $guess := printf "%ss" $name }}
{{- if hasSuffix "s" $name }}{{ $guess = printf "%ses" $name }}{{ else if hasSuffix "y" $name }}{{ $guess = printf "%sies" (trimSuffix "y" $name) }}{{ end }}
{{- $kinds = append $kinds (dict "group" $group "resource" $guess) }}
{{- end }}
{{- end }}
{{- toJson $kinds }}
{{- end }}

{{/* Whether pull requests of a source are planned. */}}
{{- define "berth.previews" -}}
{{- range .Values.config.sources }}{{ if .preview }}true{{ end }}{{ end }}
{{- end }}

{{/* The Secrets with the credentials of sources: a JSON object of names by namespace. */}}
{{- define "berth.credentials" -}}
{{- $secrets := dict }}
{{- range $source := .Values.config.sources }}
{{- range list $source.credentials ($source.commitStatus | default dict).credentials ($source.preview | default dict).credentials }}
{{- with (. | default dict).secretRef }}
{{- $namespace := .namespace | default "berth-system" }}
{{- $_ := set $secrets $namespace (append (index $secrets $namespace | default list) .name | uniq) }}
{{- end }}
{{- end }}
{{- end }}
{{- toJson $secrets }}
{{- end }}
