import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { kubeconfigText } from '../../../packages/kube/test/scripted-server.ts';
import { makeCliIo } from '../cli-harness.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'berth-kubeconfig-commands-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
const hubKubeconfig = path.join(folder, 'hub');
writeFileSync(hubKubeconfig, kubeconfigText('https://hub.example:6443'));
writeFileSync(
  path.join(folder, 'manifest.yaml'),
  'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: web, namespace: web}\n',
);
const list = ['gone', 'none'].map((name) => path.join(folder, name)).join(path.delimiter);

describe('every command that talks to a cluster reads KUBECONFIG as a list of files', () => {
  it.each([
    ['get works'],
    ['describe work web'],
    ['create work web --clusters c1 -f manifest.yaml'],
    ['explain team/web --hub'],
    ['plan --base HEAD --hub'],
    ['history team/web --hub'],
    ['replay 1c0ffee5c0ffee55 --hub'],
    [`serve --repo ${folder} --data ${folder}/data`],
    [`agent --hub-kubeconfig ${hubKubeconfig} --cluster-name c1`],
  ])('%s', async (command) => {
    const { io, stderr } = makeCliIo({ cwd: folder, env: { KUBECONFIG: list, HOME: folder } });
    expect(await runCli(command.split(' '), io)).not.toBe(0);
    expect(stderr()).toContain(`KUBECONFIG names no file with a cluster (got ${JSON.stringify(list)})`);
  });
});
