import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { makeCliIo } from '../cli-harness.ts';
import type { RbacObject } from '../../fakes/rbac-rules.ts';

async function print(...flags: string[]): Promise<{ code: number; text: string; stderr: string }> {
  const { io, stdout, stderr } = makeCliIo();
  const code = await runCli(['serve', '--print-rbac', ...flags], io);
  return { code, text: stdout(), stderr: stderr() };
}

function roles(text: string): readonly string[] {
  return (loadAll(text) as RbacObject[])
    .filter(({ kind }) => kind.endsWith('Role'))
    .map(({ kind, metadata }) => `${kind} ${metadata.name}`);
}

const SOURCES = ['ClusterRole berth-sources', 'ClusterRole berth-sources-ocm'];

describe('berth serve --print-rbac', () => {
  it.each([
    {
      name: 'everything',
      flags: [],
      want: [
        'ClusterRole berth',
        'Role berth-leader-election',
        'Role berth-announcement',
        'ClusterRole berth-owner-references',
        'ClusterRole berth-executors',
        'Role berth',
        ...SOURCES,
        'ClusterRole berth-release',
        'Role berth-release',
      ],
    },
    {
      name: 'what clusters lose with an add-on that leaves Git',
      flags: [
        ...['--schedule', 'upstream', '--no-works'],
        ...['--kind', 'addon.open-cluster-management.io/ClusterManagementAddOn'],
      ],
      want: [
        'ClusterRole berth',
        'Role berth-leader-election',
        'Role berth-announcement',
        'ClusterRole berth-executors',
        'Role berth',
        ...SOURCES,
        'ClusterRole berth-sources-addons',
        'ClusterRole berth-sources-kinds',
        'Role berth-release',
      ],
    },
    {
      name: 'Git only',
      flags: ['--schedule', 'upstream', '--no-works'],
      want: [
        'ClusterRole berth',
        'Role berth-leader-election',
        'Role berth-announcement',
        'ClusterRole berth-executors',
        'Role berth',
        ...SOURCES,
        'Role berth-release',
      ],
    },
    {
      name: 'admission of a hub only',
      flags: [
        ...['--sync', 'observe', '--schedule', 'upstream', '--no-works'],
        ...['--admission-listen', ':9443'],
      ],
      want: [
        'ClusterRole berth',
        'Role berth-leader-election',
        'Role berth-announcement',
        'ClusterRole berth-admission',
        'Role berth-admission',
      ],
    },
    {
      name: 'pulled Applications only',
      flags: ['--sync', 'observe', '--schedule', 'upstream', '--no-works', '--argocd-pull'],
      want: [
        'ClusterRole berth',
        'Role berth-leader-election',
        'Role berth-announcement',
        'ClusterRole berth-executors',
        'Role berth-pull',
        'ClusterRole berth-argocd',
        'ClusterRole berth-release-pulled',
      ],
    },
    {
      name: 'clusters that join, without Git',
      flags: ['--embedded', '--registration', 'all'],
      want: [
        'ClusterRole berth',
        'Role berth-announcement',
        'ClusterRole berth-owner-references',
        'ClusterRole berth-executors',
        'ClusterRole berth-registration',
        'ClusterRole berth-release',
      ],
    },
    {
      name: 'add-ons alone',
      flags: ['--embedded', '--addons', 'all'],
      want: [
        'ClusterRole berth',
        'Role berth-announcement',
        'ClusterRole berth-owner-references',
        'ClusterRole berth-executors',
        'ClusterRole berth-addons',
        'ClusterRole berth-release',
        'ClusterRole berth-release-addons',
      ],
    },
    {
      name: 'nothing but looking',
      flags: ['--sync', 'observe', '--schedule', 'upstream', '--no-works'],
      want: ['ClusterRole berth'],
    },
    {
      name: 'Argo CD beside others',
      flags: [
        '--sync',
        'observe',
        '--schedule',
        'upstream',
        '--no-works',
        '--argocd-refresh',
        '--argocd-cluster-secrets',
      ],
      want: [
        'ClusterRole berth',
        'Role berth-leader-election',
        'Role berth-announcement',
        'ClusterRole berth-argocd',
        'Role berth-argocd',
        'ClusterRole berth-argocd-credentials',
      ],
    },
  ])('prints roles for $name, without wildcards, every rule with a reason', async ({ flags, want }) => {
    const { code, text } = await print(...flags);
    expect(code).toBe(0);
    expect(roles(text)).toEqual(want);
    expect(text).not.toContain("'*'");
    expect(text.match(/^ {2}# /gm)?.length).toBe(text.match(/- apiGroups:/g)?.length);
  });

  it('adds what the dashboard needs where it is served', async () => {
    const { text } = await print('--listen', '127.0.0.1:8080', '--token-file', 'tokens');
    expect(roles(text)).toContain('ClusterRole berth-dashboard');
  });

  it('names the Secrets of a settings file, and grants applying when one source is applied', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'berth-rbac-'));
    const file = join(dir, 'sources.yaml');
    const source = (name: string, sync: string, secret: object) =>
      JSON.stringify({
        name,
        url: 'https://git.example.org/a.git',
        sync,
        credentials: { secretRef: secret },
      });
    const last = source('c', 'observe', { name: 'b', namespace: 'ops' });
    const first = [source('a', 'observe', { name: 'b' }), source('b', 'observe', { name: 'a' })];
    writeFileSync(file, `sources: [${[...first, last].join(', ')}]`);
    const { code, text } = await print('--config', file);
    expect(code).toBe(0);
    expect(roles(text)).not.toContain('Role berth');
    const credentials = (loadAll(text) as RbacObject[]).filter(
      ({ kind, metadata }) => kind === 'Role' && metadata.name === 'berth-credentials',
    );
    const granted = credentials.map(({ metadata, rules }) => [metadata.namespace, rules]);
    const rule = (...resourceNames: string[]) => [
      { apiGroups: [''], resources: ['secrets'], resourceNames, verbs: ['get'] },
    ];
    expect(granted).toEqual([
      ['berth-system', rule('a', 'b')],
      ['ops', rule('b')],
    ]);
    writeFileSync(file, `sources: [${first.join(', ')}, ${last.replace('observe', 'apply')}]`);
    expect(roles((await print('--config', file)).text)).toContain('Role berth');
    rmSync(dir, { recursive: true });
  });

  it('prints the verbs of applying for exactly the kinds that are listed', async () => {
    const flags = [
      '--kind',
      'apps/Deployment',
      '/ConfigMap',
      '/Endpoints',
      'example.org/Policy',
      'batch/*',
      '*',
    ];
    const { code, text } = await print(...flags);
    expect(code).toBe(0);
    const role = (loadAll(text) as RbacObject[]).find(
      ({ kind, metadata }) => kind === 'ClusterRole' && metadata.name === 'berth-sources-kinds',
    );
    const verbs = ['list', 'create', 'patch', 'delete'];
    expect(role?.rules).toEqual([
      { apiGroups: [''], resources: ['configmaps', 'endpoints'], verbs },
      { apiGroups: ['apps'], resources: ['deployments'], verbs },
      { apiGroups: ['batch'], resources: ['cronjobs', 'jobs'], verbs },
      { apiGroups: ['example.org'], resources: ['policies'], verbs },
    ]);
    expect(text.match(/derived from the kinds/g)).toHaveLength(1);
    expect(text).toContain('# No rights are printed for "*", which names no kinds');
  });

  it.each([
    { name: '', preview: undefined, verbs: ['list', 'create', 'patch', 'delete'] },
    {
      name: ', with a watch for plans of pull requests',
      preview: { provider: 'gitea' },
      verbs: ['list', 'watch', 'create', 'patch', 'delete'],
    },
  ])(
    'prints the kinds of the sources that Berth applies, and of no others$name',
    async ({ preview, verbs }) => {
      const dir = mkdtempSync(join(tmpdir(), 'berth-rbac-'));
      const file = join(dir, 'sources.yaml');
      const source = (name: string, sync: string, kind: string) => ({
        name,
        url: 'https://git.example.org/a.git',
        ref: { branch: 'main' },
        sync,
        kinds: [kind],
      });
      const sources = [{ ...source('a', 'apply', '/ConfigMap'), preview }, source('b', 'observe', '/Secret')];
      writeFileSync(file, JSON.stringify({ sources }));
      const { text } = await print('--config', file);
      rmSync(dir, { recursive: true });
      const list = verbs.map((verb) => `'${verb}'`).join(', ');
      expect(text).toContain(`resources: ['configmaps']\n    verbs: [${list}]`);
      expect(text).not.toContain("'secrets'");
    },
  );

  it('begins with the namespace and the service account that everything is bound to', async () => {
    const documents = loadAll((await print()).text) as RbacObject[];
    expect(documents.slice(0, 2)).toEqual([
      { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'berth-system' } },
      { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'berth', namespace: 'berth-system' } },
    ]);
    const bound = documents
      .filter(({ kind }) => kind.endsWith('Binding'))
      .map(({ metadata }) => metadata.name);
    const roles = documents.filter(({ kind }) => kind.endsWith('Role')).map(({ metadata }) => metadata.name);
    expect(bound).toEqual(roles.filter((name) => name !== 'berth-release'));
  });

  it.each([
    { name: 'one source without a name', flags: [], want: 'berth-fleet' },
    { name: 'one with a name', flags: ['--repo', 'apps=/srv/apps'], want: 'berth-apps' },
    {
      name: 'several, whatever their order',
      flags: ['--repo', 'b=/srv/b', '--repo', 'a=/srv/a'],
      want: 'berth-a.b',
    },
    { name: 'a name of its own', flags: ['--leader-elect-resource-name', 'mine'], want: 'mine' },
    { name: 'a hub that is Berth’s alone', flags: ['--embedded'], want: undefined },
    { name: 'that, if told so', flags: ['--embedded', '--leader-elect'], want: 'berth-fleet' },
    { name: 'nobody to be elected', flags: ['--leader-elect=false'], want: undefined },
    {
      name: 'nothing to be written',
      flags: ['--sync', 'observe', '--schedule', 'upstream', '--no-works'],
      want: undefined,
    },
  ])('grants the Lease, and the ConfigMap for the next leader, for $name', async ({ flags, want }) => {
    const { text } = await print(...flags);
    const role = (loadAll(text) as RbacObject[]).find(
      ({ kind, metadata }) => kind === 'Role' && metadata.name === 'berth-leader-election',
    );
    expect(role?.rules).toEqual(
      want && [
        { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['create'] },
        {
          apiGroups: ['coordination.k8s.io'],
          resources: ['leases'],
          resourceNames: [want],
          verbs: ['get', 'patch'],
        },
        {
          apiGroups: [''],
          resources: ['configmaps'],
          resourceNames: [`${want}-moves`],
          verbs: ['get', 'patch'],
        },
      ],
    );
  });

  it.each([
    {
      name: 'a choice that is none',
      flags: ['--leader-elect=perhaps'],
      want: 'got "perhaps", expected true or false',
    },
    {
      name: 'a name that no Lease can have',
      flags: ['--leader-elect-resource-name', 'A_b'],
      want: 'expected a DNS subdomain',
    },
    {
      name: 'a deadline beyond the lease',
      flags: ['--leader-elect-renew-deadline', '15s'],
      want: 'renew deadline: got 15000 ms, expected less than the lease duration (15000 ms)',
    },
    { name: 'an unknown mode', flags: ['--sync', 'push'], want: 'apply or observe' },
    { name: 'an unknown scheduler', flags: ['--schedule', 'mine'], want: 'berth or upstream' },
    {
      name: 'a settings file that is not there',
      flags: ['--config', '/nowhere.yaml'],
      want: '/nowhere.yaml',
    },
  ])('refuses $name', async ({ flags, want }) => {
    const { code, stderr } = await print(...flags);
    expect(code).toBe(1);
    expect(stderr).toContain(want);
  });
});
