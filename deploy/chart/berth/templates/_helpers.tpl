{{/* Names are fixed, not derived from the release: a hub has one Berth, and `berth init` uses the same names. */}}

{{- define "berth.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/name: berth
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- end }}

{{- define "berth.image" -}}
{{ with .Values.image.registry }}{{ . }}/{{ end }}{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- end }}

{{/* Flags from a map: keys in camelCase, false and empty values left out. A YAML list of texts. */}}
{{- define "berth.flags" -}}
{{- $flags := list }}
{{- range $key, $value := . }}
{{- $flag := kebabcase $key }}
{{- if kindIs "slice" $value }}
{{- range $value }}
{{- $flags = append $flags (printf "--%s=%v" $flag .) }}
{{- end }}
{{- else if kindIs "bool" $value }}
{{- if eq $key "leaderElect" }}
{{- $flags = append $flags (printf "--%s=%t" $flag $value) }}
{{- else if $value }}
{{- if not (has $key (list "works" "dryRuns")) }}
{{- $flags = append $flags (printf "--%s" $flag) }}
{{- end }}
{{- else if has $key (list "works" "dryRuns") }}
{{- $flags = append $flags (printf "--no-%s" $flag) }}
{{- end }}
{{- else if not (empty $value) }}
{{- $flags = append $flags (printf "--%s=%v" $flag $value) }}
{{- end }}
{{- end }}
{{- toYaml $flags }}
{{- end }}

{{- define "berth.port" -}}
{{ ternary 8443 8080 (ne .Values.tls.secretName "") }}
{{- end }}

{{- define "berth.scheme" -}}
{{ ternary "HTTPS" "HTTP" (ne .Values.tls.secretName "") }}
{{- end }}

{{/* Whether the hub asks the webhooks of the controllers. The embedded hub has the same rules itself. */}}
{{- define "berth.admission" -}}
{{- if and .Values.controller.enabled .Values.admission.enabled (not .Values.hub.enabled) }}true{{ end }}
{{- end }}

{{/* The arguments of the controllers, as a YAML list. */}}
{{- define "berth.args" -}}
{{- $args := list "serve" "--data=/var/lib/berth" (printf "--listen=0.0.0.0:%s" (include "berth.port" .)) }}
{{- if include "berth.admission" . }}
{{- $args = append $args "--admission-listen=:9443" }}
{{- end }}
{{- with .Values.tls.secretName }}
{{- $args = concat $args (list (printf "--tls-cert=/etc/berth/%s/tls.crt" .) (printf "--tls-key=/etc/berth/%s/tls.key" .)) }}
{{- end }}
{{- with .Values.tokens.secretName }}
{{- $args = append $args (printf "--token-file=/etc/berth/%s/%s" . $.Values.tokens.key) }}
{{- end }}
{{- if .Values.config }}
{{- $args = append $args "--config=/etc/berth/config/berth.yaml" }}
{{- end }}
{{- if .Values.hub.enabled }}
{{- $args = append $args "--kubeconfig=/var/lib/berth-hub/data/admin.kubeconfig" }}
{{- end }}
{{- if and (include "berth.elects" .) (not .Values.serve.leaderElectResourceName) }}
{{- $args = append $args (printf "--leader-elect-resource-name=%s" (include "berth.lease" .)) }}
{{- end }}
{{- /* Where pods replace each other one by one, an old one answers until the Service has forgotten it. */}}
{{- if and (include "berth.elects" .) (not .Values.serve.shutdownDelay) }}
{{- $args = append $args "--shutdown-delay=5s" }}
{{- end }}
{{- toYaml (concat $args (include "berth.flags" .Values.serve | fromYamlArray) .Values.controller.extraArgs) }}
{{- end }}

{{/* The Secrets that are mounted at /etc/berth/NAME, as a YAML list. */}}
{{- define "berth.secrets" -}}
{{- toYaml (concat .Values.controller.secrets (compact (list .Values.tls.secretName .Values.tokens.secretName)) | uniq) }}
{{- end }}

{{/*
A pod of Berth, without rights on its node and with write access only to its folders.
root, part (its values), account, args (YAML list), folders (list of name, path; claim: the volume comes from a claim),
secrets (list of name, secret, path), configMaps (the same with configMap), scheme, port,
beside (containers that start before it and run beside it, YAML list)
*/}}
{{- define "berth.pod" -}}
{{- $root := .root }}
{{- $part := .part -}}
serviceAccountName: {{ .account }}
{{- if .tokenless }}
automountServiceAccountToken: false
{{- end }}
{{- with $root.Values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ . }}
  {{- end }}
{{- end }}
{{- with include "berth.priority" . }}
priorityClassName: {{ . }}
{{- end }}
securityContext:
  {{- toYaml $root.Values.podSecurityContext | nindent 2 }}
{{- with .beside }}
initContainers:
  {{- . | nindent 2 }}
{{- end }}
containers:
  - name: berth
    image: {{ include "berth.image" $root }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    args:
      {{- .args | nindent 6 }}
    {{- with $part.env }}
    env:
      {{- toYaml . | nindent 6 }}
    {{- end }}
    ports:
      - name: http
        containerPort: {{ .port }}
    startupProbe:
      httpGet: {path: /healthz, port: {{ .port }}, scheme: {{ .scheme }}}
      periodSeconds: 1
      failureThreshold: 60
    livenessProbe:
      httpGet: {path: /healthz, port: {{ .port }}, scheme: {{ .scheme }}}
      timeoutSeconds: 5
    readinessProbe:
      httpGet: {path: /readyz, port: {{ .port }}, scheme: {{ .scheme }}}
      # A pod that hangs leaves the Service after three failures.
      periodSeconds: 2
    resources:
      {{- toYaml $part.resources | nindent 6 }}
    securityContext:
      {{- toYaml $root.Values.securityContext | nindent 6 }}
    volumeMounts:
      {{- range .folders }}
      - {name: {{ .name }}, mountPath: {{ .path }}}
      {{- end }}
      {{- range concat .secrets (.configMaps | default list) }}
      - {name: {{ .name }}, mountPath: {{ .path }}, readOnly: true}
      {{- end }}
volumes:
  {{- range .folders }}
  {{- if not .claim }}
  - name: {{ .name }}
    emptyDir: {}
  {{- end }}
  {{- end }}
  {{- range .secrets }}
  - name: {{ .name }}
    secret:
      secretName: {{ .secret }}
      # 0440, in a form that every reader of YAML takes for the same.
      defaultMode: 288
  {{- end }}
  {{- range .configMaps }}
  - name: {{ .name }}
    configMap:
      name: {{ .configMap }}
  {{- end }}
{{- with $part.terminationGracePeriodSeconds }}
terminationGracePeriodSeconds: {{ . }}
{{- end }}
{{- with $part.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $part.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $part.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $part.topologySpreadConstraints }}
topologySpreadConstraints:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- end }}

{{- define "berth.priority" -}}
{{- if .part.priorityClassName }}{{ .part.priorityClassName }}{{ else if .root.Values.priorityClass.create }}{{ .root.Values.priorityClass.name }}{{ end }}
{{- end }}

{{/* Labels and annotations of a pod. root, part, app, checksum */}}
{{- define "berth.podMetadata" -}}
labels:
  app: {{ .app }}
  {{- with .part.podLabels }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- if or .part.podAnnotations .checksum }}
annotations:
  {{- with .checksum }}
  checksum/config: {{ . }}
  {{- end }}
  {{- with .part.podAnnotations }}
  {{- toYaml . | nindent 2 }}
  {{- end }}
{{- end }}
{{- end }}
