import { describe, expect, it } from 'vitest';
import { ApplicationRenderer } from '../src/application-renderer.ts';
import type { Params } from '../src/params/params.ts';
import { readApplicationSet } from '../src/read-application-set.ts';

const PARAMS: Params = { name: 'c1', server: 'https://c1', region: 'eu' };

interface Given {
  readonly path: string;
  readonly name?: string;
  readonly goTemplate?: boolean;
  readonly more?: Readonly<Record<string, unknown>>;
}

function setOf({ path, name = 'web-{{ .name }}', goTemplate = true, more = {} }: Given) {
  const source = { repoURL: 'https://git.example.com/web.git', path, helm: { valuesObject: { at: [path] } } };
  const template = {
    metadata: { name, labels: { [path]: 'x' } },
    spec: { project: 'default', source, destination: { server: path, namespace: 'web' } },
  };
  const spec = { goTemplate, generators: [], template, ...more };
  return readApplicationSet(
    JSON.parse(JSON.stringify({ metadata: { name: 'set', namespace: 'argocd' }, spec })),
  );
}

function isDelayed(application: object): boolean {
  return Object.getOwnPropertyDescriptor(application, 'spec')?.get !== undefined;
}

describe('an Application whose spec is rendered when it is read', () => {
  it.each<Given & { readonly delayed: boolean; readonly params?: Params }>([
    { path: 'deploy/{{ .region }}', delayed: true },
    { path: 'deploy', delayed: true },
    { path: '', delayed: true },
    { path: 'deploy/{{region}}/{{ unknown }}', name: 'web-{{name}}', goTemplate: false, delayed: true },
    { path: 'deploy/{{ .region | upper }}', delayed: false },
    { path: 'deploy/{{ .unknown }}', delayed: false },
    { path: 'deploy/{{ .region }}', name: '{{ $_ := set . "region" "us" }}web', delayed: false },
    { path: 'deploy/{{ .region }}', params: { ...PARAMS, region: 'x'.repeat(2_000) }, delayed: false },
    { path: 'deploy/{{ .region }}', params: { ...PARAMS, region: 7 }, delayed: false },
    { path: 'deploy', name: 'web', params: {}, delayed: true },
    { path: '{{ .region }}', more: { templatePatch: 'spec: {project: "{{ .name }}"}' }, delayed: false },
    { path: '{{ .region }}', more: { syncPolicy: { preserveResourcesOnDeletion: true } }, delayed: true },
  ])('is the same: $path', ({ delayed, params = PARAMS, ...given }) => {
    const set = setOf(given);
    const application = new ApplicationRenderer(set).renderWhenRead(set.template, { ...params });
    expect(isDelayed(application)).toBe(delayed);
    const whole = new ApplicationRenderer(set).render(set.template, { ...params });
    expect(JSON.stringify(application)).toBe(JSON.stringify(whole));
    expect(application['spec']).toBe(application['spec']);
  });

  it.each([
    { path: '{{ .region.name }}' },
    { path: '{{ .unknown }}', more: { goTemplateOptions: ['missingkey=error'] } },
    { path: '{{ .region }}', more: { goTemplateOptions: ['wrong'] } },
  ])('fails at once where it can fail: $path', (given) => {
    const set = setOf(given);
    const renderer = new ApplicationRenderer(set);
    expect(() => renderer.renderWhenRead(set.template, { ...PARAMS })).toThrow();
  });
});
