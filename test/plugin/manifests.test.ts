import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { argoConnectionObjects } from '../../plugin/install/argo-connection.ts';
import { parseTokenFile } from '../../plugin/tokens/token-file.ts';
import { ocmCrds } from '@berth/ocm/definition/ocm-crds';
import { parseManifests } from '../../src/adapters/yaml/parse-manifests.ts';

const DIR = join(import.meta.dirname, '../../plugin/manifests');
const ALL = join(DIR, '..');
const CONTROLLER = join(DIR, '../../deploy/kustomize/beside-ocm');
const readAt = (file: string) => parseManifests({ file, text: readFileSync(file, 'utf8') });
const read = (file: string) => readAt(join(DIR, file));

describe('plugin manifests', () => {
  const files = readdirSync(ALL, { recursive: true, encoding: 'utf8' }).filter((file) =>
    file.endsWith('.yaml'),
  );

  it.each(files.filter((file) => !file.endsWith('kustomization.yaml')))(
    '%s parses without a problem',
    (file) => {
      const { manifests: objects, problems } = readAt(join(ALL, file));
      expect(problems).toEqual([]);
      expect(objects.length).toBeGreaterThan(0);
    },
  );

  it('the token reference names the Secret and key that are there', () => {
    const objects = read('argocd.yaml').manifests.map(({ object }) => object);
    const config = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'berth');
    const token = (config?.['data'] as { token: string }).token;
    const [, secretName, key] = /^\$([^:]+):(.+)$/.exec(token) ?? [];
    const secret = objects.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === secretName);
    expect(Object.keys(secret?.['stringData'] as object)).toContain(key);
  });

  it('the tokens of the controller are declared, and none of them is good before it was replaced', () => {
    const objects = readAt(join(CONTROLLER, 'tokens.yaml')).manifests.map(({ object }) => object);
    const secret = objects.find(({ metadata }) => metadata.name === 'berth-tokens');
    const text = (secret?.['stringData'] as Record<string, string>)['tokens.yaml'] ?? '';
    const tokens = parseTokenFile('tokens.yaml', text);
    expect(tokens.map(({ grant, isPlaceholder }) => [grant.name, [...grant.scopes], isPlaceholder])).toEqual([
      ['argocd', ['plugin'], true],
      ['operator', ['api'], true],
    ]);
    expect(tokens[0]?.grant.namespaces).toEqual(new Set(['team-a']));
  });

  it('argocd.yaml holds what berth argocd install writes', () => {
    const objects = argoConnectionObjects({
      namespace: 'argocd',
      name: 'berth',
      baseUrl: 'https://berth.berth-system.svc:8443',
      token: 'REPLACE-WITH-openssl-rand-hex-32',
    });
    expect(read('argocd.yaml').manifests.map(({ object }) => object)).toEqual(objects);
  });

  it('basic-pull has the definition of the report that berth argocd install --report-crd writes', () => {
    const [, report] = ocmCrds(['apps.open-cluster-management.io']);
    const file = join(ALL, 'overlays/basic-pull/report-crd.yaml');
    expect(readAt(file).manifests.map(({ object }) => object)).toEqual([report]);
  });

  it.each(files.filter((file) => file.endsWith('kustomization.yaml')))(
    '%s names files that are there',
    (file) => {
      const { resources } = parse(readFileSync(join(ALL, file), 'utf8')) as {
        readonly resources: readonly string[];
      };
      expect(resources.length).toBeGreaterThan(1);
      for (const resource of resources)
        expect(existsSync(join(ALL, dirname(file), resource)), resource).toBe(true);
    },
  );

  it('what serves, what asks and what is certified are the same address', () => {
    const config = read('argocd.yaml').manifests.map(({ object }) => object)[0];
    const url = new URL((config?.['data'] as { baseUrl: string }).baseUrl);
    const service = readAt(join(CONTROLLER, 'objects.yaml')).manifests.find(
      ({ object }) => object.kind === 'Service',
    )?.object;
    expect(url.protocol).toBe('https:');
    expect(url.hostname).toBe(`${service?.metadata.name}.${service?.metadata.namespace}.svc`);
    expect((service?.['spec'] as { ports: { port: number }[] }).ports[0]?.port).toBe(Number(url.port));
    const certificate = read('certificate.yaml').manifests.at(-1)?.object;
    expect((certificate?.['spec'] as { dnsNames: string[] }).dnsNames).toContain(url.hostname);
  });
});
