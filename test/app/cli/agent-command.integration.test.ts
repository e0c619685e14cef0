import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { makeCliIo } from '../cli-harness.ts';

const REQUIRED = ['--hub-kubeconfig', '/nowhere/hub.kubeconfig', '--cluster-name', 'cluster1'];

describe('berth agent', () => {
  it.each([
    { name: 'a duration without unit', args: ['--status-sync-interval', '10'], want: 'a positive duration' },
    { name: 'no workers', args: ['--workers', '0'], want: 'a whole number of at least 1' },
    { name: 'an unknown drift mode', args: ['--drift', 'never'], want: 'expected watch or resync' },
    { name: 'a missing kubeconfig', args: [], want: 'kubeconfig' },
  ])('refuses $name', async ({ args, want }) => {
    const { io, stderr } = makeCliIo();
    expect(await runCli(['agent', ...REQUIRED, ...args], io)).toBe(1);
    expect(stderr()).toContain(want);
  });

  it.each([
    { name: 'no list', text: 'clusterName: a', want: 'expected array' },
    { name: 'a missing field', text: '- clusterName: a', want: '[0].hubKubeconfig' },
    {
      name: 'an unknown field',
      text: '- {clusterName: a, hubKubeconfig: h, kubeConfig: k}',
      want: 'kubeConfig',
    },
    {
      name: 'one twice',
      text: '- {clusterName: a, hubKubeconfig: h}\n- {clusterName: a, hubKubeconfig: ./h}',
      want: '[1] names a of the same hub as [0]',
    },
    { name: 'broken YAML', text: '- {clusterName: a', want: 'cannot be read' },
  ])('refuses a list of clusters with $name', async ({ text, want }) => {
    const dir = await mkdtemp(join(tmpdir(), 'berth-pairs-'));
    await writeFile(join(dir, 'fleet.yaml'), text);
    const { io, stderr } = makeCliIo();
    expect(await runCli(['agent', '--clusters', join(dir, 'fleet.yaml')], io)).toBe(1);
    expect(stderr()).toContain('fleet.yaml');
    expect(stderr()).toContain(want);
    await rm(dir, { recursive: true });
  });

  it('prints RBAC without wildcards, every rule with a reason', async () => {
    const { io, stdout } = makeCliIo();
    expect(await runCli(['agent', '--print-rbac', '--cluster-name', 'edge-7'], io)).toBe(0);
    const objects = loadAll(stdout()) as { kind: string; metadata: { namespace?: string } }[];
    expect(objects.map(({ kind }) => kind)).toEqual([
      'Role',
      'RoleBinding',
      ...Array.from({ length: 5 }, () => 'ClusterRole'),
      ...Array.from({ length: 4 }, () => 'ClusterRoleBinding'),
    ]);
    expect(objects[0]?.metadata.namespace).toBe('edge-7');
    expect(stdout()).not.toContain("'*'");
    const rules = stdout().match(/- apiGroups:/g)?.length;
    expect(stdout().match(/^ {2}# /gm)?.length).toBe(rules);
  });
});
