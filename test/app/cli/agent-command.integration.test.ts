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
    {
      name: 'an unknown driver of add-ons',
      args: ['--addon-kubeclient-registration-auth', 'grpc'],
      want: 'expected csr or token',
    },
    {
      name: 'too short a life of tokens',
      args: ['--addon-token-expiration-seconds', '599'],
      want: 'a whole number of at least 600',
    },
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
    const roleAndBinding = ['ClusterRole', 'ClusterRoleBinding'];
    expect(objects.map(({ kind }) => kind)).toEqual([
      ...['Namespace', 'ServiceAccount', 'Role', 'RoleBinding'],
      ...['Namespace', 'ServiceAccount'],
      ...Array.from({ length: 4 }, () => roleAndBinding).flat(),
    ]);
    expect(objects[2]?.metadata.namespace).toBe('edge-7');
    expect(stdout()).not.toContain("'*'");
    const rules = stdout().match(/- apiGroups:/g)?.length;
    expect(stdout().match(/^ {2}# /gm)?.length).toBe(rules);
  });

  it.each([
    { flags: ['--print-rbac=hub', '--cluster-name', 'edge-7'], namespaces: ['edge-7'] },
    { flags: ['--print-rbac=managed'], namespaces: ['open-cluster-management-agent'] },
    { flags: ['--print-rbac=managed', '--namespace', 'agents'], namespaces: ['agents'] },
  ])('prints with $flags what belongs to one API server', async ({ flags, namespaces }) => {
    const { io, stdout } = makeCliIo();
    expect(await runCli(['agent', ...flags], io)).toBe(0);
    const objects = loadAll(stdout()) as { kind: string; metadata: { name: string; namespace?: string } }[];
    const named = objects.filter(({ kind }) => kind === 'Namespace').map(({ metadata }) => metadata.name);
    expect(named).toEqual(namespaces);
    const used = objects.flatMap(({ metadata }) => metadata.namespace ?? []);
    expect([...new Set(used)]).toEqual(namespaces);
  });

  it('prints the rights on the kinds that works carry, and those of the executor cache where it is on', async () => {
    const { io, stdout } = makeCliIo();
    const flags = ['--print-rbac=managed', '--executor-cache', '--kind', 'apps/Deployment', '/Service'];
    expect(await runCli(['agent', ...flags], io)).toBe(0);
    const roles = loadAll(stdout()) as { kind: string; metadata: { name: string }; rules?: object[] }[];
    const find = (name: string) =>
      roles.find(({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === name);
    const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete'];
    expect(find('berth-agent-manifests-kinds')?.rules).toEqual([
      { apiGroups: [''], resources: ['services'], verbs },
      { apiGroups: ['apps'], resources: ['deployments'], verbs },
    ]);
    expect(find('berth-agent-manifests-common')).toBeUndefined();
    expect(find('berth-agent-executor-cache')).toBeDefined();
  });

  it.each([
    { flags: ['--print-rbac'], want: '--cluster-name: is missing' },
    { flags: ['--print-rbac=both', '--cluster-name', 'a'], want: 'expected hub or managed' },
    { flags: ['--print-rbac=managed', '--kind', 'Service'], want: 'expected GROUP/KIND' },
    { flags: ['--kind', '/Service'], want: '--kind: has no effect without --print-rbac' },
  ])('refuses $flags', async ({ flags, want }) => {
    const { io, stderr } = makeCliIo();
    expect(await runCli(['agent', ...flags], io)).toBe(1);
    expect(stderr()).toContain(want);
  });
});
