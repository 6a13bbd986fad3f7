{{- define "proviso.labels" -}}
app.kubernetes.io/name: proviso
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "proviso.settings" -}}
{{- range $name, $value := .Values.settings }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}

{{- define "proviso.security" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities: { drop: [ALL] }
{{- end }}
