import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { argoConnectionObjects } from '../../plugin/install/argo-connection.ts';
import { parseTokenFile } from '../../plugin/tokens/token-file.ts';
import { ocmCrds } from '@berth/ocm/definition/ocm-crds';
import { deploymentOf } from '../../src/core/registration/install/deployment.ts';
import { runCli } from '../../src/app/cli/program.ts';
import { parseManifests } from '../../src/adapters/yaml/parse-manifests.ts';
import { makeCliIo } from '../app/cli-harness.ts';

const DIR = join(import.meta.dirname, '../../plugin/manifests');
const ALL = join(DIR, '..');
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

  it('hold the permissions that the controller prints', async () => {
    const { io, stdout } = makeCliIo();
    expect(await runCli(['serve', '--print-rbac'], io)).toBe(0);
    expect(readFileSync(join(DIR, 'controller.yaml'), 'utf8')).toContain(`\n${stdout()}---\n`);
  });

  it('its pod is as secure as that of berth init, and is probed the same way', () => {
    const deployment = read('controller.yaml').manifests.find(({ object }) => object.kind === 'Deployment');
    const { template } = deployment?.object['spec'] as { template: { spec: Record<string, unknown> } };
    const [container] = template.spec['containers'] as Record<string, unknown>[];
    const expected = deploymentOf({
      ...{ namespace: 'berth-system', name: 'berth', account: 'berth', image: 'berth', args: [] },
      ...{ secrets: [], folders: [], requests: { cpu: '50m', memory: '256Mi' } },
      probes: { port: 8443, scheme: 'HTTPS' },
    });
    const { spec } = (expected['spec'] as { template: { spec: Record<string, unknown> } }).template;
    const [wanted] = spec['containers'] as Record<string, unknown>[];
    expect(template.spec['securityContext']).toEqual(spec['securityContext']);
    const same = ['securityContext', 'resources', 'startupProbe', 'livenessProbe', 'readinessProbe'];
    for (const field of [...same, 'imagePullPolicy'])
      expect(container?.[field], field).toEqual(wanted?.[field]);
  });

  it('the token reference names the Secret and key that are there', () => {
    const objects = read('argocd.yaml').manifests.map(({ object }) => object);
    const config = objects.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'berth');
    const token = (config?.['data'] as { token: string }).token;
    const [, secretName, key] = /^\$([^:]+):(.+)$/.exec(token) ?? [];
    const secret = objects.find(({ kind, metadata }) => kind === 'Secret' && metadata.name === secretName);
    expect(Object.keys(secret?.['stringData'] as object)).toContain(key);
  });

  it('the tokens of the controller are declared, and none of them is good before it was replaced', () => {
    const objects = read('controller.yaml').manifests.map(({ object }) => object);
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
    const service = read('controller.yaml').manifests.find(({ object }) => object.kind === 'Service')?.object;
    expect(url.protocol).toBe('https:');
    expect(url.hostname).toBe(`${service?.metadata.name}.${service?.metadata.namespace}.svc`);
    expect((service?.['spec'] as { ports: { port: number }[] }).ports[0]?.port).toBe(Number(url.port));
    const certificate = read('certificate.yaml').manifests.at(-1)?.object;
    expect((certificate?.['spec'] as { dnsNames: string[] }).dnsNames).toContain(url.hostname);
  });
});
