import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runCli } from '../../../src/app/cli/program.ts';
import { makeCliIo } from '../cli-harness.ts';

const GUESTBOOK = 'examples/guestbook-fleet';

async function berth(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const { io, stdout, stderr } = makeCliIo({ env: process.env });
  const code = await runCli(args, io);
  return { code, out: stdout(), err: stderr() };
}

describe('berth explain', () => {
  it('explains a placement from a folder', async () => {
    const { code, out } = await berth('explain', 'guestbook/frontend', '--from', GUESTBOOK);
    expect(code).toBe(0);
    expect(out.split('\n')[0]).toMatch(/^Placement guestbook\/frontend: 1 of 3 clusters selected; /);
    expect(out).toContain('All cluster decisions scheduled');
    expect(out).toMatch(/cluster1\s+\d+\s+Balance/);
  });

  it('says first that no cluster is known where only a hub knows them', async () => {
    const { code, out } = await berth(
      'explain',
      'guestbook/frontend',
      '--from',
      `${GUESTBOOK}/team-guestbook`,
    );
    expect(code).toBe(0);
    expect(out.split('\n')[0]).toBe('No cluster is known. Clusters that are not in Git need --hub.');
  });

  it('explains a refused cluster and what would select it', async () => {
    const { code, out } = await berth(
      'explain',
      'guestbook/frontend',
      '--from',
      GUESTBOOK,
      '--cluster',
      'cluster3',
    );
    expect(code).toBe(0);
    expect(out).toContain('Placement guestbook/frontend on cluster cluster3: not selected');
    expect(out).toContain('What would select it');
  });

  it('prints the same as JSON and YAML', async () => {
    const args = ['explain', 'guestbook/frontend', '--from', GUESTBOOK, '--cluster', 'cluster1', '-o'];
    const json: unknown = JSON.parse((await berth(...args, 'json')).out);
    expect(json).toMatchObject({
      placement: { namespace: 'guestbook', name: 'frontend' },
      cluster: 'cluster1',
      selected: true,
      verdict: { kind: 'selected', score: { rank: 1 } },
    });
    expect((await berth(...args, 'yaml')).out).toContain('kind: selected');
  });

  it.each([
    [['frontend'], 'error: "frontend": expected NAMESPACE/NAME'],
    [['guestbook/frontent', '--from', GUESTBOOK], 'hint: did you mean guestbook/frontend?'],
    [['guestbook/frontend', '--from', 'no/such/folder'], 'expected a folder or file'],
    [['a/b', '--cluster', 'c', '--since', 'main'], '--since: applies to a whole placement'],
    [['a/b', '--hub', '--ref', 'main'], '--ref: a hub has no revisions and no cases'],
    [['a/b', '--case', 'x.jsonl', '--since', 'main'], '--since: a recorded case has no revisions'],
    [['a/b', '--case-name', 'x'], '--case-name: needs --case FILE'],
    [['a/b', '--case', 'no-such-file.jsonl'], 'error: no-such-file.jsonl: cannot be read'],
  ])('%j is a clear error', async (args, message) => {
    const { code, err } = await berth('explain', ...args);
    expect(code).toBe(1);
    expect(err).toContain(message);
  });

  it('answers for a name that no cluster has', async () => {
    const { code, out } = await berth(
      'explain',
      'guestbook/frontend',
      '--from',
      GUESTBOOK,
      '--cluster',
      '__proto__',
    );
    expect(code).toBe(0);
    expect(out).toContain('there is no ManagedCluster of this name');
  });
});

describe('berth explain on a repository', () => {
  let folder = '';
  const git = (...args: string[]): void => {
    const environment = { ...process.env, GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' };
    const identity = ['-c', 'user.name=t', '-c', 'user.email=t@example.com'];
    execFileSync('git', [...identity, ...args], { cwd: folder, env: environment, stdio: 'pipe' });
  };
  const cluster = (name: string, tier: string, taints = ''): string =>
    `apiVersion: cluster.open-cluster-management.io/v1
kind: ManagedCluster
metadata:
  name: ${name}
  labels: {cluster.open-cluster-management.io/clusterset: prod, tier: ${tier}}
spec:
  hubAcceptsClient: true${taints}
---
`;
  const RULES = `apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSet
metadata: {name: prod}
---
apiVersion: cluster.open-cluster-management.io/v1beta2
kind: ManagedClusterSetBinding
metadata: {name: prod, namespace: team}
spec: {clusterSet: prod}
---
apiVersion: cluster.open-cluster-management.io/v1beta1
kind: Placement
metadata: {name: web, namespace: team}
spec:
  numberOfClusters: 2
  predicates:
    - requiredClusterSelector: {labelSelector: {matchLabels: {tier: gold}}}
`;

  beforeAll(() => {
    folder = mkdtempSync(path.join(os.tmpdir(), 'berth-explain-'));
    git('init', '-q', '-b', 'main');
    writeFileSync(path.join(folder, 'rules.yaml'), RULES);
    writeFileSync(
      path.join(folder, 'a.yaml'),
      cluster('a', 'gold') + cluster('b', 'gold') + cluster('c', 'gold'),
    );
    git('add', '.');
    git('commit', '-qm', 'first');
    const taint = '\n  taints: [{key: maintenance, effect: NoSelect}]';
    writeFileSync(
      path.join(folder, 'a.yaml'),
      cluster('a', 'gold') + cluster('b', 'gold', taint) + cluster('c', 'gold'),
    );
    git('commit', '-qam', 'taint b');
  });

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('reads a revision, not the files', async () => {
    const { out } = await berth('explain', 'team/web', '--from', folder, '--ref', 'main~1', '-o', 'json');
    const explanation = JSON.parse(out) as { selected: { cluster: string }[] };
    expect(explanation.selected.map(({ cluster: name }) => name)).toEqual(['a', 'b']);
  });

  it('says what changed since a revision and which object caused it', async () => {
    const { code, out } = await berth(
      'explain',
      'team/web',
      '--from',
      folder,
      '--ref',
      'main',
      '--since',
      'main~1',
    );
    expect(code).toBe(0);
    expect(out).toContain('Since the last decision:');
    expect(out).toMatch(/\+ c: rank 2 of 2 with \d+ points; changed: ManagedCluster b/);
    expect(out).toContain('- b: tainted maintenance; changed: ManagedCluster b');
  });

  it('reports a revision that does not exist', async () => {
    const { code, err } = await berth('explain', 'team/web', '--from', folder, '--ref', 'nope');
    expect(code).toBe(1);
    expect(err).toContain('nope');
  });
});
