import { describe, expect, it } from 'vitest';
import { insertedParameters, MAX_SURE_LENGTH } from '../../src/application-renderer.ts';
import { RawJson } from '../../src/json/go-json-text.ts';

describe('the parameters that a template inserts', () => {
  it.each([
    { text: 'fixed', go: [], fast: [] },
    { text: 'fixed }} as well', go: [], fast: [] },
    { text: 'a-{{ .name }}-{{.server}}', go: ['name', 'server'], fast: [] },
    { text: '{{name}}', go: undefined, fast: [] },
    { text: '{{ .metadata.labels }}', go: undefined, fast: [] },
    { text: '{{- .name -}}', go: undefined, fast: [] },
    { text: '{{ .name | upper }}', go: undefined, fast: [] },
    { text: '{{ if .name }}x{{ end }}', go: undefined, fast: [] },
    { text: '{{ .name', go: undefined, fast: undefined },
    { text: '{{{{ .name }}', go: undefined, fast: undefined },
    { text: `{{ .name }}${'x'.repeat(MAX_SURE_LENGTH)}`, go: undefined, fast: undefined },
  ])('$text', ({ text, go, fast }) => {
    const templates = [
      { spec: { path: text } },
      { spec: [text] },
      { labels: { [text]: 'x' } },
      { raw: new RawJson({ a: [text, null] }) },
    ];
    for (const template of templates) {
      const found = (goTemplate: boolean) => insertedParameters(template, { goTemplate, options: [] });
      expect(found(true)).toEqual(go && new Set(go));
      expect(found(false)).toEqual(fast && new Set(fast));
    }
  });
});
