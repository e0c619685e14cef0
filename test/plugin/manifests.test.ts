import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseTokenFile } from '../../plugin/tokens/token-file.ts';
import { runCli } from '../../src/app/cli/program.ts';
import { parseManifests } from '../../src/adapters/yaml/parse-manifests.ts';
import { makeCliIo } from '../app/cli-harness.ts';

const DIR = join(import.meta.dirname, '../../plugin/manifests');
const read = (file: string) => parseManifests({ file, text: readFileSync(join(DIR, file), 'utf8') });

describe('plugin manifests', () => {
  it.each(readdirSync(DIR))('%s parses without a problem', (file) => {
    const { manifests: objects, problems } = read(file);
    expect(problems).toEqual([]);
    expect(objects.length).toBeGreaterThan(0);
  });

  it('hold the permissions that the controller prints', async () => {
    const { io, stdout } = makeCliIo();
    expect(await runCli(['serve', '--print-rbac'], io)).toBe(0);
    expect(readFileSync(join(DIR, 'controller.yaml'), 'utf8')).toContain(`\n${stdout()}---\n`);
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
