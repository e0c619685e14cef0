import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
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
});
